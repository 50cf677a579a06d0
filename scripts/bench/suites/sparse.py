"""Graphs, meshes and sparse matrices."""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32, int32 as i32

from .program import Program, blocks, program


def grid_graph(width: int, height: int, keep: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A grid in which some roads are closed, as rows (starts, neighbours)."""
    at = np.arange(width * height).reshape(height, width)
    pairs = np.concatenate([np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()]),
                            np.stack([at[:-1].ravel(), at[1:].ravel()])], axis=1)
    pairs = pairs[:, np.random.default_rng(seed).random(pairs.shape[1]) < keep]
    return rows_of(np.concatenate([pairs[0], pairs[1]]), np.concatenate([pairs[1], pairs[0]]), width * height)


def rows_of(source: np.ndarray, target: np.ndarray, vertices: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(source, kind="stable")
    starts = np.zeros(vertices + 1, i32)
    np.cumsum(np.bincount(source, minlength=vertices), out=starts[1:])
    return starts, target[order].astype(i32)


BFS = """
typedef struct { int first; int count; } Node;

__kernel void expand(__global const Node *nodes, __global const int *edges, __global char *mask, __global char *updating,
                     __global const char *visited, __global int *cost, int n)
{
    int tid = get_global_id(0);
    if (tid < n && mask[tid]) {
        mask[tid] = 0;
        for (int i = nodes[tid].first; i < nodes[tid].first + nodes[tid].count; i++) {
            int id = edges[i];
            if (!visited[id]) {
                cost[id] = cost[tid] + 1;
                updating[id] = 1;
            }
        }
    }
}

__kernel void settle(__global char *mask, __global char *updating, __global char *visited, __global int *more, int n)
{
    int tid = get_global_id(0);
    if (tid < n && updating[tid]) {
        mask[tid] = 1;
        visited[tid] = 1;
        *more = 1;
        updating[tid] = 0;
    }
}
"""


def breadth_first(starts: np.ndarray, edges: np.ndarray) -> Program:
    p = Program(BFS)
    n = len(starts) - 1
    p.array("nodes", np.stack([starts[:-1], np.diff(starts)], axis=1).astype(i32))
    p.array("edges", edges)
    first = np.zeros(n, np.int8)
    first[0] = 1
    p.array("mask", first)
    p.array("visited", first)
    p.room("updating", "i8", n, 0)
    cost = np.full(n, -1, i32)
    cost[0] = 0
    p.array("cost", cost)
    p.room("more", "i32", 1, 0)
    groups = blocks(n, 256) * 256
    p.document["waves"].append({"fill": {"buffer": "more"}})
    p.wave("expand", groups, 256, {"buffer": "nodes", "reinterpret": True}, "edges", "mask", "updating", "visited", "cost", i32(n))
    p.wave("settle", groups, 256, "mask", "updating", "visited", "more", i32(n))
    p.document["until"] = {"buffer": "more", "equals": 0}

    def oracle() -> np.ndarray:
        want = np.full(n, -1, i32)
        want[0] = level = 0
        front = np.array([0])
        degrees = np.diff(starts)
        while len(front):
            level += 1
            count = degrees[front]
            ends = np.cumsum(count)
            near = edges[np.arange(count.sum()) - np.repeat(ends - count, count) + np.repeat(starts[front], count)]
            front = np.unique(near[want[near] < 0])
            want[front] = level
        return want
    p.expect("cost", oracle)
    return p


@program
def bfs_road(small: bool) -> Program:
    """Levels of a grid with closed roads: many and small."""
    return breadth_first(*(grid_graph(12, 40, 0.9, 32) if small else grid_graph(100, 800, 0.9, 32)))


@program
def conjugate_gradient(small: bool) -> Program:
    """Solves a sparse symmetric system: rows of CSR, two dot products in two levels each, three updates of vectors."""
    p = Program("""
#define WG 256

kernel void csr_times(global const float* values, global const int* columns, global const int* rows, global const float* x,
                      global float* y, int n) {
  const int row = get_global_id(0);
  if (row < n) {
    float dot = 0.0f;
    const int end = rows[row + 1];
    for (int i = rows[row]; i < end; ++i) dot += values[i] * x[columns[i]];
    y[row] = dot;
  }
}

kernel void dot_groups(global const float* a, global const float* b, global float* partial, int n) {
  local float sums[WG];
  const int l = get_local_id(0);
  float sum = 0.0f;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += a[i] * b[i];
  sums[l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = WG / 2; s > 0; s >>= 1) {
    if (l < s) sums[l] += sums[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) partial[get_group_id(0)] = sums[0];
}

kernel void dot_total(global const float* partial, global float* total, int groups) {
  local float sums[WG];
  const int l = get_local_id(0);
  sums[l] = l < groups ? partial[l] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = WG / 2; s > 0; s >>= 1) {
    if (l < s) sums[l] += sums[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) {
    total[1] = total[0];
    total[0] = sums[0];
  }
}

kernel void step_along(global float* x, global float* r, global const float* d, global const float* q, global const float* rr,
                       global const float* dq, int n) {
  const int i = get_global_id(0);
  if (i < n) {
    const float alpha = rr[0] / dq[0];
    x[i] += alpha * d[i];
    r[i] -= alpha * q[i];
  }
}

kernel void new_direction(global float* d, global const float* r, global const float* rr, int n) {
  const int i = get_global_id(0);
  if (i < n) d[i] = r[i] + rr[0] / rr[1] * d[i];
}
""")
    width, height, steps = (20, 30, 5) if small else (400, 400, 50)
    n = width * height
    starts, columns = grid_graph(width, height, 1.1, 34)
    source = np.repeat(np.arange(n), np.diff(starts))
    random = np.random.default_rng(35)
    rows, columns = rows_of(np.concatenate([source, np.arange(n)]), np.concatenate([columns, np.arange(n)]), n)
    source = np.repeat(np.arange(n), np.diff(rows))
    values = np.where(columns == source, 4.5, -1.0).astype(f32)
    right = random.random(n, f32)
    for name, contents in (("values", values), ("columns", columns), ("rows", rows), ("r", right), ("d", right)):
        p.array(name, contents)
    p.room("x", "f32", n, 0)
    p.room("q", "f32", n)
    groups = min(blocks(n, 256), 128)
    p.room("partial", "f32", groups)
    p.array("rr", np.array([np.dot(right, right), 0], f32))
    p.room("dq", "f32", 2, 0)
    all_ = blocks(n, 256) * 256
    p.wave("csr_times", all_, 256, "values", "columns", "rows", "d", "q", i32(n))
    p.wave("dot_groups", groups * 256, 256, "d", "q", "partial", i32(n))
    p.wave("dot_total", 256, 256, "partial", "dq", i32(groups))
    p.wave("step_along", all_, 256, "x", "r", "d", "q", "rr", "dq", i32(n))
    p.wave("dot_groups", groups * 256, 256, "r", "r", "partial", i32(n))
    p.wave("dot_total", 256, 256, "partial", "rr", i32(groups))
    p.wave("new_direction", all_, 256, "d", "r", "rr", i32(n))
    p.repeat(steps)

    def oracle() -> np.ndarray:
        times = lambda v: np.bincount(source, values * v[columns], n)
        x, r = np.zeros(n), right.astype(np.float64)
        d, rr = r, r @ r
        for _ in range(steps):
            q = times(d)
            alpha = rr / (d @ q)
            x, r = x + alpha * d, r - alpha * q
            rr, before = r @ r, rr
            d = r + rr / before * d
        return x
    p.expect("x", oracle, 1e-3)
    return p


@program
def components(small: bool) -> Program:
    """Connected components: the least number spreads over edges by atomics, and pointers are followed, until nothing changes."""
    p = Program("""
kernel void hook(global const int2* edges, global int* label, global int* again, int count) {
  const int e = get_global_id(0);
  if (e >= count) return;
  const int a = label[edges[e].x], b = label[edges[e].y];
  if (a == b) return;
  const int low = min(a, b), high = max(a, b);
  if (atomic_min(&label[high], low) > low) *again = 1;
}

kernel void jump(global int* label, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  int l = label[i];
  while (label[l] != l) l = label[l];
  label[i] = l;
}
""")
    width, height = (30, 40) if small else (300, 400)
    n = width * height
    starts, targets = grid_graph(width, height, 0.5, 37)
    sources = np.repeat(np.arange(n, dtype=i32), np.diff(starts))
    p.array("edges", np.stack([sources, targets], axis=1))
    p.array("label", np.arange(n, dtype=i32))
    p.room("again", "i32", 1, 0)
    count = len(targets)
    p.document["waves"].append({"fill": {"buffer": "again"}})
    p.wave("hook", blocks(count, 256) * 256, 256, {"buffer": "edges", "reinterpret": True}, "label", "again", i32(count))
    p.wave("jump", blocks(n, 256) * 256, 256, "label", i32(n))
    p.document["until"] = {"buffer": "again", "equals": 0}

    def oracle() -> np.ndarray:
        label = np.arange(n)
        while True:
            now = label.copy()
            np.minimum.at(now, sources, label[targets])
            now = np.minimum(now, now[now])
            if (now == label).all():
                return label
            label = now
    p.expect("label", oracle)
    return p
