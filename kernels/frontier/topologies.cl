// The steps of a traversal, each as the part of one work-group. They contain no barriers; the caller lets all
// groups meet afterwards.
//
//   tg_push_queue     sparse and hybrid: entries of the queue, several work-items each
//   tg_push_bitmap    memory-constrained: bits of the bitmap; no queue, no transpose
//   tg_pull           dense: vertices look for a neighbour in the frontier
//   tg_pull_in_place  fused: several times in a row, using what has just been found
//   tg_to_bitmap, tg_to_queue, tg_refill   a frontier in another form

// Pushes along the edges of a run; work-item `lane` of `width` takes every width-th edge.
TG_INLINE void tg_push_run(const tg_job* job, const tg_position* at, tg_target to, uint4 run, uint lane, uint width,
                           bool eager, tg_found* found) {
  const ulong first = tg_first_edge(run);
#if TG_ALGORITHM == TG_PAGERANK
  const float passed = tg_passed(job, at->wave)[tg_seat_of(job, run.x)];
  for (uint e = lane; e < run.w; e += width) {
    TG_ADD_WIDE(tg_received_by(job, job->neighbours[first + e]), TG_UNITS_ALONG(passed, job->weights, first + e));
  }
#else
#if TG_ALGORITHM == TG_CC
  const uint value = 0;
#else
  const tg_bits value = tg_value(job, at, run.x);
#endif
  for (uint e = lane; e < run.w; e += width) {
    tg_push_edge(job, at, to, run.x, value, first + e, eager, found);
  }
#endif
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

TG_OUTLINED void tg_push_bitmap(const tg_job* job, const tg_position* at, tg_target to, tg_found* found) {
  global const uint* const bitmap = tg_bitmap_of(job, at->wave);
  const uint lane = TG_LANE_OF(job) % TG_WIDTH;
  TG_EACH_ITEM(job, word, job->words, TG_WIDTH) {
    for (uint bits = bitmap[word]; bits != 0; bits &= bits - 1) {
      const uint u = word * 32 + (31 - clz(bits & (0u - bits)));
      const tg_offset end = job->offsets[u + 1ul];
#if TG_ALGORITHM == TG_PAGERANK
      const float passed = tg_passed(job, at->wave)[tg_seat_of(job, u)];
      for (tg_offset e = job->offsets[u] + lane; e < end; e += TG_WIDTH) {
        TG_ADD_WIDE(tg_received_by(job, job->neighbours[e]), TG_UNITS_ALONG(passed, job->weights, e));
      }
#else
#if TG_ALGORITHM == TG_CC
      const uint value = 0;
#else
      const tg_bits value = tg_value(job, at, u);
#endif
      for (tg_offset e = job->offsets[u] + lane; e < end; e += TG_WIDTH) {
        tg_push_edge(job, at, to, u, value, e, false, found);
      }
#endif
    }
  }
}

// Dense: every vertex visits its neighbours.
void tg_pull(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to, local uint4* rows,
             local uint* row_count, tg_found* found) {
#if TG_ALGORITHM == TG_PAGERANK
  const float base = tg_base(job, at, setting);
  global const float* const passed = tg_passed(job, at->wave);
  global float* const passed_next = tg_passed(job, at->wave + 1);
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    tg_rank(job, setting, base, v, tg_seat_of(job, v), job->values[v], tg_degree(job, v), tg_received(job, v, passed),
            passed_next, found);
    found->scanned += job->in_offsets[v + 1ul] - job->in_offsets[v];
  }
#elif TG_ALGORITHM == TG_CC
  tg_pull_labels(job, at, found);
#else
    const tg_left_rows left_rows = {rows, row_count};
#if TG_MAY_LEAVE_ROWS
  if (TG_LANE == 0) {
    *row_count = 0;
  }
  TG_BARRIER(CLK_LOCAL_MEM_FENCE);
#endif
  tg_pull_vertices(job, at, setting, to, tg_bitmap_of(job, at->wave), left_rows, found);
#if TG_MAY_LEAVE_ROWS
  tg_pull_left_rows(job, at, to, tg_bitmap_of(job, at->wave), left_rows, found);
#endif
#endif
}

#define TG_FUSED_SWEEPS 4

// Each vertex belongs to one work-item throughout; writes of others become visible at any time.
TG_OUTLINED void tg_pull_in_place(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to,
                      tg_found* found) {
#if TG_ALGORITHM == TG_PAGERANK
  const float base = tg_base(job, at, setting);
  global float* const passed = tg_passed(job, at->wave);
#endif
  if (!TG_STAMPS_FROM_THE_START) {
    TG_EACH_ITEM(job, v, job->vertices, 1) {
      job->stamps[v] = 0xffffffffu;
    }
  }
  for (uint sweep = 0; sweep < TG_FUSED_SWEEPS; ++sweep) {
#if TG_ALGORITHM == TG_PAGERANK
    for (tg_walk walk = tg_begin_walk(job); walk.word < job->words; tg_go_on(job, &walk)) {
      const uint v = walk.word * 32 + walk.bit;
      if (v < job->vertices) {
        tg_found ranked = {0, 0, 0, 0, 0, 0, 0, 0}; // the next step measures the change
        tg_rank(job, setting, base, v, tg_seat_of(job, v), job->values[v], tg_degree(job, v), tg_received(job, v, passed), passed,
                &ranked);
        found->idle += sweep + 1 == TG_FUSED_SWEEPS ? ranked.idle : 0;
        found->scanned += job->in_offsets[v + 1ul] - job->in_offsets[v];
      }
    }
#elif TG_ALGORITHM == TG_CC
    tg_pull_labels(job, at, found);
#else
    const tg_left_rows none = {0, 0};
    tg_pull_vertices(job, at, setting, to, 0, none, found);
#endif
  }
}

// Clears the bitmap of wave `wave`.
TG_OUTLINED void tg_clear_bitmap(const tg_job* job, uint wave) {
#if TG_ALGORITHM != TG_PAGERANK
  global uint* const bitmap = tg_bitmap_of(job, wave);
  TG_EACH_ITEM(job, word, job->words, 1) {
    bitmap[word] = 0;
  }
#endif
}

// Returns a mask of up to 32 vertices that are in the frontier of a wave.
TG_INLINE uint tg_members(global const uint* waves, uint count, uint wave) {
  uint members = 0;
  for (uint i = 0; i < count; ++i) {
    members |= (waves[i] == wave ? 1u : 0u) << i;
  }
  return members;
}

// Each work-item builds whole words from the vertices' wave numbers, and on GPUs reads four at once. Also
// clears the next wave's bitmap.
TG_OUTLINED void tg_to_bitmap(const tg_job* job, const tg_position* at, tg_found* found) {
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
#if TG_ALGORITHM == TG_SSSP
    for (; bits != 0; bits &= bits - 1) {
      found->least = max(found->least, ~job->values[word * 32 + (31 - clz(bits & (0u - bits)))]);
    }
#endif
  }
  tg_clear_bitmap(job, at->wave + 1);
#endif
}

// `to` is the queue of this wave.
TG_OUTLINED void tg_to_queue(const tg_job* job, const tg_position* at, tg_target to, tg_found* found) {
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
// Returns the bound of near distances once everything below `at->near` is done. It always exceeds the nearest
// postponed distance, even if a float is too large to grow by delta.
uint tg_next_near(const tg_position* at, const tg_setting* setting) {
  return max(tg_sum(at->nearest, setting->delta), at->nearest + 1);
}

TG_OUTLINED void tg_refill(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_target to, tg_found* found) {
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
// The second step of a wave: computes ranks from received sums, or after fused sweeps runs an ordinary
// iteration.
TG_OUTLINED void tg_apply(const tg_job* job, const tg_position* at, const tg_setting* setting, tg_found* found) {
  const bool pushed = at->topology != TG_FUSED;
  const float base = tg_base(job, at, setting);
  global const float* const passed = tg_passed(job, at->wave);
  global float* const passed_next = tg_passed(job, at->wave + 1);
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    const uint seat = tg_seat_of(job, v);
    volatile global uint* const sum = tg_received_by(job, seat);
    const float received = pushed ? (float)TG_WIDE_SUM(sum) / TG_UNITS : tg_received(job, v, passed);
    tg_rank(job, setting, base, v, seat, job->values[v], tg_degree(job, v), received, passed_next, found);
    if (pushed) {
      sum[0] = 0;
      sum[1] = 0;
    }
  }
}
#endif
