"""Dense linear algebra and what works alike: lu_blocked, gaussian, correlation, …"""

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
