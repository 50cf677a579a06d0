// Shortest distances with a near and a far set.
//
// A vertex's value is the least known distance as bits: non-negative floats are ordered like their bits, so
// one atomic_min serves integers and floats. A wave relaxes the edges of its frontier; a vertex whose
// distance falls is processed again. With queues, only vertices nearer than `near` are processed at once.
// Others go to the far queue, each once (guarded by a bit), and when no near vertex is left, `near` moves
// past the nearest of them. A far vertex whose distance is now below the old `near` has been processed since
// and is dropped. Waves that write only bitmaps postpone nothing: they relax all changed vertices
// (Bellman-Ford).
//
// On skewed graphs most edges are too heavy to be part of a short path. Rows begin with their lightest edges, so a vertex
// that pulls stops where the least distance in the frontier and an edge's weight reach its own distance: of R-MAT 20
// 12 million edges are visited, where pushes visit 74 million.
//
// Source: Davidson, Baxter, Garland, Owens, Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths
// (IPDPS 2014).

#define TG_FIRST_VALUE(v) (TG_FLOATS ? 0x7f800000u : 0xffffffffu)
#define TG_FOUND_ONCE(at) false

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return job->values[u]; }
uint tg_sum(uint a, uint b) {
  return TG_FLOATS ? as_uint(as_float(a) + as_float(b)) : b > 0xffffffffu - a ? 0xffffffffu : a + b;
}
uint tg_along(uint value, uint weight) { return tg_sum(value, weight); }
bool tg_better(uint candidate, uint current) { return candidate < current; }
uint tg_merged(uint candidate, uint current) { return min(candidate, current); }
uint tg_merge(volatile global uint* at, uint candidate) { return atomic_min(at, candidate); }
bool tg_settled(const tg_job* job, const tg_position* at, uint value) { return value == 0; }

void tg_begin_vertex(const tg_job* job, tg_target to, uint v, bool has_queue) {
  job->values[v] = TG_FIRST_VALUE(v);
}
bool tg_give_source(const tg_job* job, uint v, uint index) {
  job->values[v] = 0;
  return true;
}

// Returns the bound of near distances once everything below `at->near` is done. It always exceeds the nearest
// postponed distance, even if a float is too large to grow by delta.
uint tg_next_near(const tg_position* at, const tg_setting* setting) {
  return max(tg_sum(at->nearest, setting->delta), at->nearest + 1);
}

void tg_count_far(tg_position* at, const tg_setting* setting, tg_counts counts) {
  if (at->step == TG_STEP_REFILL) {
    at->near = tg_next_near(at, setting);
    at->far = counts.far;
    at->nearest = ~counts.nearest;
    at->far_turn += 1;
  } else {
    at->far += counts.far;
    at->nearest = min(at->nearest, ~counts.nearest);
  }
}

// Moves what is near now from the far queue to the next frontier.
TG_OUTLINED void tg_own_step(const tg_job* job, const tg_position* at, tg_target to, local uint* scratch) {
  const uint near = tg_next_near(at, job->setting);
  global const uint* const put_off = tg_far_queue(job, at->far_turn);
  TG_EACH_ITEM(job, i, at->far, 1) {
    const uint v = put_off[i];
    const uint distance = job->values[v];
    if (distance >= near && near != 0xffffffffu) {
      tg_far_queue(job, at->far_turn + 1)[tg_take_place(tg_far_tail(job, at->far_turn + 1))] = v;
      to.found->far += 1;
      to.found->nearest = max(to.found->nearest, ~distance);
      continue;
    }
    atomic_and(&tg_far_bits(job)[v >> 5], ~(1u << (v & 31u)));
    if (distance >= at->near) {
      atomic_xchg(&job->stamps[v], to.wave);
      tg_enqueue(to, v, job->offsets[v], tg_degree(job, v));
      tg_count_vertex(to, tg_degree(job, v));
    }
  }
}
