// Steps along an edge, in every topology, of algorithms that start from a frontier. If the edge improves the value of its end
// vertex, the work-item that improved it adds the vertex to the next frontier.

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

// Adds the end of an edge, with its new value, to the next frontier unless it is already in it.
TG_INLINE void tg_enter(const tg_job* job, const tg_position* at, tg_target to, tg_bits value, tg_edge edge) {
  const uint v = edge.w;
  const uint bit = 1u << (v & 31u);
  const tg_offset degree = edge.end - edge.begin;
  if (TG_PUTS_OFF && to.queue != 0 && value >= at->near) {
    if ((atomic_or(&tg_far_bits(job)[v >> 5], bit) & bit) == 0) {
      tg_far_queue(job, at->far_turn)[tg_take_place(tg_far_tail(job, at->far_turn))] = v;
      to.found->far += 1;
    }
    to.found->nearest = max(to.found->nearest, ~(uint)value);
    return;
  }
  if (to.queue != 0) {
    if (!TG_FOUND_ONCE(at) && tg_stamp(job, to, v) == to.wave) {
      return;
    }
    if (to.prefetches && degree != 0) {
      tg_prefetch(job->neighbours + edge.begin);
      if (TG_WEIGHTS) {
        tg_prefetch(job->weights + edge.begin);
      }
    }
    tg_enqueue(to, v, edge.begin, degree);
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
  tg_count_vertex(to, degree);
}

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

// Adds the sources to the first frontier: to `bitmap` and, unless memory is constrained, to the queue. Called by one work-item. A rank
// adds those that it has, and counts them later.
void tg_seed(const tg_job* job, tg_target to, global uint* bitmap) {
  for (uint i = 0; i < job->setting->source_count; ++i) {
    const uint v = job->sources[i];
    if (!tg_is_here(job, v) || !tg_give_source(job, v, i) || !tg_mark(bitmap, v) || TG_RANKS) {
      continue; // no start, or a duplicate source
    }
    if (!TG_STARTS_ANYWHERE && job->setting->constrained == 0) {
      job->stamps[v] = 0;
      tg_enqueue(to, v, job->offsets[v], tg_degree(job, v));
    }
    tg_count_vertex(to, tg_degree(job, v));
  }
}

// The first edge that a work-item visits in a wave.
typedef struct {
  tg_edge edge;
  uint4 entry;
  tg_bits value;
  bool is_there;
} tg_fetched_entry;

// Fetches what is known before the wave begins: entry `item` of `entries`, from either queue.
TG_OUTLINED tg_fetched_entry tg_fetch_entry(const tg_job* job, const tg_position* at, uint item, uint entries,
                                      global const uint4* queue, local const uint4* local_queue) {
  const uint lane = TG_LANE_OF(job) % TG_LANES;
  tg_fetched_entry fetched;
  fetched.entry = (uint4)(0);
  fetched.value = 0;
  if (item < entries) {
    fetched.entry = queue != 0 ? queue[item] : local_queue[item];
    fetched.value = tg_value(job, at, fetched.entry.x);
  }
  fetched.is_there = lane < fetched.entry.w;
  if (fetched.is_there) {
    fetched.edge = tg_fetch_edge(job, tg_first_edge(fetched.entry) + lane);
  }
  return fetched;
}

// Hands a value to the end of an edge, from vertex u.
TG_INLINE void tg_hand_over(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits candidate, tg_edge edge) {
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
  tg_enter(job, at, to, candidate, edge);
}

TG_INLINE void tg_push_fetched(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, tg_edge edge) {
  tg_hand_over(job, at, to, u, tg_along(value, edge.weight), edge);
}

// Pushes along edge e of u.
TG_INLINE void tg_push_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, ulong e) {
  if (to.eager) {
    tg_push_fetched(job, at, to, u, value, tg_fetch_edge(job, e));
    return;
  }
  tg_edge edge;
  edge.w = job->neighbours[e];
  edge.weight = tg_weight(job->weights, (tg_offset)e);
  if (!tg_better(tg_along(value, edge.weight), job->values[edge.w])) {
    return;
  }
  tg_fetch_bounds(job, &edge);
  tg_push_fetched(job, at, to, u, value, edge);
}

// The same, for loops with barriers.
TG_IN_LOOPS void tg_visit_fetched(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, tg_edge edge) {
  tg_push_fetched(job, at, to, u, value, edge);
}
TG_IN_LOOPS void tg_visit_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, tg_bits value, ulong e) {
  tg_push_edge(job, at, to, u, value, e);
}

// Pushes along a work-item's part of an entry, of which it has fetched the first edge.
TG_INLINE void tg_push_entry(const tg_job* job, const tg_position* at, tg_target to, tg_fetched_entry fetched) {
  if (fetched.is_there) {
    tg_visit_fetched(job, at, to, fetched.entry.x, fetched.value, fetched.edge);
  }
  for (uint e = TG_LANE_OF(job) % TG_LANES + TG_LANES; e < fetched.entry.w; e += TG_LANES) {
    tg_visit_edge(job, at, to, fetched.entry.x, fetched.value, tg_first_edge(fetched.entry) + e);
  }
}
