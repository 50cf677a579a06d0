// Changes of rows in device memory before a traversal. The first puts the neighbours of highest degree in front: a pull stops at
// the first neighbour in the frontier, and hubs are reached before most other vertices. The rest of a row keeps its order.
//
// The host defines tg_offset as for job.cl.
//
// Source: Yasui, Fujisawa, Goto, NUMA-optimized Parallel Breadth-first Search on Multicore Single-node System (Big Data 2013).

#define TG_FRONT 4          // as many as a pull fetches at once
#define TG_LOOKS_AT 1024u   // inspected neighbours; longer rows belong to hubs, which seldom pull

// One work-item per row.
kernel void tidegate_hubs_first(global const tg_offset* offsets, global uint* neighbours, uint vertices) {
  const uint v = (uint)get_global_id(0);
  if (v >= vertices) {
    return;
  }
  global uint* const row = neighbours + offsets[v];
  const uint count = (uint)min(offsets[v + 1ul] - offsets[v], (tg_offset)TG_LOOKS_AT);
  uint front[TG_FRONT] = {0};     // highest degrees so far, in descending order
  tg_offset size[TG_FRONT] = {0}; // degree plus 1; 0 for none
  for (uint i = 0; i < count; ++i) {
    const uint u = row[i];
    const tg_offset edges = offsets[u + 1ul] - offsets[u] + 1;
    if (edges <= size[TG_FRONT - 1]) {
      continue;
    }
    if (i >= TG_FRONT) {
      row[i] = front[TG_FRONT - 1]; // moves out of the front
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

// Names neighbours by their seats (pagerank.cl). One work-item per edge.
kernel void tidegate_name_by_seat(global uint* neighbours, ulong edges, global const uint* seats) {
  const ulong e = get_global_id(0);
  if (e < edges) {
    neighbours[e] = seats[neighbours[e]];
  }
}
