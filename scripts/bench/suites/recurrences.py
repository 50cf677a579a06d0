"""Recurrences along lines and diagonals, sweeps in colours, and networks: each step needs the one before."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32, uint32 as u32

from .program import Program, blocks, program, stepping


@program
def red_black(small: bool) -> Program:
    """Gauss-Seidel for Poisson's equation: cells of one colour in place, then the others."""
    p = Program("""
kernel void relax(global float* u, global const float* f, int n, int colour) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x > 0 && y > 0 && x < n - 1 && y < n - 1 && ((x + y) & 1) == colour) {
    const int i = y * n + x;
    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + f[i]);
  }
}
""")
    n, sweeps = (64, 20) if small else (1024, 100)
    rng = np.random.default_rng(62)
    u, f = rng.random((n, n), f32), rng.random((n, n), f32)
    p.array("u", u)
    p.array("f", f)
    for colour in (0, 1):
        p.wave("relax", (n, n), (32, 8), "u", "f", i32(n), i32(colour))
    p.repeat(sweeps)

    def oracle() -> np.ndarray:
        at = np.add.outer(np.arange(n), np.arange(n))[1:-1, 1:-1] % 2
        v = u.astype(np.float64)
        for _ in range(sweeps):
            for colour in (0, 1):
                new = 0.25 * (v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1] + f[1:-1, 1:-1])
                v[1:-1, 1:-1] = np.where(at == colour, new, v[1:-1, 1:-1])
        return v

    p.expect("u", oracle, 1e-5)
    return p


@program
def smith_waterman(small: bool) -> Program:
    """Local alignment with affine gaps, one diagonal of cells a wave, and the best score so far of each row."""
    p = Program("""
kernel void diagonal(global const char* a, global const char* b, global const int* h2, global const int* h1, global int* h,
                     global int* e, global int* f, global int* best, int n, int d) {
  const int row = get_global_id(0), column = d - row;
  if (row >= n || column < 0 || column >= n) return;
  const int up = row > 0 ? h1[row - 1] : 0, left = column > 0 ? h1[row] : 0;
  const int corner = row > 0 && column > 0 ? h2[row - 1] : 0;
  const int gap_left = max(left - 5, (column > 0 ? e[row] : -1000) - 1);
  const int gap_up = max(up - 5, (row > 0 ? f[column] : -1000) - 1);
  const int score = max(max(0, corner + (a[row] == b[column] ? 3 : -2)), max(gap_left, gap_up));
  e[row] = gap_left;
  f[column] = gap_up;
  h[row] = score;
  best[row] = max(best[row], score);
}
""")
    n = 96 if small else 4096
    rng = np.random.default_rng(63)
    a, b = rng.integers(0, 4, n, np.int8), rng.integers(0, 4, n, np.int8)
    p.array("a", a)
    p.array("b", b)
    for name in ("older", "old", "new", "gaps_left", "gaps_up", "best"):
        p.room(name, "i32", n, 0)
    p.wave("diagonal", blocks(n, 64) * 64, 64, "a", "b", "older", "old", "new", "gaps_left", "gaps_up", "best", i32(n),
           stepping(i32(0), add=1))
    p.repeat(2 * n - 1, swap=[["older", "old"], ["old", "new"]])

    def oracle() -> np.ndarray:
        rows = np.arange(n)
        older, old = np.zeros(n, np.int64), np.zeros(n, np.int64)
        left, up, best = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
        for d in range(2 * n - 1):
            r = rows[max(0, d - n + 1):min(n, d + 1)]
            c = d - r
            above, beside = np.where(r > 0, old[r - 1], 0), np.where(c > 0, old[r], 0)
            corner = np.where((r > 0) & (c > 0), older[r - 1], 0)
            gap_left = np.maximum(beside - 5, np.where(c > 0, left[r], -1000) - 1)
            gap_up = np.maximum(above - 5, np.where(r > 0, up[c], -1000) - 1)
            score = np.maximum(np.maximum(0, corner + np.where(a[r] == b[c], 3, -2)), np.maximum(gap_left, gap_up))
            new = older.copy()
            new[r], left[r], up[c] = score, gap_left, gap_up
            best[r] = np.maximum(best[r], score)
            older, old = old, new
        return best

    p.expect("best", oracle)
    return p


@program
def viterbi(small: bool) -> Program:
    """The likeliest path of a hidden Markov model, in whole numbers: all states of a step at once, then the way back."""
    p = Program("""
kernel void advance(global const int* before, global int* after, global const int* moves, global const int* emits,
                 global const int* seen, global int* from, int states, int t) {
  const int s = get_global_id(0);
  if (s >= states) return;
  int best = INT_MIN, source = 0;
  for (int k = 0; k < states; ++k) {
    const int score = before[k] + moves[k * states + s];
    if (score > best) {
      best = score;
      source = k;
    }
  }
  after[s] = best + emits[s * 16 + seen[t]];
  from[t * states + s] = source;
}

kernel void walk_back(global const int* last, global const int* from, global int* path, int states, int steps) {
  int at = 0;
  for (int s = 1; s < states; ++s) at = last[s] > last[at] ? s : at;
  for (int t = steps - 1; t >= 0; --t) {
    path[t] = at;
    at = from[t * states + at];
  }
}
""")
    states, steps = (48, 20) if small else (512, 200)
    rng = np.random.default_rng(64)
    moves, emits = rng.integers(-999, 0, (states, states), i32), rng.integers(-999, 0, (states, 16), i32)
    seen, start = rng.integers(0, 16, steps, i32), rng.integers(-999, 0, states, i32)
    for name, contents in (("before", start), ("moves", moves), ("emits", emits), ("seen", seen)):
        p.array(name, contents)
    p.room("after", "i32", states)
    p.room("from", "i32", steps * states)
    p.room("path", "i32", steps)
    p.wave("advance", blocks(states, 64) * 64, 64, "before", "after", "moves", "emits", "seen", "from", i32(states),
           stepping(i32(0), add=1))
    p.wave("walk_back", 1, 1, "before", "from", "path", i32(states), i32(steps), phase="after")
    p.repeat(steps, swap=[["before", "after"]])

    def oracle() -> np.ndarray:
        score, sources = start.astype(np.int64), []
        for t in range(steps):
            all_ = score[:, None] + moves
            sources.append(all_.argmax(0))
            score = all_.max(0) + emits[:, seen[t]]
        at, path = int(score.argmax()), []
        for source in reversed(sources):
            path.append(at)
            at = int(source[at])
        return np.array(path[::-1])

    p.expect("path", oracle)
    return p


@program
def segmented_scan(small: bool) -> Program:
    """Sums within segments: each step adds what is a power of two before, unless a segment begins between."""
    p = Program("""
kernel void scan(global const uint* sums, global const uchar* heads, global uint* next, global uchar* next_heads, uint n, uint d) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  next[i] = sums[i] + (i >= d && !heads[i] ? sums[i - d] : 0);
  next_heads[i] = i < d || heads[i] || heads[i - d];
}
""")
    n = 5000 if small else 1 << 20
    rng = np.random.default_rng(66)
    values, heads = rng.integers(0, 1000, n, u32), (rng.random(n) < 0.003).astype(np.uint8)
    p.array("sums", values)
    p.array("heads", heads)
    p.room("next", "u32", n)
    p.room("next_heads", "u8", n)
    p.wave("scan", blocks(n, 256) * 256, 256, "sums", "heads", "next", "next_heads", u32(n), stepping(u32(1), multiply=2))
    p.repeat(int(n - 1).bit_length(), swap=[["sums", "next"], ["heads", "next_heads"]])

    def oracle() -> np.ndarray:
        total = np.cumsum(values, dtype=np.uint64)
        begin = np.maximum.accumulate(np.where(heads == 1, np.arange(n), 0))
        return (total - np.where(begin > 0, total[begin - 1], 0)).astype(u32)

    p.expect("sums", oracle)
    return p


@program
def odd_even_merge(small: bool) -> Program:
    """Batcher's network: a wave for each of its layers, which compares keys at one distance."""
    p = Program("""
kernel void layer(global uint* keys, uint n, uint run, uint distance) {
  const uint i = get_global_id(0), first = distance % run + i / distance * 2 * distance + i % distance;
  const uint second = first + distance;
  if (second < n && first / (2 * run) == second / (2 * run)) {
    const uint a = keys[first], b = keys[second];
    keys[first] = min(a, b);
    keys[second] = max(a, b);
  }
}
""")
    n = 256 if small else 1 << 16
    keys = np.random.default_rng(68).integers(0, 2**32, n, u32)
    p.array("keys", keys)
    run = 1
    while run < n:
        distance = run
        while distance:
            p.wave("layer", n // 2, 64, "keys", u32(n), u32(run), u32(distance))
            distance //= 2
        run *= 2
    p.expect("keys", lambda: np.sort(keys))
    return p
