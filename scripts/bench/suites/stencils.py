"""Stencils and rows of dynamic programming: pathfinder, stencil2d, hotspot, needleman_wunsch, fdtd2d, srad, lattice_boltzmann,
heat3d."""

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
def hotspot(small: bool) -> Program:
    """Temperatures of a chip by power and conduction; two steps a launch, groups overlap by a rim of two."""
    p = Program("""
#define BLOCK 16
#define STEPS 2
#define INNER (BLOCK - 2 * STEPS)
#define AMBIENT 80.0f

kernel void heat_flow(global const float* power, global const float* temp_in, global float* temp_out,
                      int cols, int rows, float cap_inv, float rx_inv, float ry_inv, float rz_inv) {
  local float now[BLOCK][BLOCK];
  local float then[BLOCK][BLOCK];
  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int x = get_group_id(0) * INNER - STEPS + tx;
  const int y = get_group_id(1) * INNER - STEPS + ty;
  const bool inside = x >= 0 && x < cols && y >= 0 && y < rows;
  const int at = y * cols + x;
  float watts = 0.0f;

  if (inside) {
    now[ty][tx] = temp_in[at];
    watts = power[at];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  // The neighbour, or the cell itself at the chip's edge.
  const int west = x > 0 ? max(tx - 1, 0) : tx;
  const int east = x < cols - 1 ? min(tx + 1, BLOCK - 1) : tx;
  const int north = y > 0 ? max(ty - 1, 0) : ty;
  const int south = y < rows - 1 ? min(ty + 1, BLOCK - 1) : ty;

  for (int i = 0; i < STEPS; ++i) {
    const bool known = inside && tx > i - (x - tx < 0 ? BLOCK : 0) && ty > i - (y - ty < 0 ? BLOCK : 0) &&
                       tx < BLOCK - 1 - i + (x - tx + BLOCK > cols ? BLOCK : 0) &&
                       ty < BLOCK - 1 - i + (y - ty + BLOCK > rows ? BLOCK : 0);
    if (known) {
      const float t = now[ty][tx];
      then[ty][tx] = t + cap_inv * (watts + (now[south][tx] + now[north][tx] - 2.0f * t) * ry_inv +
                                    (now[ty][east] + now[ty][west] - 2.0f * t) * rx_inv + (AMBIENT - t) * rz_inv);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == STEPS - 1) break;
    if (known) now[ty][tx] = then[ty][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (inside && tx >= STEPS && tx < BLOCK - STEPS && ty >= STEPS && ty < BLOCK - STEPS) temp_out[at] = then[ty][tx];
}
""")
    n, launches = (60, 6) if small else (512, 60)
    random = np.random.default_rng(3)
    chip = (random.random((n, n)) * 20 + 320).astype(f32)
    power = (random.random((n, n)) * 0.5).astype(f32)
    p.array("temp", chip)
    p.array("power", power)
    p.room("next", "f32", n * n)
    constants = (f32(0.4), f32(0.3), f32(0.25), f32(0.01))
    groups = blocks(n, 12) * 16
    p.wave("heat_flow", (groups, groups), (16, 16), "power", "temp", "next", i32(n), i32(n), *constants)
    p.repeat(launches, swap=[["temp", "next"]])

    def oracle() -> np.ndarray:
        t = chip.astype(np.float64)
        cap, rx, ry, rz = (float(c) for c in constants)
        for _ in range(2 * launches):
            q = np.pad(t, 1, mode="edge")
            t = t + cap * (power + (q[2:, 1:-1] + q[:-2, 1:-1] - 2 * t) * ry
                           + (q[1:-1, 2:] + q[1:-1, :-2] - 2 * t) * rx + (80 - t) * rz)
        return t
    p.expect("temp", oracle, 1e-4)
    return p


@program
def needleman_wunsch(small: bool) -> Program:
    """Scores of an alignment: blocks of 16 by 16, a launch for each diagonal of blocks, first growing, then shrinking."""
    p = Program("""
#ifndef BLOCK
#define BLOCK 16
#endif

int best_of(int diagonal, int left, int up) {
    int k = diagonal > left ? diagonal : left;
    return k > up ? k : up;
}

// One block with its upper left corner at cell (bx, by) of the score matrix.
void align(int bx, int by, __global const int *similarity, __global int *score, int width, int penalty,
           __local int *t, __local int *s) {
    int tx = get_local_id(0);
    int base = by * BLOCK * width + bx * BLOCK;

    if (tx == 0) t[0] = score[base];
    for (int row = 0; row < BLOCK; row++)
        s[row * BLOCK + tx] = similarity[base + (row + 1) * width + tx + 1];
    t[(tx + 1) * (BLOCK + 1)] = score[base + (tx + 1) * width];
    t[tx + 1] = score[base + tx + 1];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int m = 0; m < 2 * BLOCK - 1; m++) {
        int row = m - tx;
        if (row >= 0 && row < BLOCK) {
            int at = (row + 1) * (BLOCK + 1) + tx + 1;
            t[at] = best_of(t[at - BLOCK - 2] + s[row * BLOCK + tx], t[at - 1] - penalty, t[at - BLOCK - 1] - penalty);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int row = 0; row < BLOCK; row++)
        score[base + (row + 1) * width + tx + 1] = t[(row + 1) * (BLOCK + 1) + tx + 1];
}

__kernel void upper_left(__global const int *similarity, __global int *score, int width, int penalty, int diagonal) {
    __local int t[(BLOCK + 1) * (BLOCK + 1)];
    __local int s[BLOCK * BLOCK];
    int b = get_group_id(0);
    align(b, diagonal - b, similarity, score, width, penalty, t, s);
}

__kernel void lower_right(__global const int *similarity, __global int *score, int width, int penalty, int diagonal,
                          int across) {
    __local int t[(BLOCK + 1) * (BLOCK + 1)];
    __local int s[BLOCK * BLOCK];
    int b = get_group_id(0);
    align(across - 1 - b, diagonal - across + 1 + b, similarity, score, width, penalty, t, s);
}
""", "-DBLOCK=16")
    n, penalty = (96, 10) if small else (2048, 10)
    width, across = n + 1, n // 16
    similarity = np.random.default_rng(4).integers(-4, 12, (width, width), i32)
    score = np.zeros((width, width), i32)
    score[0, :] = score[:, 0] = -penalty * np.arange(width)
    p.array("similarity", similarity)
    p.array("score", score)
    for d in range(across):
        p.wave("upper_left", (d + 1) * 16, 16, "similarity", "score", i32(width), i32(penalty), i32(d))
    for d in range(across, 2 * across - 1):
        p.wave("lower_right", (2 * across - 1 - d) * 16, 16, "similarity", "score", i32(width), i32(penalty), i32(d),
               i32(across))

    def oracle() -> np.ndarray:
        want = score.copy()
        for d in range(2, 2 * n + 1):
            i = np.arange(max(1, d - n), min(n, d - 1) + 1)
            j = d - i
            want[i, j] = np.maximum(want[i - 1, j - 1] + similarity[i, j],
                                    np.maximum(want[i, j - 1], want[i - 1, j]) - penalty)
        return want
    p.expect("score", oracle)
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
