"""Dense linear algebra, and layers of networks, which work alike."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32

from .program import Program, blocks, program, stepping


@program
def lu_blocked(small: bool) -> Program:
    """LU factorisation in place, by blocks of 16: the block on the diagonal, its row and column, the rest; three sizes of groups."""
    p = Program("""
#define B 16

__kernel void factor_diagonal(__global float *m, int n, int at)
{
    __local float block[B][B];
    int tx = get_local_id(0);
    for (int i = 0; i < B; i++)
        block[i][tx] = m[(at + i) * n + at + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < B - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++)
                block[tx][i] -= block[tx][j] * block[j][i];
            block[tx][i] /= block[i][i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tx > i)
            for (int j = 0; j < i + 1; j++)
                block[i + 1][tx] -= block[i + 1][j] * block[j][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 1; i < B; i++)
        m[(at + i) * n + at + tx] = block[i][tx];
}

/* The first half of a group works on a block of the row, the second on one of the column. */
__kernel void factor_rim(__global float *m, int n, int at)
{
    __local float diagonal[B][B], row[B][B], column[B][B];
    int lane = get_local_id(0) % B;
    int next = at + (get_group_id(0) + 1) * B;
    if (get_local_id(0) < B) {
        for (int i = 0; i < B; i++) {
            diagonal[i][lane] = m[(at + i) * n + at + lane];
            row[i][lane] = m[(at + i) * n + next + lane];
        }
    } else {
        for (int i = 0; i < B; i++)
            column[i][lane] = m[(next + i) * n + at + lane];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < B) {
        for (int i = 1; i < B; i++)
            for (int j = 0; j < i; j++)
                row[i][lane] -= diagonal[i][j] * row[j][lane];
    } else {
        for (int i = 0; i < B; i++) {
            for (int j = 0; j < i; j++)
                column[lane][i] -= column[lane][j] * diagonal[j][i];
            column[lane][i] /= diagonal[i][i];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < B) {
        for (int i = 1; i < B; i++)
            m[(at + i) * n + next + lane] = row[i][lane];
    } else {
        for (int i = 0; i < B; i++)
            m[(next + i) * n + at + lane] = column[i][lane];
    }
}

__kernel void update_rest(__global float *m, int n, int at)
{
    __local float row[B][B], column[B][B];
    int tx = get_local_id(0), ty = get_local_id(1);
    int x = at + (get_group_id(0) + 1) * B + tx;
    int y = at + (get_group_id(1) + 1) * B + ty;
    row[ty][tx] = m[(at + ty) * n + x];
    column[ty][tx] = m[y * n + at + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int i = 0; i < B; i++)
        sum += column[ty][i] * row[i][tx];
    m[y * n + x] -= sum;
}
""")
    n = 64 if small else 768
    matrix = (np.random.default_rng(11).random((n, n)) + n * np.eye(n)).astype(f32)
    p.array("m", matrix)
    for at in range(0, n, 16):
        p.wave("factor_diagonal", 16, 16, "m", i32(n), i32(at))
        if rest := (n - at) // 16 - 1:
            p.wave("factor_rim", rest * 32, 32, "m", i32(n), i32(at))
            p.wave("update_rest", (rest * 16, rest * 16), (16, 16), "m", i32(n), i32(at))

    def oracle() -> np.ndarray:
        a = matrix.astype(np.float64)
        for k in range(n - 1):
            a[k + 1:, k] /= a[k, k]
            a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
        return a
    p.expect("m", oracle, 1e-5)
    return p


@program
def gaussian(small: bool) -> Program:
    """Gaussian elimination: multipliers of a column, then the whole range again for each column, guarded."""
    p = Program("""
__kernel void multipliers(__global float *m, __global const float *a, int size, int t)
{
    int i = get_global_id(0);
    if (i < size - 1 - t)
        m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

__kernel void eliminate(__global const float *m, __global float *a, __global float *b, int size, int t)
{
    int y = get_global_id(0);
    int x = get_global_id(1);
    if (x < size - 1 - t && y < size - t) {
        a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
        if (y == 0)
            b[x + 1 + t] -= m[size * (x + 1 + t) + t] * b[t];
    }
}
""")
    n = 48 if small else 384
    random = np.random.default_rng(12)
    matrix = (random.random((n, n)) + n * np.eye(n)).astype(f32)
    right = random.random(n, f32)
    p.array("a", matrix)
    p.array("b", right)
    p.room("m", "f32", n * n, 0)
    t = stepping(i32(0), add=1)
    p.wave("multipliers", blocks(n, 64) * 64, 64, "m", "a", i32(n), t)
    p.wave("eliminate", (blocks(n, 16) * 16,) * 2, (16, 16), "m", "a", "b", i32(n), t)
    p.repeat(n - 1)

    def oracle() -> np.ndarray:
        a, b = matrix.astype(np.float64), right.astype(np.float64)
        for k in range(n - 1):
            factor = a[k + 1:, k] / a[k, k]
            b[k + 1:] -= factor * b[k]
            a[k + 1:] -= np.outer(factor, a[k])
        return b
    p.expect("b", oracle, 1e-4)
    return p


@program
def correlation(small: bool) -> Program:
    """Correlations of columns: the last kernel has few work-items, each with long loops."""
    p = Program("""
typedef float DATA_TYPE;
#define EPS 0.005f

__kernel void column_mean(__global DATA_TYPE *mean, __global const DATA_TYPE *data, int m, int n) {
    int j = get_global_id(0);
    if (j < m) {
        mean[j] = 0.0f;
        for (int i = 0; i < n; i++) mean[j] += data[i * m + j];
        mean[j] /= (DATA_TYPE)n;
    }
}

__kernel void column_deviation(__global const DATA_TYPE *mean, __global DATA_TYPE *dev, __global const DATA_TYPE *data, int m,
                               int n) {
    int j = get_global_id(0);
    if (j < m) {
        dev[j] = 0.0f;
        for (int i = 0; i < n; i++) dev[j] += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
        dev[j] = sqrt(dev[j] / n);
        if (dev[j] <= EPS) dev[j] = 1.0f;
    }
}

__kernel void centre(__global const DATA_TYPE *mean, __global const DATA_TYPE *dev, __global DATA_TYPE *data, int m, int n) {
    int j = get_global_id(0);
    int i = get_global_id(1);
    if (i < n && j < m) {
        data[i * m + j] -= mean[j];
        data[i * m + j] /= sqrt((DATA_TYPE)n) * dev[j];
    }
}

__kernel void correlate(__global const DATA_TYPE *data, __global DATA_TYPE *corr, int m, int n) {
    int j1 = get_global_id(0);
    if (j1 < m) {
        corr[j1 * m + j1] = 1.0f;
        for (int j2 = j1 + 1; j2 < m; j2++) {
            DATA_TYPE sum = 0.0f;
            for (int i = 0; i < n; i++) sum += data[i * m + j1] * data[i * m + j2];
            corr[j1 * m + j2] = sum;
            corr[j2 * m + j1] = sum;
        }
    }
}
""")
    m, n = (40, 50) if small else (192, 192)
    data = (np.random.default_rng(13).random((n, m)) * 10).astype(f32)
    p.array("data", data)
    p.room("mean", "f32", m)
    p.room("dev", "f32", m)
    p.room("corr", "f32", m * m, 0)
    columns = blocks(m, 64) * 64
    p.wave("column_mean", columns, 64, "mean", "data", i32(m), i32(n))
    p.wave("column_deviation", columns, 64, "mean", "dev", "data", i32(m), i32(n))
    p.wave("centre", (blocks(m, 32) * 32, blocks(n, 8) * 8), (32, 8), "mean", "dev", "data", i32(m), i32(n))
    p.wave("correlate", columns, 64, "data", "corr", i32(m), i32(n))
    p.expect("corr", lambda: np.corrcoef(data.astype(np.float64), rowvar=False), 1e-4)
    return p


@program
def three_products(small: bool) -> Program:
    """(A B) (C D): tiles in local memory; the first two products do not depend on each other."""
    p = Program("""
#define TILE 16

__kernel void multiply(const int M, const int N, const int K, const __global float *A, const __global float *B, __global float *C) {
    const int row = get_local_id(0);
    const int col = get_local_id(1);
    const int globalRow = TILE * get_group_id(0) + row;
    const int globalCol = TILE * get_group_id(1) + col;

    __local float Asub[TILE][TILE];
    __local float Bsub[TILE][TILE];

    float acc = 0.0f;
    const int numTiles = K / TILE;
    for (int t = 0; t < numTiles; t++) {
        Asub[col][row] = A[(TILE * t + col) * M + globalRow];
        Bsub[col][row] = B[globalCol * K + TILE * t + row];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            acc += Asub[k][row] * Bsub[col][k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[globalCol * M + globalRow] = acc;
}
""")
    n = 64 if small else 512
    random = np.random.default_rng(14)
    a, b, c, d = (random.random((n, n), f32) - f32(0.5) for _ in range(4))
    for name, contents in (("A", a), ("B", b), ("C", c), ("D", d)):
        p.array(name, contents)
    for name in "EF":
        p.room(name, "f32", n * n)
    p.room("G", "f32", n * n, 0)
    for left, right, to in ("ABE", "CDF", "EFG"):
        p.wave("multiply", (n, n), (16, 16), i32(n), i32(n), i32(n), left, right, to)
    # The matrices lie column by column.
    p.expect("G", lambda: (a.T.astype(np.float64) @ b.T @ (c.T.astype(np.float64) @ d.T)).T, 1e-4)
    return p


@program
def atax_bicg(small: bool) -> Program:
    """A' (A x), A p and A' r: one long work-item a row or column, waves that do not depend on each other."""
    p = Program("""
typedef float DATA_TYPE;

__kernel void rows_times(__global DATA_TYPE *A, __global DATA_TYPE *x, __global DATA_TYPE *out, int nx, int ny) {
    int i = get_global_id(0);
    if (i < nx) {
        out[i] = 0.0f;
        int j;
        for (j = 0; j < ny; j++) {
            out[i] += A[i * ny + j] * x[j];
        }
    }
}

__kernel void columns_times(__global DATA_TYPE *A, __global DATA_TYPE *out, __global DATA_TYPE *x, int nx, int ny) {
    int j = get_global_id(0);
    if (j < ny) {
        out[j] = 0.0f;
        int i;
        for (i = 0; i < nx; i++) {
            out[j] += A[i * ny + j] * x[i];
        }
    }
}
""")
    nx, ny = (100, 90) if small else (1000, 900)
    random = np.random.default_rng(15)
    a, x, q, r = (random.random(shape, f32) for shape in ((nx, ny), ny, ny, nx))
    for name, contents in (("A", a), ("x", x), ("p", q), ("r", r)):
        p.array(name, contents)
    p.room("tmp", "f32", nx)
    for name, count in (("y", ny), ("q", nx), ("s", ny)):
        p.room(name, "f32", count, 0)
    rows, columns = blocks(nx, 128) * 128, blocks(ny, 128) * 128
    p.wave("rows_times", rows, 128, "A", "x", "tmp", i32(nx), i32(ny))
    p.wave("columns_times", columns, 128, "A", "y", "tmp", i32(nx), i32(ny))
    p.wave("columns_times", columns, 128, "A", "s", "r", i32(nx), i32(ny))
    p.wave("rows_times", rows, 128, "A", "p", "q", i32(nx), i32(ny))
    wide = a.astype(np.float64)
    p.expect("y", lambda: wide.T @ (wide @ x), 1e-4)
    p.expect("s", lambda: wide.T @ r, 1e-4)
    p.expect("q", lambda: wide @ q, 1e-4)
    return p


@program
def gram_schmidt(small: bool) -> Program:
    """QR factorisation column by column: a norm by a single work-item, a column of Q, and the columns after it."""
    p = Program("""
typedef float DATA_TYPE;

__kernel void column_norm(__global DATA_TYPE *a, __global DATA_TYPE *r, int k, int m, int n) {
    int tid = get_global_id(0);
    if (tid == 0) {
        DATA_TYPE nrm = 0.0f;
        for (int i = 0; i < m; i++) nrm += a[i * n + k] * a[i * n + k];
        r[k * n + k] = sqrt(nrm);
    }
}

__kernel void column_of_q(__global DATA_TYPE *a, __global DATA_TYPE *r, __global DATA_TYPE *q, int k, int m, int n) {
    int i = get_global_id(0);
    if (i < m) q[i * n + k] = a[i * n + k] / r[k * n + k];
}

__kernel void project(__global DATA_TYPE *a, __global DATA_TYPE *r, __global DATA_TYPE *q, int k, int m, int n) {
    int j = get_global_id(0) + (k + 1);
    if (j < n) {
        DATA_TYPE sum = 0.0f;
        for (int i = 0; i < m; i++) sum += q[i * n + k] * a[i * n + j];
        r[k * n + j] = sum;
        for (int i = 0; i < m; i++) a[i * n + j] -= q[i * n + k] * sum;
    }
}
""")
    m, n = (40, 24) if small else (160, 128)
    matrix = (np.random.default_rng(16).random((m, n)) + 2 * np.eye(m, n)).astype(f32)
    p.array("a", matrix)
    p.room("r", "f32", n * n, 0)
    p.room("q", "f32", m * n, 0)
    k = stepping(i32(0), add=1)
    p.wave("column_norm", 256, 256, "a", "r", k, i32(m), i32(n))
    p.wave("column_of_q", blocks(m, 256) * 256, 256, "a", "r", "q", k, i32(m), i32(n))
    p.wave("project", blocks(n, 256) * 256, 256, "a", "r", "q", k, i32(m), i32(n))
    p.repeat(n)

    def oracle() -> np.ndarray:
        r = np.linalg.qr(matrix.astype(np.float64))[1]
        return r * np.sign(np.diag(r))[:, None]
    p.expect("r", oracle, 1e-3)
    return p


@program
def floyd_warshall(small: bool) -> Program:
    """All shortest paths by blocks: the block on the diagonal, its row and column, the rest."""
    p = Program("""
#define B 16

void relax(local int c[B][B], local int a[B][B], local int b[B][B], int x, int y) {
  for (int k = 0; k < B; ++k) {
    const int way = a[y][k] + b[k][x];
    if (way < c[y][x]) c[y][x] = way;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

kernel void diagonal(global int* d, const int n, const int round) {
  local int t[B][B];
  const int x = get_local_id(0), y = get_local_id(1);
  const int at = (round * B + y) * n + round * B + x;
  t[y][x] = d[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  relax(t, t, t, x, y);
  d[at] = t[y][x];
}

// Groups of one row are the blocks of the row, those of the other the blocks of the column.
kernel void row_and_column(global int* d, const int n, const int round) {
  local int middle[B][B];
  local int t[B][B];
  const int x = get_local_id(0), y = get_local_id(1);
  int block = get_group_id(0);
  if (block >= round) ++block;
  const int row = get_group_id(1) == 0 ? round : block;
  const int column = get_group_id(1) == 0 ? block : round;
  const int at = (row * B + y) * n + column * B + x;
  middle[y][x] = d[(round * B + y) * n + round * B + x];
  t[y][x] = d[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_group_id(1) == 0)
    relax(t, middle, t, x, y);
  else
    relax(t, t, middle, x, y);
  d[at] = t[y][x];
}

kernel void rest(global int* d, const int n, const int round) {
  local int row[B][B];
  local int column[B][B];
  const int x = get_local_id(0), y = get_local_id(1);
  const int block_x = get_group_id(0), block_y = get_group_id(1);
  if (block_x == round || block_y == round) return;  // a whole group
  const int at = (block_y * B + y) * n + block_x * B + x;
  row[y][x] = d[(round * B + y) * n + block_x * B + x];
  column[y][x] = d[(block_y * B + y) * n + round * B + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int best = d[at];
  for (int k = 0; k < B; ++k) best = min(best, column[y][k] + row[k][x]);
  d[at] = best;
}
""")
    n = 64 if small else 512
    random = np.random.default_rng(17)
    ways = np.where(random.random((n, n)) < 0.1, random.integers(1, 100, (n, n)), 1_000_000).astype(i32)
    np.fill_diagonal(ways, 0)
    p.array("d", ways)
    for r in range(n // 16):
        p.wave("diagonal", (16, 16), (16, 16), "d", i32(n), i32(r))
        p.wave("row_and_column", (n - 16, 32), (16, 16), "d", i32(n), i32(r))
        p.wave("rest", (n, n), (16, 16), "d", i32(n), i32(r))

    def oracle() -> np.ndarray:
        d = ways.copy()
        for k in range(n):
            np.minimum(d, d[:, k, None] + d[None, k], out=d)
        return d
    p.expect("d", oracle)
    return p


@program
def convnet(small: bool) -> Program:
    """A small network over a batch of pictures: convolution, pooling, twice, then three dense layers."""
    p = Program("""
#define RELU(v) fmax((v), 0.0f)

// One output pixel a work-item; z counts channels of all pictures.
__kernel void convolve(__global const float *restrict in, __global const float *restrict weights, __global const float *restrict bias,
                       __global float *restrict out, int channels_in, int channels_out, int size_in, int k) {
    const int size_out = size_in - k + 1;
    const int x = get_global_id(0), y = get_global_id(1);
    const int picture = get_global_id(2) / channels_out, channel = get_global_id(2) % channels_out;
    if (x >= size_out || y >= size_out) return;
    float sum = bias[channel];
    for (int c = 0; c < channels_in; ++c)
        for (int dy = 0; dy < k; ++dy)
            for (int dx = 0; dx < k; ++dx)
                sum += in[((picture * channels_in + c) * size_in + y + dy) * size_in + x + dx] *
                       weights[((channel * channels_in + c) * k + dy) * k + dx];
    out[((picture * channels_out + channel) * size_out + y) * size_out + x] = RELU(sum);
}

__kernel void pool(__global const float *in, __global float *out, int size_out) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    if (x >= size_out || y >= size_out) return;
    __global const float *at = in + (z * size_out * 2 + y * 2) * size_out * 2 + x * 2;
    out[(z * size_out + y) * size_out + x] = fmax(fmax(at[0], at[1]), fmax(at[size_out * 2], at[size_out * 2 + 1]));
}

__kernel void dense(__global const float *in, __global const float *weights, __global const float *bias, __global float *out,
                    int inputs, int outputs, int last) {
    const int o = get_global_id(0), picture = get_global_id(1);
    if (o >= outputs) return;
    float sum = bias[o];
    for (int i = 0; i < inputs; ++i) sum += in[picture * inputs + i] * weights[i * outputs + o];
    out[picture * outputs + o] = last ? sum : RELU(sum);
}
""")
    batch = 4 if small else 256
    random = np.random.default_rng(18)
    weight = lambda name, *shape: (p.array(name, (random.random(shape) - 0.5).astype(f32) * f32(0.2)),
                                   p.arrays[name].reshape(shape).astype(np.float64))[1]
    pictures = random.random((batch, 1, 28, 28), f32)
    p.array("pictures", pictures)
    w1, b1, w2, b2 = weight("w1", 6, 1, 5, 5), weight("b1", 6), weight("w2", 16, 6, 5, 5), weight("b2", 16)
    w3, b3, w4, b4, w5, b5 = (weight("w3", 256, 120), weight("b3", 120), weight("w4", 120, 84), weight("b4", 84), weight("w5", 84, 10),
                              weight("b5", 10))
    for name, each in (("c1", 6 * 24 * 24), ("p1", 6 * 12 * 12), ("c2", 16 * 8 * 8), ("p2", 256), ("d1", 120), ("d2", 84)):
        p.room(name, "f32", batch * each)
    p.room("scores", "f32", batch * 10, 0)
    p.wave("convolve", (24, 24, 6 * batch), (8, 8, 2), "pictures", "w1", "b1", "c1", i32(1), i32(6), i32(28), i32(5))
    p.wave("pool", (16, 16, 6 * batch), (16, 4, 2), "c1", "p1", i32(12))
    p.wave("convolve", (8, 8, 16 * batch), (8, 8, 2), "p1", "w2", "b2", "c2", i32(6), i32(16), i32(12), i32(5))
    p.wave("pool", (4, 4, 16 * batch), (4, 4, 8), "c2", "p2", i32(4))
    for inputs, outputs, names, last in ((256, 120, ("p2", "w3", "b3", "d1"), 0), (120, 84, ("d1", "w4", "b4", "d2"), 0),
                                         (84, 10, ("d2", "w5", "b5", "scores"), 1)):
        p.wave("dense", (blocks(outputs, 32) * 32, batch), (32, 4), *names, i32(inputs), i32(outputs), i32(last))

    def oracle() -> np.ndarray:
        def convolved(a: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
            windows = np.lib.stride_tricks.sliding_window_view(a, (5, 5), (2, 3))
            return np.maximum(np.einsum("ncyxij,ocij->noyx", windows, w, optimize=True) + b[:, None, None], 0)
        pooled = lambda a: a.reshape(*a.shape[:2], a.shape[2] // 2, 2, -1, 2).max((3, 5))
        a = pooled(convolved(pooled(convolved(pictures.astype(np.float64), w1, b1)), w2, b2)).reshape(batch, 256)
        return np.maximum(np.maximum(a @ w3 + b3, 0) @ w4 + b4, 0) @ w5 + b5
    p.expect("scores", oracle, 1e-4)
    return p


@program
def backprop(small: bool) -> Program:
    """Training of a layer of 16 hidden units: products summed up within groups of 16 by 16, then over groups, then new weights."""
    p = Program("""
#define WIDTH 16
#define HEIGHT 16

__kernel void layer_forward(__global const float *input, __global const float *weights, __global float *partial) {
    __local float products[HEIGHT][WIDTH];
    int by = get_group_id(1);
    int tx = get_local_id(0), ty = get_local_id(1);
    int in = by * HEIGHT + ty;

    products[ty][tx] = weights[in * WIDTH + tx] * input[in];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int power = 2; power <= HEIGHT; power *= 2) {
        if (ty % power == 0)
            products[ty][tx] += products[ty + power / 2][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (ty == 0)
        partial[by * WIDTH + tx] = products[0][tx];
}

__kernel void hidden_units(__global const float *partial, __global const float *target, __global float *hidden, __global float *delta,
                           int groups) {
    __local float sums[WIDTH][WIDTH];
    int tx = get_local_id(0), ty = get_local_id(1);
    float sum = 0;
    for (int g = ty; g < groups; g += WIDTH)
        sum += partial[g * WIDTH + tx];
    sums[ty][tx] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ty == 0) {
        for (int k = 1; k < WIDTH; k++)
            sum += sums[k][tx];
        float h = 1.0f / (1.0f + exp(-sum));
        hidden[tx] = h;
        delta[tx] = h * (1.0f - h) * (target[tx] - h);
    }
}

__kernel void adjust_weights(__global const float *delta, __global const float *input, __global float *weights,
                             __global float *old_change) {
    int tx = get_local_id(0), ty = get_local_id(1);
    int in = get_group_id(1) * HEIGHT + ty;
    int at = in * WIDTH + tx;
    float change = 0.3f * delta[tx] * input[in] + 0.3f * old_change[at];
    weights[at] += change;
    old_change[at] = change;
}
""")
    n, epochs = (512, 5) if small else (32_768, 40)
    random = np.random.default_rng(19)
    inputs, start = random.random(n, f32), ((random.random((n, 16)) - 0.5) / 16).astype(f32)
    target = random.random(16, f32)
    for name, contents in (("input", inputs), ("weights", start), ("target", target)):
        p.array(name, contents)
    p.room("partial", "f32", n)
    p.room("old_change", "f32", 16 * n, 0)
    p.room("hidden", "f32", 16, 0)
    p.room("delta", "f32", 16)
    p.wave("layer_forward", (16, n), (16, 16), "input", "weights", "partial")
    p.wave("hidden_units", (16, 16), (16, 16), "partial", "target", "hidden", "delta", i32(n // 16))
    p.wave("adjust_weights", (16, n), (16, 16), "delta", "input", "weights", "old_change")
    p.repeat(epochs)

    def oracle() -> np.ndarray:
        w, old, x = start.astype(np.float64), 0.0, inputs.astype(np.float64)
        for _ in range(epochs):
            h = 1 / (1 + np.exp(-(x @ w)))
            old = 0.3 * np.outer(x, h * (1 - h) * (target - h)) + 0.3 * old
            w = w + old
        return h
    p.expect("hidden", oracle, 1e-2)
    return p


@program
def fourier(small: bool) -> Program:
    """A Fourier transform, two points a work-item and a launch for every stage, between two buffers of float2."""
    p = Program("""
#ifndef M_PI_F
#define M_PI_F 3.14159274f
#endif

float2 times(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

kernel void stage(global const float2* in, global float2* out, uint half_n, uint p) {
  const uint i = get_global_id(0);
  const uint k = i & (p - 1);
  const float angle = -M_PI_F * (float)k / (float)p;
  const float2 a = in[i];
  const float2 b = times(in[i + half_n], (float2)(cos(angle), sin(angle)));
  const uint j = ((i - k) << 1) + k;
  out[j] = a + b;
  out[j + p] = a - b;
}
""")
    bits = 10 if small else 20
    n = 1 << bits
    signal = np.random.default_rng(20).random((n, 2), f32) - f32(0.5)
    p.array("even", signal)
    p.room("odd", "f32", 2 * n, 0)
    names = ["even", "odd"]
    for stage in range(bits):
        p.wave("stage", n // 2, 128, *({"buffer": name, "reinterpret": True} for name in names), np.uint32(n // 2), np.uint32(1 << stage))
        names.reverse()
    p.expect(names[0], lambda: np.fft.fft(signal.astype(np.float64).view(np.complex128).reshape(-1)).view(np.float64), 1e-4)
    return p
