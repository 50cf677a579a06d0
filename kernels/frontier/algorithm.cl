// Every kernel of a traversal includes this: the state, and the functions of the algorithm that TG_ALGORITHM names. There are three
// kinds: from a frontier (bfs, reach, sssp, own), over all vertices (pagerank), and a forest (cc). Each file gives
//
//   TG_FIRST_VALUE, tg_begin_vertex, tg_give_source         values at the start
//   tg_value, tg_along, tg_better, tg_merged, tg_merge      what an edge passes on, and what becomes of it (push.cl, pull.cl); the
//                                                           other two kinds give tg_push_edge and tg_pull
//   tg_own_step                                             the steps that it alone has
//   tg_goes_on, tg_count_far, tg_end_iteration              and what follows them (choice.cl)
//   TG_NOTHING, tg_fetch, tg_collect, tg_combined, tg_deliver   pulls by shares (shares.cl)

#include "frontier/policy.h"
#include "frontier/state.h"
#include "frontier/job.cl"
#if TG_ALGORITHM == TG_BFS
#include "frontier/bfs.cl"
#elif TG_ALGORITHM == TG_REACH
#include "frontier/reach.cl"
#elif TG_ALGORITHM == TG_SSSP
#include "frontier/sssp.cl"
#elif TG_ALGORITHM == TG_CC
#include "frontier/cc.cl"
#elif TG_ALGORITHM == TG_OWN
#include "frontier/own.cl"
#else
#include "frontier/pagerank.cl"
#endif

#if !TG_FOREST
#define tg_goes_on(at, counts) false
#endif
#if !TG_PUTS_OFF
#define tg_count_far(at, setting, counts)
#endif
#if !TG_ITERATES
#define tg_end_iteration(at, setting, counts)
#endif
#ifndef TG_ADDS
#define TG_ADDS 0 // every edge adds to its end
#endif

#if TG_FROM_ALL
bool tg_give_source(const tg_job* job, uint v, uint index) { return false; }
uint tg_first_members(const tg_job* job, uint word, tg_found* found) {
  const uint rest = job->vertices - word * 32;
  return rest < 32 ? (1u << rest) - 1 : 0xffffffffu;
}
TG_INLINE void tg_enter(const tg_job* job, const tg_position* at, tg_target to, uint v, uint value, tg_offset begin,
                        tg_offset degree, tg_found* found) {
  tg_enqueue(to, v, begin, degree);
  found->vertices += 1;
  found->edges += degree;
}
#define tg_pull_in_place(job, at, setting, to, found) tg_pull(job, at, setting, to, 0, 0, found)
#define tg_to_bitmap(job, at, found)
#elif TG_ALGORITHM != TG_OWN
uint tg_first_members(const tg_job* job, uint word, tg_found* found) { return 0; }
#endif
