// Rows of a graph with the greatest neighbours in front: those that most edges lead to. A vertex that pulls is done as soon as
// it meets one of the frontier, and a hub is reached before most others. The rest of a row stays as it is.
//
// The host defines TG_WIDE_OFFSETS as job.cl has it.
//
// Source: Yasui, Fujisawa, Goto, NUMA-optimized Parallel Breadth-first Search on Multicore Single-node System (Big Data 2013).

#if TG_WIDE_OFFSETS
typedef ulong tg_offset;
#else
typedef uint tg_offset;
#endif

#define TG_FRONT 4          // as many as a pull asks for at once
#define TG_LOOKS_AT 1024u   // neighbours of a row: vertices with more are hubs themselves, and seldom pull

// A work-item a row.
kernel void tidegate_hubs_first(global const tg_offset* offsets, global uint* neighbours, uint vertices) {
  const uint v = (uint)get_global_id(0);
  if (v >= vertices) {
    return;
  }
  global uint* const row = neighbours + offsets[v];
  const uint count = (uint)min(offsets[v + 1ul] - offsets[v], (tg_offset)TG_LOOKS_AT);
  uint front[TG_FRONT];      // the greatest so far, greatest first
  tg_offset size[TG_FRONT];  // edges that lead to them, and one; 0 for none
  for (uint k = 0; k < TG_FRONT; ++k) {
    front[k] = 0;
    size[k] = 0;
  }
  for (uint i = 0; i < count; ++i) {
    const uint u = row[i];
    const tg_offset edges = offsets[u + 1ul] - offsets[u] + 1;
    if (edges <= size[TG_FRONT - 1]) {
      continue;
    }
    if (i >= TG_FRONT) {
      row[i] = front[TG_FRONT - 1]; // gives way
    }
    front[TG_FRONT - 1] = u;
    size[TG_FRONT - 1] = edges;
    for (uint k = TG_FRONT - 1; k > 0; --k) {
      if (size[k] > size[k - 1]) {
        const uint other = front[k - 1];
        const tg_offset other_size = size[k - 1];
        front[k - 1] = front[k];
        size[k - 1] = size[k];
        front[k] = other;
        size[k] = other_size;
      }
    }
  }
  for (uint k = 0; k < TG_FRONT && k < count; ++k) {
    row[k] = front[k];
  }
}
