// Connected components: hook and compress.
//
// Values are the links of a disjoint-set forest: a vertex's value is a smaller vertex of its component, or
// the vertex itself at a root. One wave visits every edge and hooks the greater of the two roots under the
// smaller one. It uses a compare-and-exchange at the root and continues from the value read if that fails, so
// one visit completes an edge. An outdated link still leads to a vertex of the component. Each walk shortens
// its path. The last step points every vertex at its root, the smallest vertex of its component. The graph
// has each edge in both directions.
//
// Source: Jaiganesh, Burtscher, A High-Performance Connected Components Implementation for GPUs (HPDC 2018).

#define TG_FOUND_ONCE(at) false

uint tg_root(global uint* values, uint v) {
  uint at = v;
  uint link = values[at];
  for (uint left = 0xffffffffu; link != at && left != 0; --left) { // links decrease with every step
    const uint next = values[link];
    if (next != link) {
      atomic_min(&values[at], next); // path halving; a plain store could undo a hook
    }
    at = link;
    link = next;
  }
  return at;
}

// Unites the sets of an edge's ends.
void tg_join(const tg_job* job, uint u, uint v) {
  uint a = tg_root(job->values, u);
  uint b = tg_root(job->values, v);
  for (uint left = 0xffffffffu; a != b && left != 0; --left) {
    const uint high = max(a, b);
    const uint low = min(a, b);
    const uint seen = atomic_cmpxchg(&job->values[high], high, low);
    if (seen == high) {
      return;
    }
    a = tg_root(job->values, seen); // another work-item has hooked it
    b = low;
  }
}

void tg_finish(const tg_job* job) {
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    uint root = job->values[v];
    for (uint link = job->values[root]; link != root; link = job->values[root]) {
      root = link; // links decrease with every step, so this ends
    }
    job->values[v] = root;
  }
}
