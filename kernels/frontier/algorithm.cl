// Every kernel of a traversal includes this: the state, the functions of the algorithm that TG_ALGORITHM names, and the steps. There
// are three kinds of algorithms: from a frontier (bfs, reach, sssp, own), over all vertices (pagerank), and a forest (cc). Which files
// and functions there are is decided here alone: steps test constants (TG_FOREST, …) with `if`. Each algorithm's file gives
//
//   TG_FIRST_VALUE, tg_begin_vertex, tg_give_source         values at the start
//   tg_value, tg_along, tg_better, tg_merged, tg_merge      what an edge passes on, and what becomes of it (edges.cl, pull.cl); the
//                                                           other two kinds give tg_push_edge and tg_pull
//   tg_own_step, tg_own_action                              steps, and actions of ranks, that it alone has
//   tg_goes_on, tg_count_far, tg_end_iteration              and what follows them (choice.cl)
//   TG_NOTHING, tg_fetch, tg_collect, tg_combined, tg_deliver   pulls by shares (shares.cl)
//
// The kernel gives, before it includes this, TG_RANKS, TG_OUTLINES, and
//
//   tg_is_here(job, v)    true if the rows of a vertex are here
//   tg_send(job, to, v)   otherwise: lists it, for the rank that has them

#include "frontier/policy.h"
#include "frontier/state.h"
#include "frontier/job.cl"

#if !TG_MAY_PULL_SHARES
typedef uint tg_share; // of no use
#define tg_begin_shares(job, v)
#define tg_pull_shares(job, at, to, share)
#define tg_apply_shares(job, at, to)
#endif
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
#define tg_next_near(at, setting) 0u
#define tg_count_far(at, setting, counts)
#endif
#if !TG_ITERATES
#define tg_end_iteration(at, setting, counts)
#endif
#if !TG_FROM_ALL && !TG_STARTS_ANYWHERE
#define tg_first_members(job, to, word) 0u // of a word of the first frontier
#endif
#ifndef TG_ADDS
#define TG_ADDS 0 // every edge adds to its end
#endif
#ifndef TG_STARTS
#define TG_STARTS(before, after) true // a vertex whose value has improved enters the next frontier
#endif

#if TG_FROM_ALL
#include "frontier/all_vertices.cl"
#else
#include "frontier/edges.cl"
#endif
#include "frontier/push.cl"
#include "frontier/sums.cl"
#if !TG_RANKS
#include "frontier/choice.cl"
#endif
#if !TG_FROM_ALL && TG_RANKS
#include "frontier/exchange.cl"
#elif !TG_FROM_ALL
#include "frontier/pull.cl"
#include "frontier/few_edges.cl"
#endif
