"""Sorts, sums and counts."""

from __future__ import annotations

import functools

import numpy as np
from numpy import int32 as i32, uint32 as u32

from .program import Program, program


@program
def bitonic_sort(small: bool) -> Program:
    """Blocks of 512 in local memory; longer distances a launch each."""
    p = Program("""
#define BLOCK 512

void order(__local uint *a, __local uint *b, int up) {
    if ((*a > *b) == up) {
        uint t = *a; *a = *b; *b = t;
    }
}

__kernel __attribute__((reqd_work_group_size(BLOCK / 2, 1, 1)))
void sort_blocks(__global uint *data) {
    __local uint s[BLOCK];
    uint lid = get_local_id(0);
    __global uint *mine = data + get_group_id(0) * BLOCK;
    s[lid] = mine[lid];
    s[lid + BLOCK / 2] = mine[lid + BLOCK / 2];
    for (uint size = 2; size <= BLOCK; size <<= 1) {
        int up = ((get_global_id(0) & (size / 2)) == 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint pos = 2 * lid - (lid & (stride - 1));
            order(&s[pos], &s[pos + stride], up);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[lid] = s[lid];
    mine[lid + BLOCK / 2] = s[lid + BLOCK / 2];
}

__kernel void merge_far(__global uint *data, uint size, uint stride) {
    uint i = get_global_id(0);
    int up = ((i & (size / 2)) == 0);
    uint pos = 2 * i - (i & (stride - 1));
    uint a = data[pos], b = data[pos + stride];
    if ((a > b) == up) {
        data[pos] = b;
        data[pos + stride] = a;
    }
}

__kernel __attribute__((reqd_work_group_size(BLOCK / 2, 1, 1)))
void merge_near(__global uint *data, uint size) {
    __local uint s[BLOCK];
    uint lid = get_local_id(0);
    __global uint *mine = data + get_group_id(0) * BLOCK;
    int up = ((get_global_id(0) & (size / 2)) == 0);
    s[lid] = mine[lid];
    s[lid + BLOCK / 2] = mine[lid + BLOCK / 2];
    for (uint stride = BLOCK / 2; stride > 0; stride >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint pos = 2 * lid - (lid & (stride - 1));
        order(&s[pos], &s[pos + stride], up);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[lid] = s[lid];
    mine[lid + BLOCK / 2] = s[lid + BLOCK / 2];
}
""")
    n = 1 << (12 if small else 19)
    data = np.random.default_rng(22).integers(0, 2**32, n, u32)
    p.array("data", data)
    p.wave("sort_blocks", n // 2, 256, "data")
    size = 1024
    while size <= n:
        stride = size // 2
        while stride >= 512:
            p.wave("merge_far", n // 2, 256, "data", u32(size), u32(stride))
            stride //= 2
        p.wave("merge_near", n // 2, 256, "data", u32(size))
        size *= 2
    p.expect("data", lambda: np.sort(data))
    return p


@program
def reductions(small: bool) -> Program:
    """Sum, least and largest of the same numbers, three kernels and then three more over what the groups found."""
    p = Program("""
#define WG 128
#define FOLD(op) \\
    for (int s = WG / 2; s > 0; s >>= 1) { \\
        if (lid < s) scratch[lid] = op(scratch[lid], scratch[lid + s]); \\
        barrier(CLK_LOCAL_MEM_FENCE); \\
    }
#define PLUS(a, b) ((a) + (b))
#define REDUCTION(name, op, first) \\
__kernel void name(__global const int *in, __global int *out, __local int *scratch, int n) { \\
    int lid = get_local_id(0); \\
    int mine = first; \\
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine = op(mine, in[i]); \\
    scratch[lid] = mine; \\
    barrier(CLK_LOCAL_MEM_FENCE); \\
    FOLD(op) \\
    if (lid == 0) out[get_group_id(0)] = scratch[0]; \\
}
REDUCTION(sum_of, PLUS, 0)
REDUCTION(least_of, min, INT_MAX)
REDUCTION(most_of, max, INT_MIN)
""")
    n, groups = (20_000, 16) if small else (8_000_000, 512)
    numbers = np.random.default_rng(23).integers(-1000, 1000, n, i32)
    p.array("numbers", numbers)
    local = {"local_bytes": 128 * 4}
    for kernel, oracle in (("sum_of", np.sum), ("least_of", np.min), ("most_of", np.max)):
        p.room(f"{kernel}_groups", "i32", groups)
        p.room(kernel, "i32", 1, 0)
        p.wave(kernel, groups * 128, 128, "numbers", f"{kernel}_groups", local, i32(n))
        p.expect(kernel, lambda oracle=oracle: np.array([oracle(numbers)], i32))
    for kernel in ("sum_of", "least_of", "most_of"):
        p.wave(kernel, 128, 128, f"{kernel}_groups", kernel, local, i32(groups))
    return p


@program
def histogram(small: bool) -> Program:
    """Counts of bytes: bins of a group in local memory, written one row a group, and then added by columns."""
    p = Program("""
#define BINS 256
#define THREADS 64

__kernel void count(__global const uint *data, __global uint *rows, uint n) {
    __local uint bins[BINS];
    for (uint b = get_local_id(0); b < BINS; b += THREADS) bins[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        uint four = data[i];
        atomic_inc(&bins[four & 0xff]);
        atomic_inc(&bins[(four >> 8) & 0xff]);
        atomic_inc(&bins[(four >> 16) & 0xff]);
        atomic_inc(&bins[four >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < BINS; b += THREADS) rows[get_group_id(0) * BINS + b] = bins[b];
}

__kernel void add_rows(__global const uint *rows, __global uint *total, uint groups) {
    __local uint sums[THREADS];
    uint sum = 0, l = get_local_id(0);
    for (uint g = l; g < groups; g += THREADS) sum += rows[g * BINS + get_group_id(0)];
    sums[l] = sum;
    for (uint s = THREADS / 2; s; s >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < s) sums[l] += sums[l + s];
    }
    if (l == 0) total[get_group_id(0)] = sums[0];
}
""")
    n, groups = (20_000, 8) if small else (8_000_000, 400)
    data = np.random.default_rng(25).integers(0, 2**32, n, u32) & u32(0xfff7fffe)
    p.array("data", data)
    p.room("rows", "u32", groups * 256)
    p.room("total", "u32", 256, 0)
    p.wave("count", groups * 64, 64, "data", "rows", u32(n))
    p.wave("add_rows", 256 * 64, 64, "rows", "total", u32(groups))
    p.expect("total", lambda: np.bincount(data.view(np.uint8), minlength=256))
    return p


@program
def votes(small: bool) -> Program:
    """A histogram and the greatest voters with atomics on global memory, and leaders of small groups, round by round."""
    p = Program("""
kernel void vote(global const uint* voters, global uint* counts, global uint* greatest, uint bins) {
  const uint v = voters[get_global_id(0)], bin = (v >> 8) % bins;
  atomic_inc(&counts[bin]);
  atomic_max(&greatest[bin], v);
}

kernel void lead(global const uint* counts, global uint* leaders, uint each) {
  uint best = 0;
  for (uint i = 0; i < each; ++i) best = max(best, counts[get_global_id(0) * each + i]);
  leaders[get_global_id(0)] += best;
}

kernel void move_on(global uint* voters, global const uint* leaders, uint districts) {
  const size_t i = get_global_id(0);
  voters[i] = (voters[i] ^ leaders[i % districts]) * 1664525u + 1013904223u;
}
""")
    n, bins, districts, rounds = (2_048, 64, 16, 3) if small else (262_144, 4_096, 256, 20)
    voters = np.random.default_rng(27).integers(0, 2**32, n, u32)
    p.array("voters", voters)
    for name, count in (("counts", bins), ("greatest", bins), ("leaders", districts)):
        p.room(name, "u32", count, 0)
    p.wave("vote", n, 256, "voters", "counts", "greatest", u32(bins))
    p.wave("lead", districts, 8, "counts", "leaders", u32(bins // districts))
    p.wave("move_on", n, 256, "voters", "leaders", u32(districts))
    p.repeat(rounds)

    @functools.cache
    def result() -> tuple[np.ndarray, ...]:
        v, counts, greatest, leaders = voters.copy(), np.zeros(bins, u32), np.zeros(bins, u32), np.zeros(districts, u32)
        for _ in range(rounds):
            bin_ = (v >> u32(8)) % u32(bins)
            counts += np.bincount(bin_, minlength=bins).astype(u32)
            np.maximum.at(greatest, bin_, v)
            leaders += counts.reshape(districts, -1).max(1)
            v = (v ^ leaders[np.arange(n) % districts]) * u32(1664525) + u32(1013904223)
        return counts, greatest, leaders, v

    for place, name in enumerate(("counts", "greatest", "leaders", "voters")):
        p.expect(name, lambda place=place: result()[place])
    return p
