// Graph algorithms by repetition until nothing changes. Vertex i of n has the edges to (i * 5 + 1) % n and, for even
// i, to i / 2, within its part of the graph: vertices that are equal modulo `parts`.
int neighbour(int i, int k, int n, int parts) {
  const int part = i % parts, own = i / parts, size = (n - part + parts - 1) / parts;
  return (k == 0 ? (own * 5 + 1) % size : own / 2) * parts + part;
}

kernel void clear(global int* flag) { flag[0] = 0; }

#define LOAD(p) atomic_or((p), 0) // of what others change meanwhile

// Labels fall to the least one of a component.
kernel void propagate(volatile global int* labels, global int* changed, int n, int parts) {
  const int i = get_global_id(0);
  if (i >= n) return;
  for (int k = 0; k < 2; ++k) {
    const int j = neighbour(i, k, n, parts);
    const int mine = LOAD(&labels[i]), other = LOAD(&labels[j]);
    if (mine < other && atomic_min(&labels[j], mine) > mine) atomic_or(changed, 1);
    if (other < mine && atomic_min(&labels[i], other) > other) atomic_or(changed, 1);
  }
}

// One level per iteration; two vertices may mark the same one, with the same level.
kernel void expand(global int* levels, global const int* level, global int* changed, int n, int parts) {
  const int i = get_global_id(0);
  if (i >= n || LOAD(&levels[i]) != *level) return;
  for (int k = 0; k < 2; ++k)
    if (atomic_cmpxchg(&levels[neighbour(i, k, n, parts)], -1, *level + 1) == -1) *changed = 1;
}

kernel void start_at(global int* levels, int source) {
  if (levels[source] < 0) levels[source] = 0;
}

kernel void next_level(global int* level) { *level += 1; }

// All pairs of shortest paths through vertex k.
kernel void floyd_warshall(global uint* distance, const uint n, const uint k) {
  const uint i = get_global_id(1), j = get_global_id(0);
  if (i >= n || j >= n || i == k || j == k) return; // row and column k stay what they are
  const uint through = distance[i * n + k] + distance[k * n + j];
  if (through < distance[i * n + j]) distance[i * n + j] = through;
}
