"""Sorts, sums, counts and clusters."""

from __future__ import annotations

import functools

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
def prefix_sum(small: bool) -> Program:
    """Exclusive sums: within blocks of 512 as a tree, over the blocks' sums twice, then added."""
    p = Program("""
#define N 512

__kernel void scan_blocks(__global const int *in, __global int *out, __global int *sums, int n) {
    __local int t[N];
    int thid = get_local_id(0), first = get_group_id(0) * N;
    int a = first + 2 * thid, b = a + 1, offset = 1;
    t[2 * thid] = a < n ? in[a] : 0;
    t[2 * thid + 1] = b < n ? in[b] : 0;
    for (int d = N >> 1; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) t[offset * (2 * thid + 2) - 1] += t[offset * (2 * thid + 1) - 1];
        offset *= 2;
    }
    if (thid == 0) {
        sums[get_group_id(0)] = t[N - 1];
        t[N - 1] = 0;
    }
    for (int d = 1; d < N; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thid < d) {
            int l = offset * (2 * thid + 1) - 1, r = offset * (2 * thid + 2) - 1;
            int v = t[l];
            t[l] = t[r];
            t[r] += v;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (a < n) out[a] = t[2 * thid];
    if (b < n) out[b] = t[2 * thid + 1];
}

__kernel void add_sums(__global int *out, __global const int *sums, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] += sums[i / N];
}
""")
    n = 10_000 if small else 2_000_000
    numbers = np.random.default_rng(24).integers(0, 100, n, i32)
    p.array("numbers", numbers)
    p.room("sums", "i32", n, 0)
    level1, level2 = blocks(n, 512), blocks(blocks(n, 512), 512)
    for name, count in (("sums1", level1), ("scanned1", level1), ("sums2", level2), ("scanned2", level2), ("total", 1)):
        p.room(name, "i32", count)
    p.wave("scan_blocks", level1 * 256, 256, "numbers", "sums", "sums1", i32(n))
    p.wave("scan_blocks", level2 * 256, 256, "sums1", "scanned1", "sums2", i32(level1))
    p.wave("scan_blocks", 256, 256, "sums2", "scanned2", "total", i32(level2))
    p.wave("add_sums", blocks(level1, 256) * 256, 256, "scanned1", "scanned2", i32(level1))
    p.wave("add_sums", blocks(n, 256) * 256, 256, "sums", "scanned1", i32(n))
    p.expect("sums", lambda: np.cumsum(numbers) - numbers)
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


@program
def kmeans(small: bool) -> Program:
    """Clusters of points until no point changes its own: nearest centres, sums with atomics, new centres."""
    p = Program("""
__kernel void nearest(__global const int *points, __global const int *centres, __global int *member, __global int *changed,
                      int n, int features, int clusters) {
    int i = get_global_id(0);
    if (i >= n) return;
    int best = 0, least = INT_MAX;
    for (int c = 0; c < clusters; c++) {
        int distance = 0;
        for (int f = 0; f < features; f++) {
            int d = points[f * n + i] - centres[c * features + f];
            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    if (member[i] != best) {
        member[i] = best;
        atomic_inc(changed);
    }
}

__kernel void add_up(__global const int *points, __global const int *member, __global int *sums, __global int *counts, int n,
                     int features) {
    int i = get_global_id(0);
    if (i < n) {
        int c = member[i];
        atomic_inc(&counts[c]);
        for (int f = 0; f < features; f++) atomic_add(&sums[c * features + f], points[f * n + i]);
    }
}

__kernel void new_centres(__global int *sums, __global int *counts, __global int *centres, int features) {
    int c = get_group_id(0), f = get_local_id(0);
    int count = counts[c];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (f < features) {
        if (count > 0) centres[c * features + f] = sums[c * features + f] / count;
        sums[c * features + f] = 0;
    }
    if (f == 0) counts[c] = 0;
}
""")
    n, features, clusters = (2_000, 4, 5) if small else (30_000, 8, 12)
    random = np.random.default_rng(26)
    middles = random.integers(0, 1000, (clusters, features))
    points = (middles[random.integers(0, clusters, n)] + random.integers(-150, 150, (n, features))).astype(i32)
    start = points[:clusters]
    p.array("points", points.T)
    p.array("centres", start)
    p.room("member", "i32", n, -1)
    p.room("sums", "i32", clusters * features, 0)
    p.room("counts", "i32", clusters, 0)
    p.room("changed", "i32", 1, 0)
    groups = blocks(n, 256) * 256
    p.document["waves"].append({"fill": {"buffer": "changed"}})
    p.wave("nearest", groups, 256, "points", "centres", "member", "changed", i32(n), i32(features), i32(clusters))
    p.wave("add_up", groups, 256, "points", "member", "sums", "counts", i32(n), i32(features))
    p.wave("new_centres", clusters * 32, 32, "sums", "counts", "centres", i32(features))
    p.document["until"] = {"buffer": "changed", "equals": 0}

    def oracle() -> np.ndarray:
        centres, member = start.astype(np.int64), None
        while True:
            now = ((points[:, None] - centres[None]) ** 2).sum(2).argmin(1)
            sums = np.stack([np.bincount(now, points[:, f], clusters) for f in range(features)], axis=1)
            counts = np.bincount(now, minlength=clusters)[:, None]
            centres = np.where(counts > 0, np.trunc(sums / np.maximum(counts, 1)), centres).astype(np.int64)
            if member is not None and (now == member).all():
                return now
            member = now
    p.expect("member", oracle)
    return p
