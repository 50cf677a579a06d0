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

#define TG_FOUND_ONCE(at) false

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return job->values[u]; }
#if TG_FLOATS
uint tg_sum(uint a, uint b) { return as_uint(as_float(a) + as_float(b)); }
#else
uint tg_sum(uint a, uint b) { return b > 0xffffffffu - a ? 0xffffffffu : a + b; }
#endif
uint tg_along(uint value, uint weight) { return tg_sum(value, weight); }
bool tg_better(uint candidate, uint current) { return candidate < current; }
uint tg_merged(uint candidate, uint current) { return min(candidate, current); }
uint tg_merge(volatile global uint* at, uint candidate) { return atomic_min(at, candidate); }
bool tg_enough(const tg_position* at, const tg_setting* setting, uint value) { return false; }
bool tg_settled(const tg_position* at, const tg_setting* setting, uint value) { return value == 0; }
void tg_came_from(const tg_job* job, uint v, uint u) {}
global const uint* tg_membership(const tg_job* job, const tg_position* at) { return job->stamps; }
void tg_finish(const tg_job* job) {}
