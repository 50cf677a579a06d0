// Reachability from up to 32 sources at once.
//
// A vertex's value is a word; bit i is set if source i reaches it. Words only gain bits: a wave propagates
// the words of its frontier, and every vertex that gains a bit enters the next frontier. Bits that arrive
// during a wave may travel on at once or in the next wave; when no word changes any more, all are complete.
//
// Source: Then, Kaufmann, Chirigati et al., The More the Merrier: Efficient Multi-Source Graph Traversal (VLDB 2014).

#define TG_FIRST_VALUE(v) 0u
#define TG_FOUND_ONCE(at) false

uint tg_value(const tg_job* job, const tg_position* at, uint u) { return job->values[u]; }
uint tg_along(uint value, uint weight) { return value; }
bool tg_better(uint candidate, uint current) { return (candidate & ~current) != 0; }
uint tg_merged(uint candidate, uint current) { return candidate | current; }
uint tg_merge(volatile global uint* at, uint candidate) { return atomic_or(at, candidate); }
bool tg_settled(const tg_job* job, const tg_position* at, uint value) { return value == job->setting->full_word; }

void tg_begin_vertex(const tg_job* job, tg_target to, uint v, bool has_queue) { job->values[v] = 0; }
bool tg_give_source(const tg_job* job, uint v, uint index) {
  job->values[v] |= 1u << index;
  return true;
}
void tg_own_step(const tg_job* job, const tg_position* at, tg_target to, local uint* scratch) {}

#if TG_MAY_PULL_SHARES
#define TG_NOTHING 0u
typedef uint tg_collected;
typedef uint tg_fetched;
uint tg_seat_of(const tg_job* job, uint row) { return row; }
float tg_base(const tg_job* job, const tg_position* at) { return 0.0f; }
tg_fetched tg_fetch(const tg_job* job, const tg_position* at, uint u, tg_offset e) {
  return ((volatile global uint*)job->values)[u];
}
tg_collected tg_collect(tg_fetched held) { return held; }
tg_collected tg_combined(tg_collected a, tg_collected b) { return a | b; }

// Hands what a row received, or a part of it, to the row's vertex.
void tg_deliver(const tg_job* job, const tg_position* at, tg_target to, float base, tg_row row, tg_collected what) {
  const uint before = row.value;
  if ((what & ~before) == 0) {
    return;
  }
  if (row.whole) {
    job->values[row.vertex] = before | what; // no other work-item writes it in this wave
  } else {
    atomic_or(&job->values[row.vertex], what);
  }
  if (tg_mark(to.bitmap, row.vertex)) {
    tg_count_vertex(to, row.degree);
  }
}

#include "frontier/shares.cl"
#endif
