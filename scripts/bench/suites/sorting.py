"""Sorts, sums and counts: radix_sort, bitonic_sort, …"""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32, uint32 as u32

from .program import Program, blocks, program, stepping


@program
def radix_sort(small: bool) -> Program:
    """Four bits a pass: counts of each group, one group that sums them up, and a stable scatter."""
    p = Program("""
#define RADIX 16
#define GROUP 128
#define EACH 4

kernel void count_digits(global const uint* keys, global uint* counts, uint n, uint shift) {
  local uint bins[RADIX];
  const uint l = get_local_id(0), g = get_group_id(0);
  if (l < RADIX) bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < EACH; ++k) {
    const uint i = (g * GROUP + l) * EACH + k;
    if (i < n) atomic_inc(&bins[(keys[i] >> shift) & (RADIX - 1)]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < RADIX) counts[l * get_num_groups(0) + g] = bins[l];
}

kernel void sum_up(global uint* counts, uint n) {
  local uint sums[256];
  const uint l = get_local_id(0), share = (n + 255) / 256;
  const uint first = min(l * share, n), last = min(first + share, n);
  uint sum = 0;
  for (uint i = first; i < last; ++i) sum += counts[i];
  sums[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = 1; d < 256; d <<= 1) {
    const uint add = l >= d ? sums[l - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[l] += add;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  uint before = sums[l] - sum;
  for (uint i = first; i < last; ++i) {
    const uint c = counts[i];
    counts[i] = before;
    before += c;
  }
}

kernel void scatter(global const uint* keys, global uint* sorted, global const uint* counts, uint n, uint shift) {
  local ushort rank[RADIX][GROUP];
  const uint l = get_local_id(0), g = get_group_id(0);
  for (uint d = 0; d < RADIX; ++d) rank[d][l] = 0;
  uint key[EACH];
  for (uint k = 0; k < EACH; ++k) {
    const uint i = (g * GROUP + l) * EACH + k;
    key[k] = i < n ? keys[i] : 0xffffffffu;
    if (i < n) rank[(key[k] >> shift) & (RADIX - 1)][l]++;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < RADIX) {
    uint sum = 0;
    for (uint j = 0; j < GROUP; ++j) {
      const uint c = rank[l][j];
      rank[l][j] = (ushort)sum;
      sum += c;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < EACH; ++k) {
    const uint i = (g * GROUP + l) * EACH + k, d = (key[k] >> shift) & (RADIX - 1);
    if (i < n) sorted[counts[d * get_num_groups(0) + g] + rank[d][l]++] = key[k];
  }
}
""")
    n = 5_000 if small else 300_000
    keys = np.random.default_rng(21).integers(0, 2**32, n, u32)
    groups = blocks(n, 512)
    p.array("keys", keys)
    p.room("other", "u32", n, 0)
    p.room("counts", "u32", groups * 16)
    shift = stepping(u32(0), add=4)
    p.wave("count_digits", groups * 128, 128, "keys", "counts", u32(n), shift)
    p.wave("sum_up", 256, 256, "counts", u32(groups * 16))
    p.wave("scatter", groups * 128, 128, "keys", "other", "counts", u32(n), shift)
    p.repeat(8, swap=[["keys", "other"]])
    p.expect("keys", lambda: np.sort(keys))
    return p


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
