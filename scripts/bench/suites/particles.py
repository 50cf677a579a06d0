"""Particles, and other work of few long steps."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32, uint32 as u32

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
def lava_md(small: bool) -> Program:
    """Particles in boxes, each meets those of its box and of the boxes around: one wave, a work-group a box, and nothing else."""
    p = Program("""
#define PER_BOX 100
#define THREADS 128

typedef struct {
    int x, y, z;
    int neighbours;
    int list[26];
} Box;

__kernel void boxes(__global const Box *box, __global const float4 *rv, __global const float *qv, __global float4 *fv, float a2) {
    __local float4 here[PER_BOX], there[PER_BOX];
    __local float charge[PER_BOX];
    int b = get_group_id(0), t = get_local_id(0);

    for (int i = t; i < PER_BOX; i += THREADS)
        here[i] = rv[b * PER_BOX + i];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int k = 0; k < 1 + box[b].neighbours; k++) {
        int other = k == 0 ? b : box[b].list[k - 1];
        for (int i = t; i < PER_BOX; i += THREADS) {
            there[i] = rv[other * PER_BOX + i];
            charge[i] = qv[other * PER_BOX + i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = t; i < PER_BOX; i += THREADS) {
            float4 sum = (float4)(0, 0, 0, 0);
            for (int j = 0; j < PER_BOX; j++) {
                float r2 = here[i].w + there[j].w - (here[i].x * there[j].x + here[i].y * there[j].y + here[i].z * there[j].z);
                float vij = exp(-a2 * r2);
                float fs = 2 * vij * charge[j];
                sum.w += charge[j] * vij;
                sum.x += fs * (here[i].x - there[j].x);
                sum.y += fs * (here[i].y - there[j].y);
                sum.z += fs * (here[i].z - there[j].z);
            }
            fv[b * PER_BOX + i] += sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
""")
    side = 3 if small else 7
    count = side**3
    random = np.random.default_rng(42)
    near = np.zeros((count, 30), i32)
    for b in range(count):
        x, y, z = b % side, b // side % side, b // side**2
        others = [(z2 * side + y2) * side + x2 for z2 in range(max(z - 1, 0), min(z + 2, side))
                  for y2 in range(max(y - 1, 0), min(y + 2, side)) for x2 in range(max(x - 1, 0), min(x + 2, side))]
        others.remove(b)
        near[b, :4] = x, y, z, len(others)
        near[b, 4:4 + len(others)] = others
    rv = random.random((count, 100, 4), f32)
    qv = random.random((count, 100), f32)
    p.array("box", near)
    p.array("rv", rv)
    p.array("qv", qv)
    p.room("fv", "f32", count * 400, 0)
    box, rvs, fvs = ({"buffer": name, "reinterpret": True} for name in ("box", "rv", "fv"))
    p.wave("boxes", count * 128, 128, box, rvs, "qv", fvs, f32(0.5))

    def oracle() -> np.ndarray:
        r, q = rv.astype(np.float64), qv.astype(np.float64)
        total = np.zeros((count, 100, 4))
        for b in range(count):
            others = np.concatenate([[b], near[b, 4:4 + near[b, 3]]])
            there, charge = r[others].reshape(-1, 4), q[others].reshape(-1)
            v = np.exp(-0.5 * (r[b, :, 3, None] + there[:, 3] - r[b, :, :3] @ there[:, :3].T)) * charge
            total[b, :, 3] = v.sum(1)
            total[b, :, :3] = 2 * (v.sum(1)[:, None] * r[b, :, :3] - v @ there[:, :3])
        return total
    p.expect("fv", oracle, 1e-4)
    return p


@program
def particle_filter(small: bool) -> Program:
    """Follows an object: particles move at random, are weighed, their weights summed up by one group, and drawn again."""
    p = Program("""
#define GROUP 256

uint next_random(uint *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

__kernel void move_and_weigh(__global int *x, __global int *y, __global uint *seeds, __global uint *weights, int n, int frame) {
    int i = get_global_id(0);
    if (i >= n) return;
    uint seed = seeds[i];
    x[i] += 10 + (int)(next_random(&seed) % 41) - 20;
    y[i] += -6 + (int)(next_random(&seed) % 41) - 20;
    seeds[i] = seed;
    int dx = x[i] - 10 * (frame + 1), dy = y[i] + 6 * (frame + 1);
    weights[i] = 1 + 60000u / (1 + (uint)(dx * dx + dy * dy));
}

__kernel void sum_weights(__global const uint *weights, __global uint *ends, int n) {
    __local uint sums[GROUP];
    int l = get_local_id(0), share = (n + GROUP - 1) / GROUP;
    int first = min(l * share, n), last = min(first + share, n);
    uint sum = 0;
    for (int i = first; i < last; i++) sum += weights[i];
    sums[l] = sum;
    for (int d = 1; d < GROUP; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint before = l >= d ? sums[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[l] += before;
    }
    uint end = sums[l] - sum;
    for (int i = first; i < last; i++) {
        end += weights[i];
        ends[i] = end;
    }
}

__kernel void draw(__global const uint *ends, __global const int *x, __global const int *y, __global int *new_x,
                   __global int *new_y, int n) {
    int i = get_global_id(0);
    if (i >= n) return;
    ulong at = (ulong)ends[n - 1] * (ulong)i / (ulong)n;
    int low = 0, high = n - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (ends[middle] > at) high = middle;
        else low = middle + 1;
    }
    new_x[i] = x[low];
    new_y[i] = y[low];
}
""")
    n, frames = (1_000, 4) if small else (30_000, 20)
    seeds = np.random.default_rng(43).integers(0, 2**32, n, u32)
    p.array("seeds", seeds)
    for name in ("x", "y", "new_x", "new_y"):
        p.room(name, "i32", n, 0)
    p.room("weights", "u32", n)
    p.room("ends", "u32", n)
    groups = blocks(n, 256) * 256
    p.wave("move_and_weigh", groups, 256, "x", "y", "seeds", "weights", i32(n), stepping(i32(0), add=1))
    p.wave("sum_weights", 256, 256, "weights", "ends", i32(n))
    p.wave("draw", groups, 256, "ends", "x", "y", "new_x", "new_y", i32(n))
    p.repeat(frames, swap=[["x", "new_x"], ["y", "new_y"]])

    def followed() -> tuple[np.ndarray, np.ndarray]:
        x, y, seed = np.zeros(n, np.int64), np.zeros(n, np.int64), seeds.astype(np.uint64)
        for frame in range(frames):
            for add, where in ((10, x), (-6, y)):
                seed = (seed * np.uint64(1664525) + np.uint64(1013904223)) & np.uint64(0xffffffff)
                where += add + (seed >> np.uint64(8)).astype(np.int64) % 41 - 20
            ends = np.cumsum(1 + 60000 // (1 + (x - 10 * (frame + 1)) ** 2 + (y + 6 * (frame + 1)) ** 2))
            drawn = np.searchsorted(ends, ends[-1] * np.arange(n) // n, side="right")
            x, y = x[drawn], y[drawn]
        return x, y
    p.expect("x", lambda: followed()[0])
    p.expect("y", lambda: followed()[1])
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
