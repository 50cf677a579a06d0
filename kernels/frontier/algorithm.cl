// Every kernel of a traversal includes this: the state, and the functions of the algorithm that TG_ALGORITHM names.

// Definitions that headers shared with C++ require.
typedef uint tg_u32;
typedef ulong tg_u64;
#define TG_U32(value) ((tg_u32)(value))
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
