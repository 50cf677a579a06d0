// The steps that a traversal is made of, each the part of it that one work-group does. None of them holds a barrier: they
// end, and the caller lets all groups meet.
//
//   tg_push_queue     sparse and hybrid: entries of the queue, several work-items each
//   tg_push_bitmap    memory-constrained: bits of the bitmap; no queue, no transpose
//   tg_pull           dense: vertices look for a neighbour in the frontier
//   tg_pull_in_place  fused: several times in a row, using what has just been found
//   tg_to_bitmap, tg_to_queue, tg_refill   a frontier in another form

uint tg_weight(global const uint* weights, tg_offset e) {
#if TG_WEIGHTS
  return weights[e];
#elif TG_FLOATS
  return as_uint(1.0f);
#else
  return 1;
#endif
}

// Vertices of a frontier, by their words: work-item `lane` of TG_WIDTH that share a word has every TG_WIDTH-th of its bits.
typedef struct {
  uint word;
  uint bit;
} tg_walk;

TG_INLINE tg_walk tg_begin_walk(const tg_job* job) {
  tg_walk walk;
  walk.word = tg_first_item(job, TG_WIDTH);
  walk.bit = (uint)get_local_id(0) % TG_WIDTH;
  return walk;
}

TG_INLINE void tg_go_on(const tg_job* job, tg_walk* walk) {
  walk->bit += TG_WIDTH;
  if (walk->bit >= 32) {
    walk->bit %= 32;
    walk->word = tg_next_item(job, walk->word, TG_WIDTH);
  }
}

#if TG_ALGORITHM != TG_PAGERANK
#if TG_ALGORITHM != TG_CC
// Gives a vertex a better value; what it had before.
TG_INLINE uint tg_improve(const tg_job* job, tg_target to, uint v, uint candidate) {
  if (!tg_undisturbed(to)) {
    return tg_merge(&job->values[v], candidate);
  }
  const uint before = job->values[v];
  if (tg_better(candidate, before)) {
    job->values[v] = tg_merged(candidate, before);
  }
  return before;
}
#endif

// The wave that a vertex was queued for last; from now on it is this one.
TG_INLINE uint tg_stamp(const tg_job* job, tg_target to, uint v) {
  if (!tg_undisturbed(to)) {
    return atomic_xchg(&job->stamps[v], to.wave);
  }
  const uint before = job->stamps[v];
  job->stamps[v] = to.wave;
  return before;
}

// A vertex of the next frontier, unless it is in there already.
TG_INLINE void tg_enter(const tg_job* job, const tg_position* at, tg_target to, uint v, uint value, tg_offset begin,
              tg_offset degree, tg_found* found) {
  const uint bit = 1u << (v & 31u);
#if TG_ALGORITHM == TG_SSSP
  if (to.queue != 0 && value >= at->near) {
    if ((atomic_or(&tg_far_bits(job)[v >> 5], bit) & bit) == 0) {
      tg_far_queue(job, at->far_turn)[tg_take_place(tg_far_tail(job, at->far_turn))] = v;
      found->far += 1;
    }
    found->nearest = max(found->nearest, ~value);
    return;
  }
#endif
  if (to.queue != 0) {
    if (!TG_FOUND_ONCE(at) && tg_stamp(job, to, v) == to.wave) {
      return;
    }
    tg_enqueue(to, v, begin, degree);
    if (to.bitmap != 0) {
      atomic_or(&to.bitmap[v >> 5], bit);
    }
  } else if ((atomic_or(&to.bitmap[v >> 5], bit) & bit) != 0) {
    return;
  }
  found->vertices += 1;
  found->edges += degree;
}

#if TG_ALGORITHM != TG_CC
// What has to be fetched of an edge: the vertex that it leads to, its row, and the weight.
typedef struct {
  tg_offset begin;
  tg_offset end;
  uint w;
  uint weight;
} tg_edge;

tg_edge tg_fetch_edge(const tg_job* job, ulong e) {
  tg_edge edge;
  edge.w = job->neighbours[e];
  edge.weight = tg_weight(job->weights, (tg_offset)e);
  edge.begin = job->offsets[edge.w];
  edge.end = job->offsets[edge.w + 1ul];
  return edge;
}

TG_INLINE void tg_push_fetched(const tg_job* job, const tg_position* at, tg_target to, uint u, uint value, tg_edge edge,
                     tg_found* found) {
  const uint candidate = tg_along(value, edge.weight);
  if (!tg_better(candidate, tg_improve(job, to, edge.w, candidate))) {
    return;
  }
  if (TG_FOUND_ONCE(at)) {
    tg_came_from(job, edge.w, u);
  }
  tg_enter(job, at, to, edge.w, candidate, edge.begin, edge.end - edge.begin, found);
}
#endif

// Along edge e of u. Eagerly: where few edges are under way, what may be needed is asked for at once, as waiting is what
// costs.
TG_INLINE void tg_push_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, uint value, ulong e, bool eager,
                  tg_found* found) {
#if TG_ALGORITHM == TG_CC
  const uint w = job->neighbours[e];
  if (w < u) { // its opposite is there as well
    tg_join(job, u, w);
  }
#else
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
  edge.begin = job->offsets[edge.w];
  edge.end = job->offsets[edge.w + 1ul];
  tg_push_fetched(job, at, to, u, value, edge, found);
#endif
}

#if TG_ALGORITHM == TG_CC
// Every vertex joins its neighbours: those in the frontier, or with `frontier` 0 all.
void tg_pull_labels(const tg_job* job, global const uint* frontier, tg_found* found) {
  for (tg_walk walk = tg_begin_walk(job); walk.word < job->words; tg_go_on(job, &walk)) {
    const uint v = walk.word * 32 + walk.bit;
    if (v >= job->vertices) {
      continue;
    }
    const tg_offset end = job->in_offsets[v + 1ul];
    for (tg_offset e = job->in_offsets[v]; e < end; ++e) {
      const uint u = job->in_neighbours[e];
      if (u < v && (frontier == 0 || (frontier[u >> 5] >> (u & 31u) & 1u) != 0)) {
        tg_join(job, u, v);
      }
    }
    found->scanned += end - job->in_offsets[v];
  }
}
#endif

#if TG_ALGORITHM != TG_PAGERANK && TG_ALGORITHM != TG_CC
#if TG_GROUP_SIZE == 1
// A core of a CPU waits for many loads at once as long as it has nothing to guess: what decides is asked for all vertices of
// a word, or all edges of a block, and kept as bits before anything is done about any of them.

// The vertices of a word that have something to look for and somewhere to look.
TG_INLINE uint tg_seekers(const tg_job* job, const tg_position* at, const tg_setting* setting, uint word) {
  global const uint* const values = job->values + word * 32ul;
  global const tg_offset* const begins = job->in_offsets + word * 32ul;
  const uint count = min(job->vertices - word * 32, 32u);
  uint seekers = 0;
  for (uint i = 0; i < count; ++i) {
    seekers |= ((tg_settled(at, setting, values[i]) ? 0u : 1u) & (begins[i] != begins[i + 1] ? 1u : 0u)) << i;
  }
  return seekers;
}

// Those whose first neighbour is in the frontier.
TG_INLINE uint tg_lucky(const tg_job* job, global const uint* frontier, uint word, uint seekers) {
  global const tg_offset* const begins = job->in_offsets + word * 32ul;
  global const uint* const neighbours = job->in_neighbours;
  uint lucky = 0;
  for (uint left = seekers; left != 0; left &= left - 1) {
    const uint i = 31 - clz(left & (0u - left));
    const uint u = neighbours[begins[i]];
    lucky |= (frontier[u >> 5] >> (u & 31u) & 1u) << i;
  }
  return lucky;
}

// Every vertex looks for neighbours in the frontier, or with `frontier` 0 for any that has something for it: word by word of
// the next frontier, each vertex until it is done.
TG_INLINE void tg_pull_vertices(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to,
                                global const uint* frontier, tg_found* found) {
  uint vertices = 0;
  ulong edges = 0;
  ulong scanned = 0;
  TG_EACH_ITEM(job, word, job->words, 1) {
    const uint seekers = tg_seekers(job, at, setting, word);
    const uint lucky = frontier == 0 ? seekers : tg_lucky(job, frontier, word, seekers);
    uint news = 0;
    for (uint left = seekers; left != 0; left &= left - 1) {
      const uint i = 31 - clz(left & (0u - left));
      const uint v = word * 32 + i;
      const tg_offset begin = job->in_offsets[v];
      const tg_offset end = job->in_offsets[v + 1ul];
      uint best = job->values[v];
      uint from = TG_NOBODY;
      tg_offset e = begin + (~lucky >> i & 1u);
      for (bool enough = false; !enough && e < end; ++e) {
        const uint u = job->in_neighbours[e];
        if (frontier != 0 && (frontier[u >> 5] >> (u & 31u) & 1u) == 0) {
          continue;
        }
        const uint value = frontier == 0 ? ((volatile global uint*)job->values)[u] : tg_value(job, at, u);
        const uint candidate = tg_along(value, tg_weight(job->in_weights, e));
        if (tg_better(candidate, best)) {
          best = tg_merged(candidate, best);
          from = u;
          enough = tg_enough(at, setting, best) || tg_settled(at, setting, best);
        }
      }
      scanned += e - begin;
      if (from != TG_NOBODY) {
        job->values[v] = best; // nobody else writes it in this wave
        if (TG_FOUND_ONCE(at)) {
          tg_came_from(job, v, from);
        }
        news |= 1u << i;
      }
    }
    if (news != 0) {
      const uint before = to.bitmap[word]; // which nobody shares
      to.bitmap[word] = before | news;
      for (news &= ~before; news != 0; news &= news - 1) {
        vertices += 1;
        edges += tg_degree(job, word * 32 + (31 - clz(news & (0u - news))));
      }
    }
  }
  found->vertices += vertices;
  found->edges += edges;
  found->scanned += scanned;
}
#else
// Puts a vertex into the next frontier; whether it was not there. A word that nobody shares needs no atomic.
TG_INLINE bool tg_mark(global uint* bitmap, uint v) {
  const uint bit = 1u << (v & 31u);
#if TG_WIDTH == 1
  const uint before = bitmap[v >> 5];
  bitmap[v >> 5] = before | bit;
  return (before & bit) == 0;
#else
  return (atomic_or(&bitmap[v >> 5], bit) & bit) == 0;
#endif
}

// Vertices that a work-item pulls for at a time, and neighbours of each that it asks for together: on a GPU a pull is as fast
// as loads are under way, until lines of the bitmap are all that its cache is busy with; and what needs more registers than
// there are slows down all other steps, too.
#define TG_PULLS 2
#define TG_ASKS 4

// Every vertex looks for neighbours in the frontier, or with `frontier` 0 for any that has something for it. Whoever is done
// makes room for the next one at once, as the most patient of a warp would keep all others waiting.
TG_INLINE void tg_pull_vertices(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to,
                                global const uint* frontier, tg_found* found) {
  uint vertex[TG_PULLS];
  uint best[TG_PULLS];
  uint from[TG_PULLS];
  tg_offset begin[TG_PULLS];
  tg_offset next[TG_PULLS]; // edge to look at
  tg_offset end[TG_PULLS];
  uint open = 0; // a bit for each that looks on
  tg_walk walk = tg_begin_walk(job);
  while (open != 0 || walk.word < job->words) {
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      const uint v = walk.word * 32 + walk.bit;
      if ((open >> k & 1u) == 0 && walk.word < job->words) {
        tg_go_on(job, &walk);
        if (v < job->vertices) {
          vertex[k] = v;
          from[k] = TG_NOBODY;
          best[k] = job->values[v];
          if (TG_EAGER || !tg_settled(at, setting, best[k])) {
            begin[k] = next[k] = job->in_offsets[v];
            end[k] = job->in_offsets[v + 1ul];
            open |= 1u << k;
          }
        }
      }
    }
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      const bool done = (open >> k & 1u) != 0 && (next[k] == end[k] || tg_settled(at, setting, best[k]));
      open &= ~((done ? 1u : 0u) << k);
    }
    uint asked[TG_PULLS][TG_ASKS]; // behind the last neighbour, that one again
    uint words[TG_PULLS][TG_ASKS];
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      if ((open >> k & 1u) != 0) {
        TG_UNROLL for (uint i = 0; i < TG_ASKS; ++i) {
          asked[k][i] = job->in_neighbours[min(next[k] + i, end[k] - 1)];
        }
      }
    }
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      if ((open >> k & 1u) != 0) {
        TG_UNROLL for (uint i = 0; i < TG_ASKS; ++i) {
          words[k][i] = frontier == 0 ? 0xffffffffu : frontier[asked[k][i] >> 5];
        }
      }
    }
    TG_UNROLL for (uint k = 0; k < TG_PULLS; ++k) {
      if ((open >> k & 1u) == 0) {
        continue;
      }
      bool enough = false;
      TG_UNROLL for (uint i = 0; i < TG_ASKS; ++i) {
        const uint u = asked[k][i];
        if (!enough && (words[k][i] >> (u & 31u) & 1u) != 0) {
          const uint value = frontier == 0 ? ((volatile global uint*)job->values)[u] : tg_value(job, at, u);
          const uint candidate = tg_along(value, tg_weight(job->in_weights, min(next[k] + i, end[k] - 1)));
          if (tg_better(candidate, best[k])) {
            best[k] = tg_merged(candidate, best[k]);
            from[k] = u;
            enough = tg_enough(at, setting, best[k]);
          }
        }
      }
      found->scanned += min((tg_offset)TG_ASKS, end[k] - next[k]);
      next[k] += TG_ASKS;
      if (enough || next[k] >= end[k]) {
        open &= ~(1u << k);
        if (from[k] != TG_NOBODY) {
          const uint v = vertex[k];
          job->values[v] = best[k]; // nobody else writes it in this wave
          if (TG_FOUND_ONCE(at)) {
            tg_came_from(job, v, from[k]);
          }
          if (tg_mark(to.bitmap, v)) {
            found->vertices += 1;
            found->edges += job->offsets == job->in_offsets ? end[k] - begin[k] : tg_degree(job, v);
          }
        }
      }
    }
  }
}
#endif
#endif
#endif

#if TG_GROUP_SIZE == 1 && TG_ALGORITHM != TG_CC && TG_ALGORITHM != TG_PAGERANK
// Edges of a run, by blocks: which of them lead to something, which still do once others had their turn, and what is found.
TG_INLINE void tg_push_run(const tg_job* job, const tg_position* at, tg_target to, uint4 run, uint lane, uint width,
                           bool eager, tg_found* found) {
  global const uint* const values = job->values;
  const uint value = tg_value(job, at, run.x);
  for (uint begin = 0; begin < run.w; begin += 32) {
    const tg_offset first = (tg_offset)tg_first_edge(run) + begin;
    global const uint* const neighbours = job->neighbours + first;
    const uint count = min(run.w - begin, 32u);
    uint better = 0;
    for (uint i = 0; i < count; ++i) {
      better |= (tg_better(tg_along(value, tg_weight(job->weights, first + i)), values[neighbours[i]]) ? 1u : 0u) << i;
    }
    uint best = 0;
    for (; better != 0; better &= better - 1) {
      const uint i = 31 - clz(better & (0u - better));
      const uint candidate = tg_along(value, tg_weight(job->weights, first + i));
      best |= (tg_better(candidate, tg_improve(job, to, neighbours[i], candidate)) ? 1u : 0u) << i;
    }
    for (; best != 0; best &= best - 1) {
      const uint i = 31 - clz(best & (0u - best));
      const uint w = neighbours[i];
      const tg_offset row = job->offsets[w];
      if (TG_FOUND_ONCE(at)) {
        tg_came_from(job, w, run.x);
      }
      tg_enter(job, at, to, w, tg_along(value, tg_weight(job->weights, first + i)), row, job->offsets[w + 1ul] - row, found);
    }
  }
}
#else
// Edges of a run: those of work-item `lane` of `width` that share it.
TG_INLINE void tg_push_run(const tg_job* job, const tg_position* at, tg_target to, uint4 run, uint lane, uint width,
                           bool eager, tg_found* found) {
  const ulong first = tg_first_edge(run);
#if TG_ALGORITHM == TG_PAGERANK
  const float passed = tg_passed(job, at->wave)[run.x];
  for (uint e = lane; e < run.w; e += width) {
    tg_add_float(&job->stamps[job->neighbours[first + e]], passed);
  }
#else
#if TG_ALGORITHM == TG_CC
  const uint value = 0;
#else
  const uint value = tg_value(job, at, run.x);
#endif
  for (uint e = lane; e < run.w; e += width) {
    tg_push_edge(job, at, to, run.x, value, first + e, eager, found);
  }
#endif
}
#endif

// Sparse: few work-items a run. Hybrid: a warp where runs are long enough to give most of it an edge; the bitmap is written as
// well. Long runs are a group's.
void tg_push_queue(const tg_job* job, const tg_position* at, tg_target to, bool eager, tg_found* found) {
  for (uint i = job->group; i < at->long_runs; i += job->groups) {
    tg_push_run(job, at, to, tg_long_run(job, at->wave, i), (uint)get_local_id(0), TG_GROUP_SIZE, false, found);
  }
  const bool wide = at->topology == TG_HYBRID && 4 * at->frontier_edges >= (ulong)TG_WIDE * at->entries;
  const uint width = wide ? TG_WIDE : TG_LANES;
  global const uint4* const queue = tg_queue_of(job, at->wave);
  const uint lane = (uint)get_local_id(0) % width;
  TG_EACH_ITEM(job, i, at->entries, width) {
    tg_push_run(job, at, to, queue[i], lane, width, eager, found);
  }
}

void tg_push_bitmap(const tg_job* job, const tg_position* at, tg_target to, tg_found* found) {
  global const uint* const bitmap = tg_bitmap_of(job, at->wave);
  const uint lane = (uint)get_local_id(0) % TG_WIDTH;
  TG_EACH_ITEM(job, word, job->words, TG_WIDTH) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint u = word * 32 + (31 - clz(bits & (0u - bits)));
      const tg_offset end = job->offsets[u + 1ul];
#if TG_ALGORITHM == TG_PAGERANK
      const float passed = tg_passed(job, at->wave)[u];
      for (tg_offset e = job->offsets[u] + lane; e < end; e += TG_WIDTH) {
        tg_add_float(&job->stamps[job->neighbours[e]], passed);
      }
#else
#if TG_ALGORITHM == TG_CC
      const uint value = 0;
#else
      const uint value = tg_value(job, at, u);
#endif
      for (tg_offset e = job->offsets[u] + lane; e < end; e += TG_WIDTH) {
        tg_push_edge(job, at, to, u, value, e, false, found);
      }
#endif
    }
  }
}

// Dense: everything looks at its neighbours.
void tg_pull(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to, tg_found* found) {
#if TG_ALGORITHM == TG_PAGERANK
  const float base = tg_base(job, at, setting);
  global const float* const passed = tg_passed(job, at->wave);
  global float* const passed_next = tg_passed(job, at->wave + 1);
  for (tg_walk walk = tg_begin_walk(job); walk.word < job->words; tg_go_on(job, &walk)) {
    const uint v = walk.word * 32 + walk.bit;
    if (v < job->vertices) {
      tg_rank(job, setting, base, v, tg_received(job, v, passed), passed_next, found);
      found->scanned += job->in_offsets[v + 1ul] - job->in_offsets[v];
    }
  }
#elif TG_ALGORITHM == TG_CC
  tg_pull_labels(job, tg_bitmap_of(job, at->wave), found);
#else
  tg_pull_vertices(job, at, setting, to, tg_bitmap_of(job, at->wave), found);
#endif
}

#define TG_FUSED_SWEEPS 4

// A vertex belongs to one work-item throughout; what others write is seen as it comes.
void tg_pull_in_place(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to,
                      tg_found* found) {
#if TG_ALGORITHM == TG_PAGERANK
  const float base = tg_base(job, at, setting);
  global float* const passed = tg_passed(job, at->wave);
#endif
  for (uint sweep = 0; sweep < TG_FUSED_SWEEPS; ++sweep) {
#if TG_ALGORITHM == TG_PAGERANK
    for (tg_walk walk = tg_begin_walk(job); walk.word < job->words; tg_go_on(job, &walk)) {
      const uint v = walk.word * 32 + walk.bit;
      if (v < job->vertices) {
        tg_found unused = {0, 0, 0, 0, 0, 0, 0}; // the step behind it measures
        tg_rank(job, setting, base, v, tg_received(job, v, passed), passed, &unused);
        found->scanned += job->in_offsets[v + 1ul] - job->in_offsets[v];
      }
    }
#elif TG_ALGORITHM == TG_CC
    tg_pull_labels(job, 0, found);
#else
    tg_pull_vertices(job, at, setting, to, 0, found);
#endif
  }
}

// The bitmap that the wave after the next one writes.
void tg_clear_bitmap(const tg_job* job, uint wave) {
#if TG_ALGORITHM != TG_PAGERANK
  global uint* const bitmap = tg_bitmap_of(job, wave);
  TG_EACH_ITEM(job, word, job->words, 1) {
    bitmap[word] = 0;
  }
#endif
}

// Which of up to 32 vertices are in the frontier of a wave.
TG_INLINE uint tg_members(global const uint* waves, uint count, uint wave) {
  uint members = 0;
  for (uint i = 0; i < count; ++i) {
    members |= (waves[i] == wave ? 1u : 0u) << i;
  }
  return members;
}

// Each work-item makes whole words from what is known of the vertices, four of which it reads at once. The next wave's bitmap
// is cleared too.
void tg_to_bitmap(const tg_job* job, const tg_position* at) {
#if TG_ALGORITHM != TG_PAGERANK && TG_ALGORITHM != TG_CC
  global uint* const bitmap = tg_bitmap_of(job, at->wave);
  global const uint* const waves = tg_membership(job, at);
  TG_EACH_ITEM(job, word, job->words, 1) {
    uint bits = 0;
    if (TG_GROUP_SIZE == 1) {
      bits = tg_members(waves + word * 32ul, min(job->vertices - word * 32, 32u), at->wave);
    } else if (word < job->vertices / 32) {
      TG_UNROLL for (uint i = 0; i < 8; ++i) {
        const uint4 four = ((global const uint4*)waves)[word * 8ul + i];
        bits |= ((four.x == at->wave ? 1u : 0u) | (four.y == at->wave ? 2u : 0u) | (four.z == at->wave ? 4u : 0u) |
                 (four.w == at->wave ? 8u : 0u))
                << 4 * i;
      }
    } else {
      for (uint v = word * 32; v < job->vertices; ++v) {
        bits |= (waves[v] == at->wave ? 1u : 0u) << (v & 31u);
      }
    }
    bitmap[word] = bits;
  }
  tg_clear_bitmap(job, at->wave + 1);
#endif
}

// `to` is the queue of this wave.
void tg_to_queue(const tg_job* job, const tg_position* at, tg_target to, tg_found* found) {
  global const uint* const bitmap = tg_bitmap_of(job, at->wave);
  TG_EACH_ITEM(job, word, job->words, 1) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint v = word * 32 + (31 - clz(bits & (0u - bits)));
#if TG_ALGORITHM == TG_PAGERANK
      tg_enqueue(to, v, job->offsets[v], tg_degree(job, v));
      found->vertices += 1;
      found->edges += tg_degree(job, v);
#else
      tg_enter(job, at, to, v, job->values[v], job->offsets[v], tg_degree(job, v), found);
#endif
    }
  }
}

#if TG_ALGORITHM == TG_SSSP
// Distances below this are near, once everything below `at->near` is done.
uint tg_next_near(const tg_position* at, const tg_setting* setting) { return tg_sum(at->nearest, setting->delta); }

void tg_refill(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to, tg_found* found) {
  const uint near = tg_next_near(at, setting);
  global const uint* const put_off = tg_far_queue(job, at->far_turn);
  TG_EACH_ITEM(job, i, at->far, 1) {
    const uint v = put_off[i];
    const uint distance = job->values[v];
    if (distance >= near && near != 0xffffffffu) {
      tg_far_queue(job, at->far_turn + 1)[tg_take_place(tg_far_tail(job, at->far_turn + 1))] = v;
      found->far += 1;
      found->nearest = max(found->nearest, ~distance);
      continue;
    }
    atomic_and(&tg_far_bits(job)[v >> 5], ~(1u << (v & 31u)));
    if (distance >= at->near) {
      atomic_xchg(&job->stamps[v], to.wave);
      tg_enqueue(to, v, job->offsets[v], tg_degree(job, v));
      found->vertices += 1;
      found->edges += tg_degree(job, v);
    }
  }
}
#endif

#if TG_ALGORITHM == TG_PAGERANK
// The second step of a wave: ranks from what was received, or behind fused sweeps an ordinary iteration.
void tg_apply(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_found* found) {
  const bool pushed = at->topology != TG_FUSED;
  const float base = tg_base(job, at, setting);
  global const float* const passed = tg_passed(job, at->wave);
  global float* const passed_next = tg_passed(job, at->wave + 1);
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    const float received = pushed ? as_float(job->stamps[v]) : tg_received(job, v, passed);
    tg_rank(job, setting, base, v, received, passed_next, found);
    job->stamps[v] = pushed ? 0 : job->stamps[v];
  }
}
#endif
