// PageRank: every wave is an iteration over all vertices.
//
// A vertex's value is its rank, a float; `others` holds its rank divided by its degree, which it passes to
// each neighbour, for this iteration and the next in turn. A pull sums what the neighbours pass on. A push
// adds it to the receiver's sum (in `stamps`, two words a vertex), and a second step computes ranks from the
// sums. The ranks of vertices without edges are distributed evenly to all vertices.
//
// Sums use units of 2^-60, so that their order does not matter. With floats every addition would lose up to
// half a unit in the last place; a hub's thousands of equal terms would lose in one direction, and its rank
// would oscillate by more than the tolerance.
//
// Most loads are of what a neighbour passes on. On graphs with hubs, `seats` puts what the vertices of many edges pass on into
// the same cache lines, and the rows in device memory name neighbours by their seats (rows.cl).
//
// With weights, of which the host makes the edge's part of all that leaves its vertex, `others` holds the rank itself.
//
// Source: Page, Brin, Motwani, Winograd, The PageRank Citation Ranking (1999).

#define TG_FIRST_VALUE(v) 0u
#define TG_FOUND_ONCE(at) true
#define TG_UNITS 1152921504606846976.0f // 2^60

// Through long: CPUs without AVX-512 convert to it in one instruction. No rank is above 1.
ulong tg_units(float value) { return (ulong)(long)(value * TG_UNITS); }

float tg_passed_of(float rank, tg_offset degree) { return degree == 0 ? 0.0f : TG_WEIGHTS ? rank : rank / (float)degree; }
#define TG_PASSED_ALONG(passed, weights, e) (TG_WEIGHTS ? (passed) * as_float((weights)[e]) : (passed))
#define TG_UNITS_ALONG(passed, weights, e) tg_units(TG_PASSED_ALONG(passed, weights, e))

// The ranks that vertices pass on in iteration `wave`; the arrays of this and the next iteration alternate.
global float* tg_passed(const tg_job* job, uint wave) {
  return (global float*)job->others + (ulong)(wave & 1u) * job->vertices;
}

volatile global uint* tg_received_by(const tg_job* job, uint seat) { return job->stamps + 2ul * seat; }

uint tg_seat_of(const tg_job* job, uint row) { return job->seats == 0 ? job->first + row : job->seats[row]; }

// The part of a rank that does not come along edges.
float tg_base(const tg_job* job, const tg_position* at) {
  const float damping = as_float(job->setting->damping);
  const float idle = (float)at->idle / TG_UNITS;
  return ((1.0f - damping) + damping * idle) / (float)job->vertices;
}

// The bounds of a row are not read. `passed` is what vertices pass on in the next iteration.
void tg_rank(const tg_job* job, tg_target to, float base, tg_row row, float received, global float* passed) {
  const float before = as_float(row.value);
  const float after = base + as_float(job->setting->damping) * received;
  job->values[row.vertex] = as_uint(after);
  passed[row.seat] = tg_passed_of(after, row.degree);
  to.found->idle += row.degree == 0 ? tg_units(after) : 0;
  to.found->change += tg_units(fabs(after - before));
}

#define TG_ASKS_AT_ONCE (TG_GROUP_SIZE == 1 ? 1 : 4) // neighbours: loads in flight determine a GPU's speed

float tg_received(const tg_job* job, uint v, volatile global const float* passed) {
  ulong sum = 0;
  const tg_offset end = job->in_offsets[v + 1ul];
  for (tg_offset e = job->in_offsets[v]; e < end; e += TG_ASKS_AT_ONCE) {
    uint asked[TG_ASKS_AT_ONCE]; // past the last neighbour it is repeated
    TG_UNROLL for (uint i = 0; i < TG_ASKS_AT_ONCE; ++i) {
      asked[i] = job->in_neighbours[min(e + i, end - 1)];
    }
    TG_UNROLL for (uint i = 0; i < TG_ASKS_AT_ONCE; ++i) {
      const ulong units = TG_UNITS_ALONG(passed[asked[i]], job->in_weights, min(e + i, end - 1));
      sum += e + i < end ? units : 0;
    }
  }
  return (float)sum / TG_UNITS;
}

void tg_begin_vertex(const tg_job* job, tg_target to, uint v, bool has_queue) {
  const float rank = 1.0f / (float)job->vertices;
  const tg_offset degree = tg_degree(job, v);
  job->values[v] = as_uint(rank);
  const uint seat = tg_seat_of(job, v);
  tg_passed(job, 0)[seat] = tg_passed_of(rank, degree);
  to.found->idle += degree == 0 ? tg_units(rank) : 0;
  tg_received_by(job, seat)[0] = 0;
  tg_received_by(job, seat)[1] = 0;
}

// A push adds what the vertex passes on, as bits, to its neighbour's sum.
uint tg_value(const tg_job* job, const tg_position* at, uint u) {
  return as_uint(tg_passed(job, at->wave)[tg_seat_of(job, u)]);
}
TG_INLINE void tg_push_edge(const tg_job* job, const tg_position* at, tg_target to, uint u, uint value, ulong e) {
  TG_ADD_WIDE(tg_received_by(job, job->neighbours[e]), TG_UNITS_ALONG(as_float(value), job->weights, e));
}

// The row of a vertex without its bounds.
tg_row tg_ranked_row(const tg_job* job, uint v) {
  const tg_row row = {.vertex = v, .seat = tg_seat_of(job, v), .value = job->values[v], .degree = tg_degree(job, v)};
  return row;
}

void tg_pull(const tg_job* job, const tg_position* at, tg_target to, local uint4* rows, local uint* row_count) {
  const float base = tg_base(job, at);
  global const float* const passed = tg_passed(job, at->wave);
  global float* const passed_next = tg_passed(job, at->wave + 1);
  TG_EACH_ITEM(job, v, job->rows, 1) {
    tg_rank(job, to, base, tg_ranked_row(job, v), tg_received(job, v, passed), passed_next);
    to.found->scanned += job->in_offsets[v + 1ul] - job->in_offsets[v];
  }
}

// Makes the sum that a row has received its rank.
void tg_rank_received(const tg_job* job, const tg_position* at, tg_target to, float base, uint v) {
  const tg_row row = tg_ranked_row(job, v);
  volatile global uint* const sum = tg_received_by(job, row.seat);
  tg_rank(job, to, base, row, (float)TG_WIDE_SUM(sum) / TG_UNITS, tg_passed(job, at->wave + 1));
  sum[0] = 0;
  sum[1] = 0;
}

void tg_end_iteration(tg_position* at, const tg_setting* setting, tg_counts counts) {
  at->idle = counts.idle + at->pulled_idle;
  at->change = counts.change + at->pulled_change;
  at->pulled_idle = at->pulled_change = 0;
  if (at->change < setting->rank_tolerance || at->wave >= setting->most_waves) {
    at->vertices = 0;
  }
}

#if TG_MAY_PULL_SHARES
#define TG_NOTHING 0ul
typedef ulong tg_collected;
typedef float tg_fetched;
tg_fetched tg_fetch(const tg_job* job, const tg_position* at, uint u, tg_offset e) {
  return TG_PASSED_ALONG(tg_passed(job, at->wave)[u], job->in_weights, e);
}
tg_collected tg_collect(tg_fetched held) { return tg_units(held); }
tg_collected tg_combined(tg_collected a, tg_collected b) { return a + b; }

void tg_deliver(const tg_job* job, const tg_position* at, tg_target to, float base, tg_row row, tg_collected what) {
  if (row.whole) {
    tg_rank(job, to, base, row, (float)what / TG_UNITS, tg_passed(job, at->wave + 1));
  } else {
    TG_ADD_WIDE(tg_received_by(job, row.seat), what);
  }
}

#include "frontier/shares.cl"

// Ranks the rows that several shares have parts of, each by the work-item of the first share that begins inside the row.
void tg_apply_shares(const tg_job* job, const tg_position* at, tg_target to) {
  const uint shares = tg_share_count(job);
  const float base = tg_base(job, at);
  TG_EACH_ITEM(job, k, shares, 1) {
    const uint v = job->shares[k];
    const ulong place = tg_place_of(job, v);
    if (place >= k * (ulong)TG_SHARE || k == 0 || place < (k - 1) * (ulong)TG_SHARE) {
      continue;
    }
    tg_rank_received(job, at, to, base, v);
  }
}
#endif

// The second step of a wave: ranks from received sums.
TG_OUTLINED void tg_own_step(const tg_job* job, const tg_position* at, tg_target to, local uint* scratch) {
  if (TG_MAY_PULL_SHARES && at->topology == TG_DENSE) {
    tg_apply_shares(job, at, to);
    return;
  }
  const float base = tg_base(job, at);
  TG_EACH_ITEM(job, v, job->vertices, 1) {
    tg_rank_received(job, at, to, base, v);
  }
}

// A rank runs an iteration over own vertices, and then the rows that several shares have parts of.
static void tg_own_action(const tg_job* job, const tg_position* at, tg_target to, tg_part part, local tg_share* share) {
  if (part.action == TG_PART_APPLY) {
    tg_apply_shares(job, at, to);
  } else if (TG_MAY_PULL_SHARES && part.action == TG_PART_RANK) {
    tg_pull_shares(job, at, to, share);
  } else if (part.action == TG_PART_RANK) {
    tg_pull(job, at, to, 0, 0);
  }
}
