// Pushes: how an edge is relaxed in every topology that pushes, from queues (sparse and hybrid) and from bitmaps (memory-constrained,
// without queues and transpose), each as the part of one work-group. If an edge improves the value of its end vertex, the work-item
// that improved it adds the vertex to the next frontier. Nothing here has barriers; the caller lets all groups meet afterwards.

#if !TG_FROM_ALL
#if !TG_RANKS
#define tg_is_here(job, v) true // a rank has the rows of some vertices
#define tg_send(job, to, v)
#endif
#ifndef TG_STARTS
#define TG_STARTS(before, after) true // a vertex whose value has improved enters the next frontier
#endif

// Improves a vertex's value; returns the previous value.
TG_INLINE tg_bits tg_improve(const tg_job* job, tg_target to, uint v, tg_bits candidate) {
  if (!tg_undisturbed(to)) {
    return tg_merge(&job->values[v], candidate);
  }
  const tg_bits before = job->values[v];
  if (tg_better(candidate, before)) {
    job->values[v] = tg_merged(candidate, before);
  }
  return before;
}

// Stamps a vertex with the wave that it is queued for; returns the previous stamp.
TG_INLINE uint tg_stamp(const tg_job* job, tg_target to, uint v) {
  if (!tg_undisturbed(to)) {
    return atomic_xchg(&job->stamps[v], to.wave);
  }
  const uint before = job->stamps[v];
  job->stamps[v] = to.wave;
  return before;
}

// Adds a vertex to the next frontier unless it is already in it.
TG_INLINE void tg_enter(const tg_job* job, const tg_position* at, tg_target to, uint v, tg_bits value, tg_offset begin,
              tg_offset degree, tg_found* found) {
  const uint bit = 1u << (v & 31u);
  if (TG_PUTS_OFF && to.queue != 0 && value >= at->near) {
    if ((atomic_or(&tg_far_bits(job)[v >> 5], bit) & bit) == 0) {
      tg_far_queue(job, at->far_turn)[tg_take_place(tg_far_tail(job, at->far_turn))] = v;
      found->far += 1;
    }
    found->nearest = max(found->nearest, ~(uint)value);
    return;
  }
  if (to.queue != 0) {
    if (!TG_FOUND_ONCE(at) && tg_stamp(job, to, v) == to.wave) {
      return;
    }
    if (to.prefetches && degree != 0) {
      tg_prefetch(job->neighbours + begin);
#if TG_WEIGHTS
      tg_prefetch(job->weights + begin);
#endif
    }
    tg_enqueue(to, v, begin, degree);
    if (to.bitmap != 0) {
      atomic_or(&to.bitmap[v >> 5], bit);
    }
  } else if ((atomic_or(&to.bitmap[v >> 5], bit) & bit) != 0) {
    return;
  }
  if (!tg_is_here(job, v)) {
    tg_send(job, to, v);
    return;
  }
  found->vertices += 1;
  found->edges += degree;
}

// The data of an edge: its end vertex, the bounds of that vertex's row, and the weight.
typedef struct {
  tg_offset begin;
  tg_offset end;
  uint w;
  uint weight;
} tg_edge;

void tg_fetch_bounds(const tg_job* job, tg_edge* edge) {
  const bool here = tg_is_here(job, edge->w);
  edge->begin = here ? job->offsets[edge->w] : 0;
  edge->end = here ? job->offsets[edge->w + 1ul] : 0;
}

tg_edge tg_fetch_edge(const tg_job* job, ulong e) {
  tg_edge edge;
  edge.w = job->neighbours[e];
  edge.weight = tg_weight(job->weights, (tg_offset)e);
  tg_fetch_bounds(job, &edge);
  return edge;
}

// The first edge that a work-item visits in a wave.
typedef struct {
  tg_edge edge;
  uint4 entry;
  tg_bits value;
  bool is_there;
} tg_errand;

// Fetches what is known before the wave begins: entry `item` of `entries`, from either queue.
TG_OUTLINED tg_errand tg_first_errand(const tg_job* job, const tg_position* at, uint item, uint entries, global const uint4* queue,
                          local const uint4* local_queue) {
  const uint lane = TG_LANE_OF(job) % TG_LANES;
  tg_errand errand;
  errand.entry = (uint4)(0);
  errand.value = 0;
  if (item < entries) {
    errand.entry = queue != 0 ? queue[item] : local_queue[item];
    errand.value = tg_value(job, at, errand.entry.x);
  }
  errand.is_there = lane < errand.entry.w;
  if (errand.is_there) {
    errand.edge = tg_fetch_edge(job, tg_first_edge(errand.entry) + lane);
  }
  return errand;
}

// Hands a value to the end of an edge, from vertex u.
TG_INLINE void tg_hand_over(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits candidate, tg_edge edge,
                            tg_found* found) {
  const tg_bits before = tg_improve(job, to, edge.w, candidate);
  if (!tg_better(candidate, before)) {
    return;
  }
  if (tg_is_here(job, edge.w) && !TG_STARTS(before, tg_merged(candidate, before))) {
    return;
  }
  if (TG_FOUND_ONCE(at)) {
    tg_came_from(job, edge.w, u);
  }
  tg_enter(job, at, to, edge.w, candidate, edge.begin, edge.end - edge.begin, found);
}

TG_INLINE void tg_push_fetched(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, tg_edge edge,
                               tg_found* found) {
  tg_hand_over(job, at, to, u, tg_along(value, edge.weight), edge, found);
}

// Pushes along edge e of u. With `eager`, fetches everything that may be needed at once: if few edges are in
// flight, latency dominates.
TG_INLINE void tg_push_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, ulong e, bool eager,
                            tg_found* found) {
  if (eager) {
    tg_push_fetched(job, at, to, u, value, tg_fetch_edge(job, e), found);
    return;
  }
  tg_edge edge;
  edge.w = job->neighbours[e];
  edge.weight = tg_weight(job->weights, (tg_offset)e);
  if (!tg_better(tg_along(value, edge.weight), job->values[edge.w])) {
    return;
  }
  tg_fetch_bounds(job, &edge);
  tg_push_fetched(job, at, to, u, value, edge, found);
}

// The same, for loops with barriers.
#if TG_OUTLINES
__attribute__((noinline)) void tg_visit_fetched(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, tg_edge edge,
                                                tg_found* found) {
  tg_push_fetched(job, at, to, u, value, edge, found);
}
__attribute__((noinline)) void tg_visit_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, ulong e,
                                             bool eager, tg_found* found) {
  tg_push_edge(job, at, to, u, value, e, eager, found);
}
#else
#define tg_visit_fetched tg_push_fetched
#define tg_visit_edge tg_push_edge
#endif

// Pushes along a work-item's part of an entry, of which it has fetched the first edge.
TG_INLINE void tg_run_errand(const tg_job* job, const tg_position* at, tg_target to, tg_errand errand, bool eager, tg_found* found) {
  if (errand.is_there) {
    tg_visit_fetched(job, at, to, errand.entry.x, errand.value, errand.edge, found);
  }
  for (uint e = TG_LANE_OF(job) % TG_LANES + TG_LANES; e < errand.entry.w; e += TG_LANES) {
    tg_visit_edge(job, at, to, errand.entry.x, errand.value, tg_first_edge(errand.entry) + e, eager, found);
  }
}
#endif

// Pushes along the edges of a run; work-item `lane` of `width` takes every width-th edge.
TG_INLINE void tg_push_run(const tg_job* job, const tg_position* at, tg_target to, uint4 run, uint lane, uint width,
                           bool eager, tg_found* found) {
  const ulong first = tg_first_edge(run);
  const tg_bits value = tg_value(job, at, run.x);
  for (uint e = lane; e < run.w; e += width) {
    tg_push_edge(job, at, to, run.x, value, first + e, eager, found);
  }
}

// Sparse: few work-items share a run. Hybrid: a warp does if runs are long enough to occupy most of it, and
// the bitmap is written too. A whole group takes a long run.
TG_OUTLINED void tg_push_queue(const tg_job* job, const tg_position* at, tg_target to, bool eager, tg_found* found) {
  for (uint i = job->group; i < at->long_runs; i += job->groups) {
    tg_push_run(job, at, to, tg_long_run(job, at->wave, i), TG_LANE_OF(job), TG_GROUP_SIZE, false, found);
  }
  const bool wide = at->topology == TG_HYBRID && 4 * at->frontier_edges >= (ulong)TG_WIDE * at->entries;
  const uint width = wide ? TG_WIDE : TG_LANES;
  global const uint4* const queue = tg_queue_of(job, at->wave);
  const uint lane = TG_LANE_OF(job) % width;
  TG_EACH_ITEM(job, i, at->entries, width) {
    tg_push_run(job, at, to, queue[i], lane, width, eager, found);
  }
}

// Pushes from the vertices of a bitmap.
TG_OUTLINED void tg_push_bitmap(const tg_job* job, const tg_position* at, global const uint* bitmap, tg_target to, tg_found* found) {
  const uint lane = TG_LANE_OF(job) % TG_WIDTH;
  TG_EACH_ITEM(job, word, job->words, TG_WIDTH) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint u = word * 32 + tg_lowest(bits);
      const tg_offset end = job->offsets[u + 1ul];
      const tg_bits value = tg_value(job, at, u);
      for (tg_offset e = job->offsets[u] + lane; e < end; e += TG_WIDTH) {
        tg_push_edge(job, at, to, u, value, e, false, found);
      }
    }
  }
}

// `to` is the queue of this wave.
TG_OUTLINED void tg_to_queue(const tg_job* job, const tg_position* at, tg_target to, tg_found* found) {
  global const uint* const bitmap = tg_bitmap_of(job, at->wave);
  TG_EACH_ITEM(job, word, job->words, 1) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint v = word * 32 + tg_lowest(bits);
      tg_enter(job, at, to, v, job->values[v], job->offsets[v], tg_degree(job, v), found);
    }
  }
}
