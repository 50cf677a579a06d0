"""Dense linear algebra, and layers of networks, which work alike."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32

from .program import Program, blocks, program, stepping


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
