"""Particles, and other work of few long steps."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32

from .program import Program, blocks, program, stepping


@program
def n_body(small: bool) -> Program:
    """All bodies attract each other: positions pass through local memory group by group, then all move."""
    p = Program("""
kernel void forces(global const float4* restrict body, global float4* restrict pull, int n, float soft, local float4* tile) {
  const int i = get_global_id(0), l = get_local_id(0), width = get_local_size(0);
  const float4 me = body[i];
  float3 sum = (float3)(0.0f, 0.0f, 0.0f);
  for (int first = 0; first < n; first += width) {
    tile[l] = body[first + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < width; ++j) {
      const float3 d = tile[j].xyz - me.xyz;
      const float r = rsqrt(dot(d, d) + soft);
      sum += d * (tile[j].w * r * r * r);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  pull[i] = (float4)(sum, 0.0f);
}

kernel void move(global float4* body, global float4* speed, global const float4* pull, float dt) {
  const int i = get_global_id(0);
  float4 v = speed[i];
  v.xyz += pull[i].xyz * dt;
  speed[i] = v;
  body[i].xyz += v.xyz * dt;
}
""")
    n, steps = (256, 4) if small else (4096, 10)
    random = np.random.default_rng(41)
    bodies = (random.random((n, 4)) * [2, 2, 2, 1 / n]).astype(f32)
    speeds = np.pad((random.random((n, 3)) - 0.5) * 0.1, ((0, 0), (0, 1))).astype(f32)
    p.array("body", bodies)
    p.array("speed", speeds)
    p.room("pull", "f32", 4 * n)
    body, speed, pull = ({"buffer": name, "reinterpret": True} for name in ("body", "speed", "pull"))
    p.wave("forces", n, 128, body, pull, i32(n), f32(0.01), {"local_bytes": 128 * 16})
    p.wave("move", n, 128, body, speed, pull, f32(0.01))
    p.repeat(steps)

    def oracle() -> np.ndarray:
        x, v, mass = bodies[:, :3].astype(np.float64), speeds[:, :3].astype(np.float64), bodies[:, 3].astype(np.float64)
        for _ in range(steps):
            pulled = np.empty_like(x)
            for first in range(0, n, 512):
                d = x[None] - x[first:first + 512, None]
                pulled[first:first + 512] = np.einsum("ijk,ij->ik", d, mass * ((d * d).sum(2) + 0.01) ** -1.5)
            v = v + 0.01 * pulled
            x = x + 0.01 * v
        return np.concatenate([x, mass[:, None]], axis=1)
    p.expect("body", oracle, 1e-5)
    return p


@program
def heart_wall(small: bool) -> Program:
    """Follows points through the pictures of a film: a work-group a point compares its patch at all places around; few groups."""
    p = Program("""
#define PATCH 16
#define REACH 8
#define PLACES ((2 * REACH + 1) * (2 * REACH + 1))

__kernel void follow(__global const uchar *film, __global const uchar *patches, __global int *row, __global int *column, int width,
                     int height, int picture) {
    __local uchar patch[PATCH * PATCH];
    __local uint best[256];
    const int point = get_group_id(0), l = get_local_id(0);
    __global const uchar *now = film + (size_t)picture * width * height;
    const int y0 = row[point], x0 = column[point];
    patch[l] = patches[point * PATCH * PATCH + l];
    barrier(CLK_LOCAL_MEM_FENCE);

    uint least = 0xffffffffu;
    for (int place = l; place < PLACES; place += 256) {
        const int y = y0 + place / (2 * REACH + 1) - REACH, x = x0 + place % (2 * REACH + 1) - REACH;
        if (x < 0 || y < 0 || x + PATCH > width || y + PATCH > height)
            continue;
        uint sum = 0;
        for (int j = 0; j < PATCH; j++)
            for (int i = 0; i < PATCH; i++)
                sum += abs_diff(now[(y + j) * width + x + i], patch[j * PATCH + i]);
        least = min(least, (sum << 10) + place);
    }
    best[l] = least;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (l < s) best[l] = min(best[l], best[l + s]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) {
        const int place = best[0] & 1023;
        row[point] = y0 + place / (2 * REACH + 1) - REACH;
        column[point] = x0 + place % (2 * REACH + 1) - REACH;
    }
}
""")
    width, height, points, pictures = (100, 80, 6, 4) if small else (320, 240, 51, 40)
    random = np.random.default_rng(44)
    still = random.integers(0, 256, (height, width), np.uint8)
    way = np.cumsum(random.integers(-3, 4, (pictures, 2)), axis=0)
    film = np.stack([np.roll(still, step, (0, 1)) for step in way])
    rows, columns = random.integers(0, height - 16, points, i32), random.integers(0, width - 16, points, i32)
    patches = np.stack([still[y:y + 16, x:x + 16] for y, x in zip(rows, columns)])
    for name, contents in (("film", film), ("patches", patches), ("row", rows), ("column", columns)):
        p.array(name, contents)
    p.wave("follow", points * 256, 256, "film", "patches", "row", "column", i32(width), i32(height), stepping(i32(0), add=1))
    p.repeat(pictures)

    def followed() -> np.ndarray:
        at = np.stack([rows, columns], axis=1).astype(np.int64)
        for picture in film:
            windows = np.lib.stride_tricks.sliding_window_view(picture, (16, 16))
            for point, (y, x) in enumerate(at):
                low = np.maximum((y - 8, x - 8), 0)
                around = windows[low[0]:y + 9, low[1]:x + 9].astype(np.int64)
                sums = np.abs(around - patches[point]).sum((2, 3))
                at[point] = low + np.unravel_index(sums.argmin(), sums.shape)
        return at
    p.expect("row", lambda: followed()[:, 0])
    p.expect("column", lambda: followed()[:, 1])
    return p


@program
def ensemble(small: bool) -> Program:
    """Ordinary differential equations of few independent systems, a small wave for every time step and nothing to share."""
    p = Program("""
typedef struct { float x, y, z; } State;

State slope(State s, float rho) {
    State d;
    d.x = 10.0f * (s.y - s.x);
    d.y = s.x * (rho - s.z) - s.y;
    d.z = s.x * s.y - (8.0f / 3.0f) * s.z;
    return d;
}

State along(State s, State d, float h) {
    s.x += h * d.x;
    s.y += h * d.y;
    s.z += h * d.z;
    return s;
}

__kernel void runge_kutta(__global State *states, __global const float *rho, const float h, const int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    State s = states[i];
    State k1 = slope(s, rho[i]);
    State k2 = slope(along(s, k1, h / 2), rho[i]);
    State k3 = slope(along(s, k2, h / 2), rho[i]);
    State k4 = slope(along(s, k3, h), rho[i]);
    s = along(along(along(along(s, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
    states[i] = s;
}
""")
    n, steps = (100, 20) if small else (1000, 200)
    random = np.random.default_rng(45)
    states = (random.random((n, 3)) + [0, 1, 20]).astype(f32)
    rho = (random.random(n) * 10 + 10).astype(f32)
    p.array("states", states)
    p.array("rho", rho)
    p.wave("runge_kutta", blocks(n, 64) * 64, 64, {"buffer": "states", "reinterpret": True}, "rho", f32(0.002), i32(n))
    p.repeat(steps)

    def oracle() -> np.ndarray:
        s, h = states.astype(np.float64), float(f32(0.002))
        slope = lambda s: np.stack([10 * (s[:, 1] - s[:, 0]), s[:, 0] * (rho - s[:, 2]) - s[:, 1],
                                    s[:, 0] * s[:, 1] - 8 / 3 * s[:, 2]], axis=1)
        for _ in range(steps):
            k1 = slope(s)
            k2 = slope(s + h / 2 * k1)
            k3 = slope(s + h / 2 * k2)
            s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(s + h * k3))
        return s
    p.expect("states", oracle, 1e-3)
    return p
