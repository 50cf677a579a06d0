// PageRank: every wave is an iteration over all vertices.
//
// A vertex's value is its rank, a float; `others` holds its rank divided by its degree, which it passes to
// each neighbour, for this iteration and the next in turn. A pull sums what the neighbours pass on. A push
// adds it to the receiver's sum (in `stamps`, two words a vertex), and a second step computes ranks from the
// sums. Fused waves pull several times in place, so that new ranks are used at once (Gauss-Seidel), and
// measure with one ordinary iteration. The ranks of vertices without edges are distributed evenly to all
// vertices.
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

#define TG_FOUND_ONCE(at) true
#define TG_UNITS 1152921504606846976.0f // 2^60

// Through long: CPUs without AVX-512 convert to it in one instruction. No rank is above 1.
ulong tg_units(float value) { return (ulong)(long)(value * TG_UNITS); }

#if TG_WEIGHTS
float tg_passed_of(float rank, tg_offset degree) { return degree == 0 ? 0.0f : rank; }
#define TG_PASSED_ALONG(passed, weights, e) ((passed) * as_float((weights)[e]))
#else
float tg_passed_of(float rank, tg_offset degree) { return degree == 0 ? 0.0f : rank / (float)degree; }
#define TG_PASSED_ALONG(passed, weights, e) (passed)
#endif
#define TG_UNITS_ALONG(passed, weights, e) tg_units(TG_PASSED_ALONG(passed, weights, e))

// The ranks that vertices pass on in iteration `wave`; the arrays of this and the next iteration alternate.
global float* tg_passed(const tg_job* job, uint wave) {
  return (global float*)job->others + (ulong)(wave & 1u) * job->vertices;
}

volatile global uint* tg_received_by(const tg_job* job, uint seat) { return job->stamps + 2ul * seat; }

uint tg_seat_of(const tg_job* job, uint row) { return job->seats == 0 ? job->first + row : job->seats[row]; }

// The part of a rank that does not come along edges.
float tg_base(const tg_job* job, const tg_position* at, const tg_setting* setting) {
  const float damping = as_float(setting->damping);
  const float idle = (float)at->idle / TG_UNITS;
  return ((1.0f - damping) + damping * idle) / (float)job->vertices;
}

// `seat`, `value` and `degree` are those of vertex `v`.
void tg_rank(const tg_job* job, const tg_setting* setting, float base, uint v, uint seat, uint value,
             tg_offset degree, float received, global float* passed, tg_found* found) {
  const float before = as_float(value);
  const float after = base + as_float(setting->damping) * received;
  job->values[v] = as_uint(after);
  passed[seat] = tg_passed_of(after, degree);
  found->idle += degree == 0 ? tg_units(after) : 0;
  found->change += tg_units(fabs(after - before));
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

void tg_finish(const tg_job* job) {}
