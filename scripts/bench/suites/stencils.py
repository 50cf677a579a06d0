"""Stencils and rows of dynamic programming."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32

from .program import Program, blocks, program, stepping


@program
def pathfinder(small: bool) -> Program:
    """Cheapest ways down a grid of costs; a launch does some rows in local memory, its groups overlap by as many columns."""
    p = Program("""
#define MIN3(a, b, c) min(min((a), (b)), (c))

__kernel void advance(__global const int *wall, __global const int *from, __global int *to, int cols, int first_row,
                      int steps, __local int *prev, __local int *next)
{
    int tx = get_local_id(0);
    int width = get_local_size(0);
    int x = (int)get_group_id(0) * (width - 2 * steps) - steps + tx;
    int inside = x >= 0 && x < cols;

    prev[tx] = inside ? from[x] : INT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int s = 0; s < steps; s++) {
        int value = INT_MAX;
        if (inside && tx > s && tx < width - 1 - s)
            value = MIN3(prev[tx - 1], prev[tx], prev[tx + 1]) + wall[(first_row + s) * cols + x];
        next[tx] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        prev[tx] = next[tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (inside && tx >= steps && tx < width - steps)
        to[x] = prev[tx];
}
""")
    cols, rows, steps = (500, 33, 4) if small else (65_000, 201, 2)
    wall = np.random.default_rng(1).integers(0, 10, (rows, cols), i32)
    p.array("wall", wall)
    p.array("even", wall[0])
    p.room("odd", "i32", cols, 0)
    names = ["even", "odd"]
    for first in range(1, rows, steps):
        local = {"local_bytes": 256 * 4}
        p.wave("advance", blocks(cols, 256 - 2 * steps) * 256, 256, "wall", names[0], names[1], i32(cols), i32(first),
               i32(steps), local, local)
        names.reverse()

    def oracle() -> np.ndarray:
        best = wall[0]
        for row in wall[1:]:
            padded = np.pad(best, 1, constant_values=2**31 - 1)
            best = row + np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])
        return best
    p.expect(names[0], oracle)
    return p


@program
def stencil2d(small: bool) -> Program:
    """Nine points, weights for centre, sides and corners, the tile with its rim in local memory."""
    p = Program("""
#define TX 16
#define TY 16
#define IDX(x, y) ((y) * stride + (x))

__kernel void stencil(__global const float *in, __global float *out, int stride, float wc, float ws, float wd)
{
    __local float tile[TY + 2][TX + 2];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;

    tile[ly + 1][lx + 1] = in[IDX(x, y)];
    if (lx == 0) tile[ly + 1][0] = in[IDX(x - 1, y)];
    if (lx == TX - 1) tile[ly + 1][TX + 1] = in[IDX(x + 1, y)];
    if (ly == 0) {
        tile[0][lx + 1] = in[IDX(x, y - 1)];
        if (lx == 0) tile[0][0] = in[IDX(x - 1, y - 1)];
        if (lx == TX - 1) tile[0][TX + 1] = in[IDX(x + 1, y - 1)];
    }
    if (ly == TY - 1) {
        tile[TY + 1][lx + 1] = in[IDX(x, y + 1)];
        if (lx == 0) tile[TY + 1][0] = in[IDX(x - 1, y + 1)];
        if (lx == TX - 1) tile[TY + 1][TX + 1] = in[IDX(x + 1, y + 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float side = tile[ly][lx + 1] + tile[ly + 2][lx + 1] + tile[ly + 1][lx] + tile[ly + 1][lx + 2];
    float corner = tile[ly][lx] + tile[ly][lx + 2] + tile[ly + 2][lx] + tile[ly + 2][lx + 2];
    out[IDX(x, y)] = wc * tile[ly + 1][lx + 1] + ws * side + wd * corner;
}
""")
    n, times = (64, 10) if small else (512, 100)
    plate = np.random.default_rng(2).random((n + 2, n + 2), f32)
    p.array("grid", plate)
    p.array("next", plate)
    p.wave("stencil", (n, n), (16, 16), "grid", "next", i32(n + 2), f32(0.25), f32(0.15), f32(0.0375))
    p.repeat(times, swap=[["grid", "next"]])

    def oracle() -> np.ndarray:
        a = plate.astype(np.float64)
        for _ in range(times):
            b = a.copy()
            b[1:-1, 1:-1] = (0.25 * a[1:-1, 1:-1] + 0.15 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
                             + 0.0375 * (a[:-2, :-2] + a[:-2, 2:] + a[2:, :-2] + a[2:, 2:]))
            a = b
        return a
    p.expect("grid", oracle, 1e-4)
    return p


@program
def fdtd2d(small: bool) -> Program:
    """Maxwell's equations on a staggered grid: three kernels a step, the step's number an argument."""
    p = Program("""
typedef float DATA_TYPE;

__kernel void step_ey(__global const DATA_TYPE *pulse, __global DATA_TYPE *ey, __global const DATA_TYPE *hz, int t, int nx, int ny)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if ((i < nx) && (j < ny)) {
        if (i == 0)
            ey[i * ny + j] = pulse[t];
        else
            ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
    }
}

__kernel void step_ex(__global DATA_TYPE *ex, __global const DATA_TYPE *hz, int nx, int ny)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if ((i < nx) && (j < ny) && (j > 0))
        ex[i * (ny + 1) + j] = ex[i * (ny + 1) + j] - 0.5f * (hz[i * ny + j] - hz[i * ny + (j - 1)]);
}

__kernel void step_hz(__global const DATA_TYPE *ex, __global const DATA_TYPE *ey, __global DATA_TYPE *hz, int nx, int ny)
{
    int j = get_global_id(0);
    int i = get_global_id(1);
    if ((i < nx) && (j < ny))
        hz[i * ny + j] = hz[i * ny + j] - 0.7f * (ex[i * (ny + 1) + (j + 1)] - ex[i * (ny + 1) + j]
                                                  + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
""")
    nx, ny, steps = (50, 70, 12) if small else (500, 500, 200)
    random = np.random.default_rng(5)
    ex, ey, hz = (random.random(shape, f32) for shape in ((nx, ny + 1), (nx + 1, ny), (nx, ny)))
    pulse = np.sin(np.arange(steps) * 0.1).astype(f32)
    for name, contents in (("ex", ex), ("ey", ey), ("hz", hz), ("pulse", pulse)):
        p.array(name, contents)
    size, local = (blocks(ny, 32) * 32, blocks(nx, 8) * 8), (32, 8)
    p.wave("step_ey", size, local, "pulse", "ey", "hz", stepping(i32(0), add=1), i32(nx), i32(ny))
    p.wave("step_ex", size, local, "ex", "hz", i32(nx), i32(ny))
    p.wave("step_hz", size, local, "ex", "ey", "hz", i32(nx), i32(ny))
    p.repeat(steps)

    def oracle() -> np.ndarray:
        x, y, z = (a.astype(np.float64) for a in (ex, ey, hz))
        for t in range(steps):
            y[0] = pulse[t]
            y[1:nx] -= 0.5 * (z[1:] - z[:-1])
            x[:, 1:ny] -= 0.5 * (z[:, 1:] - z[:, :-1])
            z -= 0.7 * (x[:, 1:] - x[:, :-1] + y[1:] - y[:-1])
        return z
    p.expect("hz", oracle, 1e-3)
    return p


@program
def lattice_boltzmann(small: bool) -> Program:
    """A fluid on a lattice: nine populations a cell, pulled from the neighbours, walls send them back."""
    p = Program("""
#define Q 9
__constant int CX[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant int CY[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant float W[Q] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
__constant int BACK[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};

__kernel void collide_and_stream(__global const float *from, __global float *to, __global const uchar *wall, int nx, int ny,
                                 float omega, float push) {
    const int x = get_global_id(0);
    const int y = get_global_id(1);
    const int cells = nx * ny;
    if (x >= nx || y >= ny) return;
    const int at = y * nx + x;
    float f[Q];
    float rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < Q; q++) {
        const int sx = (x - CX[q] + nx) % nx, sy = (y - CY[q] + ny) % ny;
        f[q] = from[q * cells + sy * nx + sx];
        rho += f[q];
        ux += f[q] * CX[q];
        uy += f[q] * CY[q];
    }
    if (wall[at]) {
        for (int q = 0; q < Q; q++) to[q * cells + at] = f[BACK[q]];
        return;
    }
    ux = ux / rho + push;
    uy = uy / rho;
    const float still = 1.0f - 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < Q; q++) {
        const float cu = CX[q] * ux + CY[q] * uy;
        to[q * cells + at] = f[q] + omega * (W[q] * rho * (still + 3.0f * cu + 4.5f * cu * cu) - f[q]);
    }
}
""")
    nx, ny, times = (48, 30, 8) if small else (320, 200, 100)
    random = np.random.default_rng(7)
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    cx, cy = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
    start = (weights[:, None, None] * (1 + 0.01 * random.random((9, ny, nx)))).astype(f32)
    wall = (random.random((ny, nx)) < 0.05).astype(np.uint8)
    wall[0] = wall[-1] = 1
    p.array("f", start)
    p.room("g", "f32", start.size)
    p.array("wall", wall)
    p.wave("collide_and_stream", (blocks(nx, 64) * 64, blocks(ny, 4) * 4), (64, 4), "f", "g", "wall", i32(nx), i32(ny), f32(1.2),
           f32(0.001))
    p.repeat(times, swap=[["f", "g"]])

    def oracle() -> np.ndarray:
        f = start.astype(np.float64)
        for _ in range(times):
            g = np.stack([np.roll(f[q], (cy[q], cx[q]), (0, 1)) for q in range(9)])
            rho = g.sum(0)
            ux = np.tensordot(cx, g, 1) / rho + 0.001
            uy = np.tensordot(cy, g, 1) / rho
            cu = np.stack([cx[q] * ux + cy[q] * uy for q in range(9)])
            moved = g + 1.2 * (weights[:, None, None] * rho * (1 - 1.5 * (ux**2 + uy**2) + 3 * cu + 4.5 * cu**2) - g)
            f = np.where(wall, g[[0, 3, 4, 1, 2, 7, 8, 5, 6]], moved)
        return f
    p.expect("f", oracle, 1e-4)
    return p


@program
def heat3d(small: bool) -> Program:
    """Seven points in three dimensions, ranges of three dimensions, two buffers in turn."""
    p = Program("""
#define INDEX(x, y, z) ((x) + nx * ((y) + ny * (z)))

__kernel void seven_points(float c0, float c1, __global float *a0, __global float *anext, int nx, int ny, int nz)
{
    int i = get_global_id(0) + 1;
    int j = get_global_id(1) + 1;
    int k = get_global_id(2) + 1;

    if (i < nx - 1 && j < ny - 1 && k < nz - 1) {
        anext[INDEX(i, j, k)] = (a0[INDEX(i, j, k + 1)] + a0[INDEX(i, j, k - 1)] + a0[INDEX(i, j + 1, k)]
                               + a0[INDEX(i, j - 1, k)] + a0[INDEX(i + 1, j, k)] + a0[INDEX(i - 1, j, k)]) * c1
                               - a0[INDEX(i, j, k)] * c0;
    }
}
""")
    nx, ny, nz, steps = (34, 18, 10, 6) if small else (130, 98, 66, 100)
    cube = np.random.default_rng(8).random((nz, ny, nx), f32)
    p.array("a", cube)
    p.array("b", cube)
    size = (blocks(nx - 2, 32) * 32, blocks(ny - 2, 4) * 4, nz - 2)
    for a, b in (("a", "b"), ("b", "a")):
        p.wave("seven_points", size, (32, 4, 1), f32(-0.4), f32(0.1), a, b, i32(nx), i32(ny), i32(nz))
    p.repeat(steps // 2)

    def oracle() -> np.ndarray:
        a = cube.astype(np.float64)
        for _ in range(steps):
            b = a.copy()
            b[1:-1, 1:-1, 1:-1] = 0.1 * (a[2:, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, :-2, 1:-1]
                                         + a[1:-1, 1:-1, 2:] + a[1:-1, 1:-1, :-2]) + 0.4 * a[1:-1, 1:-1, 1:-1]
            a = b
        return a
    p.expect("a", oracle, 1e-4)
    return p
