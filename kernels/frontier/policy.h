// The topology rules of the launch policy with their hysteresis, and rules that count edges: their only implementation, for launch
// requests in lib/policy and for waves on a device. The code is C that C++ and OpenCL C compilers accept, with integers only, so that all
// results are equal bit for bit. C++ defines the types tg_u32 and tg_u64, and the conversion TG_U32. Densities and pressures are
// basis points (bps, 10000 = 100 %).
//
// Sources: the launch policy's steps 4 and 5 (density); Beamer, Asanovic, Patterson, Direction-Optimizing
// Breadth-First Search (SC 2012), and LAGraph's breadth-first search (edges).
#ifndef TIDEGATE_KERNELS_FRONTIER_POLICY_H
#define TIDEGATE_KERNELS_FRONTIER_POLICY_H

#ifndef TG_U32
typedef uint tg_u32;
typedef ulong tg_u64;
#define TG_U32(value) ((tg_u32)(value))
#endif

#define TG_FULL_BPS 10000u
#define TG_BAND_BPS 250u // hysteresis band

// In the order of the names in documents.
#define TG_EMPTY 0u
#define TG_SPARSE 1u
#define TG_HYBRID 2u
#define TG_DENSE 3u
#define TG_FUSED 4u
#define TG_CONSTRAINED 5u

#define TG_BY_DENSITY 0u
#define TG_BY_EDGES 1u

// Rules in the order in which they are tried: first the immediate ones, then those that keep the previous
// topology.
#define TG_RULE_QUEUE_EMPTY 0u
#define TG_RULE_MEMORY_PRESSURE 1u
#define TG_RULE_SPARSE_DENSITY 2u
#define TG_RULE_DENSE_DENSITY_FUSED 3u
#define TG_RULE_DENSE_DENSITY 4u
#define TG_RULE_BETWEEN_DENSITIES 5u
#define TG_RULE_HOLD_CONSTRAINED 6u
#define TG_RULE_HOLD_SPARSE 7u
#define TG_RULE_HOLD_HYBRID_FROM_SPARSE 8u
#define TG_RULE_HOLD_HYBRID_FROM_DENSE 9u
#define TG_RULE_HOLD_DENSE 10u
#define TG_RULE_HOLD_FUSED 11u
// Rules of the edge counts:
#define TG_RULE_FEW_VERTICES 12u   // with too few edges to visit all vertices
#define TG_RULE_MANY_EDGES_FUSED 13u
#define TG_RULE_MANY_EDGES 14u     // growing frontier: pull
#define TG_RULE_HOLD_PULL 15u      // growing, or still many vertices
#define TG_RULE_SOME_EDGES 16u     // enough to distribute edge by edge
#define TG_RULE_HOLD_SOME_EDGES 17u
#define TG_RULE_FEW_EDGES 18u
#define TG_RULE_FORCED 19u
#define TG_RULES 20u

// Pull if the frontier's edges exceed 1/15 of the unexplored ones, until fewer than 1/18 of the vertices are in the frontier. Never
// pull for fewer than 1/512 of the vertices with no more edges than the graph has vertices, for fewer than 1/64 with no more than 1/8
// as many edges, nor for a frontier that one group completes before all groups could meet. Hybrid from 1/128 of the unexplored edges,
// down to 1/256.
//
// An algorithm whose pull cannot stop early visits every edge, and nothing is explored for good: it pushes from queues. Reach pulls all
// the same where rows are long. Where they are short, it pushes from bitmaps on CPUs, whose caches profit from the order of the vertices
// (roads of New York: 0.98 s in place of 2.4 from queues), and pulls waves of more than a quarter of the graph's edges. If the lightest
// edges come first, a vertex looks only at those lighter than its distance: such waves pull from 1/16 of the graph's edges.
//
// On a GPU a pull of few vertices leaves most work-items idle, and conversions of the frontier take as long as waves. Such graphs push
// all waves: hybrid where rows are long, sparse for few vertices once the frontier no longer doubles (H100, R-MAT 14: bfs 85 to 75 us,
// sssp 338 to 259). Without hubs larger graphs gain, too. On CPUs that gains along short rows or few edges alone.
//
// On a GPU reach visits a graph without hubs in place, four sweeps a wave, from 1/8 of the graph's edges: a work-item a row suffices, and
// a word goes far in a sweep (H200, random graphs of degree 8: 2^18 vertices 333 to 157 us, 2^22 8052 to 1532).
#define TG_PULL_EDGES 15u
#define TG_LIGHT_EDGES 16u
#define TG_MOST_EDGES 4u
#define TG_IN_PLACE_EDGES 8u
#define TG_PUSH_VERTICES 18u
#define TG_FEW_VERTICES 512u
#define TG_SLIM_VERTICES 64u
#define TG_SLIM_EDGES 8u
#define TG_ALONE_EDGES 4u // average limit per vertex of a lone group's frontier
#define TG_HYBRID_EDGES 128u
#define TG_KEEP_HYBRID_EDGES 256u

// Constants of a traversal.
typedef struct {
  tg_u64 edges;               // of the graph
  tg_u32 vertices;            // of the graph
  tg_u32 switch_rule;         // TG_BY_…
  tg_u32 forced;              // a topology, or TG_EMPTY to apply the rules
  tg_u32 pressure_bps;        // of the memory
  tg_u32 sparse_bps;          // thresholds
  tg_u32 dense_bps;
  tg_u32 memory_bps;
  tg_u32 fusion_edges;
  tg_u32 hot_waves;           // consecutive dense waves after which waves may be fused
  tg_u32 monotone;            // 1 if waves may be fused
  tg_u32 leaves_early;        // 1 if a pull may stop before it has visited all edges of a vertex
  tg_u32 lightest_first;      // 1 if a pull stops at the first edge that is too heavy
  tg_u32 pulls_in_place;      // 1 if waves of many edges are fused at once
  tg_u32 pushes_bitmaps;      // 1 if wide frontiers are pushed in the order of their vertices
  tg_u32 always_pushes;       // topology of waves with more than a few vertices, if they are never pulled; else TG_EMPTY
  tg_u32 alone_vertices;      // largest sparse frontier for one group, if it has few edges
} tg_policy;

static inline tg_u32 tg_most(tg_u32 a, tg_u32 b) { return a < b ? b : a; }

// Limits of a small frontier.
static inline tg_u32 tg_small_vertices(tg_policy policy) {
  return tg_most(policy.vertices / TG_FEW_VERTICES, policy.alone_vertices);
}
static inline tg_u32 tg_small_edges(tg_policy policy) {
  return tg_most(policy.vertices, policy.alone_vertices * TG_ALONE_EDGES);
}

// True for more vertices than a small frontier's, if they have few edges, as on roads and grids.
static inline tg_u32 tg_is_slim(tg_policy policy, tg_u32 vertices, tg_u64 edges) {
  return vertices <= policy.vertices / TG_SLIM_VERTICES && edges <= policy.vertices / TG_SLIM_EDGES ? 1u : 0u;
}

// Facts about a frontier.
typedef struct {
  tg_u64 edges;            // out of the frontier
  tg_u64 previous_edges;   // out of the previous frontier
  tg_u64 unexplored_edges; // of vertices that were in no frontier before this one
  tg_u32 vertices;         // in the frontier
  tg_u32 dense_waves;      // consecutive ones before it
} tg_signals;

// A choice, the rule that made it, and the threshold that the rule compared with.
typedef struct {
  tg_u64 threshold;
  tg_u32 topology;
  tg_u32 rule;
} tg_choice;

// Inputs of the density rules, for a wave or a launch request.
typedef struct {
  tg_u32 queue_len;
  tg_u32 density_bps;
  tg_u32 pressure_bps;
  tg_u32 sparse_bps;
  tg_u32 dense_bps;
  tg_u32 memory_bps;
  tg_u32 may_fuse; // enough edges, and a promotion
  tg_u32 has_graph;
} tg_densities;

static inline tg_u32 tg_above(tg_u32 threshold) {
  const tg_u32 most = 65535u; // limit of the policy's fields
  return threshold + TG_BAND_BPS < most ? threshold + TG_BAND_BPS : most;
}

static inline tg_u32 tg_below(tg_u32 threshold) { return threshold > TG_BAND_BPS ? threshold - TG_BAND_BPS : 0u; }

static inline tg_choice tg_chosen(tg_u32 topology, tg_u32 rule, tg_u64 threshold) {
  const tg_choice choice = {threshold, topology, rule};
  return choice;
}

// Step 4: the topology without hysteresis.
static inline tg_choice tg_raw_topology(tg_densities of) {
  return of.queue_len == 0u                 ? tg_chosen(TG_EMPTY, TG_RULE_QUEUE_EMPTY, 0u)
         : of.pressure_bps >= of.memory_bps ? tg_chosen(TG_CONSTRAINED, TG_RULE_MEMORY_PRESSURE, of.memory_bps)
         : of.density_bps <= of.sparse_bps  ? tg_chosen(TG_SPARSE, TG_RULE_SPARSE_DENSITY, of.sparse_bps)
         : of.density_bps < of.dense_bps    ? tg_chosen(TG_HYBRID, TG_RULE_BETWEEN_DENSITIES, of.dense_bps)
         : of.has_graph && of.may_fuse      ? tg_chosen(TG_FUSED, TG_RULE_DENSE_DENSITY_FUSED, of.dense_bps)
                                            : tg_chosen(TG_DENSE, TG_RULE_DENSE_DENSITY, of.dense_bps);
}

// Step 5: keeps the previous topology while the numbers stay within its band. Bands are inclusive.
static inline tg_choice tg_with_hysteresis(tg_densities of, tg_choice raw, tg_u32 previous) {
  const tg_u32 density = of.density_bps;
  const tg_u32 to_sparse = raw.topology == TG_SPARSE;
  const tg_u32 to_hybrid = raw.topology == TG_HYBRID;
  const tg_u32 to_dense = raw.topology == TG_DENSE || raw.topology == TG_FUSED;
  const tg_u32 still_dense = to_hybrid && density >= tg_below(of.dense_bps);
  return raw.topology == TG_EMPTY || raw.topology == TG_CONSTRAINED ? raw
         : previous == TG_CONSTRAINED && of.pressure_bps >= tg_below(of.memory_bps)
             ? tg_chosen(previous, TG_RULE_HOLD_CONSTRAINED, tg_below(of.memory_bps))
         : previous == TG_SPARSE && !to_sparse && density <= tg_above(of.sparse_bps)
             ? tg_chosen(previous, TG_RULE_HOLD_SPARSE, tg_above(of.sparse_bps))
         : previous == TG_HYBRID && to_sparse && density >= tg_below(of.sparse_bps)
             ? tg_chosen(previous, TG_RULE_HOLD_HYBRID_FROM_SPARSE, tg_below(of.sparse_bps))
         : previous == TG_HYBRID && to_dense && density <= tg_above(of.dense_bps)
             ? tg_chosen(previous, TG_RULE_HOLD_HYBRID_FROM_DENSE, tg_above(of.dense_bps))
         : previous == TG_DENSE && still_dense ? tg_chosen(previous, TG_RULE_HOLD_DENSE, tg_below(of.dense_bps))
         : previous == TG_FUSED && still_dense && of.may_fuse
             ? tg_chosen(previous, TG_RULE_HOLD_FUSED, tg_below(of.dense_bps))
             : raw;
}

// Share of `whole` in bps, rounded up to 1 unless `part` is 0.
static inline tg_u32 tg_density_bps(tg_u32 part, tg_u32 whole) {
  const tg_u64 full = TG_FULL_BPS;
  const tg_u64 share = whole == 0u ? 0u : part * full / whole;
  const tg_u32 bps = share < full ? TG_U32(share) : TG_FULL_BPS;
  return bps == 0u && part != 0u && whole != 0u ? 1u : bps;
}

// The topology of a wave with this many active tiles; `of` has the pressure and the thresholds.
static inline tg_choice tg_choice_of_tiles(tg_densities of, tg_u32 active, tg_u32 tiles, tg_u32 previous) {
  of.queue_len = active;
  of.density_bps = tg_density_bps(active, tiles);
  of.may_fuse = 0u;
  of.has_graph = 0u;
  return tg_with_hysteresis(of, tg_raw_topology(of), previous);
}

static inline tg_choice tg_choose_by_edges(tg_policy policy, tg_signals of, tg_u32 previous, tg_u32 may_fuse) {
  const tg_u32 pulled = previous == TG_DENSE || previous == TG_FUSED;
  const tg_u32 growing = of.edges > of.previous_edges;
  const tg_u64 vertices = of.vertices;
  const tg_u64 pull_edges = of.unexplored_edges / TG_PULL_EDGES;
  const tg_u32 push_vertices = policy.vertices / TG_PUSH_VERTICES;
  const tg_u32 few_vertices = tg_small_vertices(policy);
  const tg_u64 light_edges = policy.edges / TG_LIGHT_EDGES;
  const tg_u64 in_place_edges = policy.edges / TG_IN_PLACE_EDGES;
  const tg_u32 in_place = policy.pulls_in_place != 0u && of.edges > in_place_edges;
  const tg_u32 small = vertices <= few_vertices && of.edges <= tg_small_edges(policy); // hubs may be few
  if (policy.always_pushes != TG_EMPTY) {
    const tg_u32 leaps = policy.always_pushes == TG_HYBRID && previous != TG_SPARSE && of.edges > 2u * of.previous_edges;
    return small && !leaps ? tg_chosen(TG_SPARSE, TG_RULE_FEW_VERTICES, few_vertices)
           : in_place      ? tg_chosen(TG_FUSED, TG_RULE_MANY_EDGES_FUSED, in_place_edges)
                           : tg_chosen(policy.always_pushes, TG_RULE_SOME_EDGES, 0u);
  }
  if (policy.lightest_first == 0u && policy.pushes_bitmaps == 0u && pulled && (growing || vertices > push_vertices)) {
    return tg_chosen(may_fuse || policy.pulls_in_place != 0u ? TG_FUSED : TG_DENSE, TG_RULE_HOLD_PULL, push_vertices);
  }
  if (policy.pushes_bitmaps != 0u) {
    return small                                    ? tg_chosen(TG_SPARSE, TG_RULE_FEW_VERTICES, few_vertices)
           : of.edges > policy.edges / TG_MOST_EDGES ? tg_chosen(TG_DENSE, TG_RULE_MANY_EDGES, policy.edges / TG_MOST_EDGES)
                                                    : tg_chosen(TG_CONSTRAINED, TG_RULE_SOME_EDGES, few_vertices);
  }
  const tg_u64 some_edges = of.unexplored_edges / TG_HYBRID_EDGES;
  const tg_u64 keep_edges = of.unexplored_edges / TG_KEEP_HYBRID_EDGES;
  return small ? tg_chosen(TG_SPARSE, TG_RULE_FEW_VERTICES, few_vertices)
         : tg_is_slim(policy, of.vertices, of.edges)
             ? tg_chosen(TG_SPARSE, TG_RULE_FEW_VERTICES, policy.vertices / TG_SLIM_VERTICES)
         : in_place ? tg_chosen(TG_FUSED, TG_RULE_MANY_EDGES_FUSED, in_place_edges)
         : policy.leaves_early != 0u && growing && of.edges > pull_edges
             ? tg_chosen(may_fuse ? TG_FUSED : TG_DENSE, may_fuse ? TG_RULE_MANY_EDGES_FUSED : TG_RULE_MANY_EDGES, pull_edges)
         : policy.lightest_first != 0u && of.edges > light_edges ? tg_chosen(TG_DENSE, TG_RULE_MANY_EDGES, light_edges)
         : policy.leaves_early == 0u                             ? tg_chosen(TG_SPARSE, TG_RULE_FEW_EDGES, policy.edges)
         : of.edges > some_edges                                 ? tg_chosen(TG_HYBRID, TG_RULE_SOME_EDGES, some_edges)
         : previous == TG_HYBRID && of.edges > keep_edges        ? tg_chosen(TG_HYBRID, TG_RULE_HOLD_SOME_EDGES, keep_edges)
                                                                 : tg_chosen(TG_SPARSE, TG_RULE_FEW_EDGES, some_edges);
}

// Returns the topology of the next wave; TG_EMPTY if the frontier is empty. Computes densities only if a rule
// needs them: a 64-bit division is expensive where a choice takes a device a microsecond.
static inline tg_choice tg_choose(tg_policy policy, tg_signals of, tg_u32 previous) {
  const tg_u32 may_fuse =
      policy.monotone != 0u && policy.edges >= policy.fusion_edges && of.dense_waves >= policy.hot_waves;
  if (of.vertices == 0u) {
    return tg_chosen(TG_EMPTY, TG_RULE_QUEUE_EMPTY, 0u);
  }
  if (policy.forced != TG_EMPTY) {
    return tg_chosen(policy.forced, TG_RULE_FORCED, 0u);
  }
  if (policy.switch_rule == TG_BY_EDGES) {
    return policy.pressure_bps >= policy.memory_bps
               ? tg_chosen(TG_CONSTRAINED, TG_RULE_MEMORY_PRESSURE, policy.memory_bps)
               : tg_choose_by_edges(policy, of, previous, may_fuse);
  }
  const tg_densities densities = {of.vertices, tg_density_bps(of.vertices, policy.vertices), policy.pressure_bps, policy.sparse_bps,
                                  policy.dense_bps, policy.memory_bps, may_fuse, policy.vertices != 0u};
  return tg_with_hysteresis(densities, tg_raw_topology(densities), previous);
}

// Returns the number of vertices up to which a frontier after a sparse wave is certainly sparse, if its edges
// are few.
static inline tg_u32 tg_surely_sparse(tg_policy policy) {
  const tg_u64 whole = policy.vertices;
  if (policy.forced != TG_EMPTY) {
    return policy.forced == TG_SPARSE ? policy.vertices : 0u;
  }
  if (policy.pressure_bps >= policy.memory_bps) {
    return 0u;
  }
  if (policy.switch_rule == TG_BY_EDGES) {
    const tg_u32 never_pulls = policy.leaves_early == 0u && policy.lightest_first == 0u && policy.pushes_bitmaps == 0u && policy.pulls_in_place == 0u;
    const tg_u32 always = policy.always_pushes == TG_EMPTY ? never_pulls : policy.always_pushes == TG_SPARSE && policy.pulls_in_place == 0u;
    return always ? policy.vertices : tg_small_vertices(policy);
  }
  const tg_u32 densest = tg_above(policy.sparse_bps);
  return densest >= TG_FULL_BPS || whole == 0u ? policy.vertices : TG_U32(((densest + 1u) * whole - 1u) / TG_FULL_BPS);
}

// The same for slim frontiers, which may have more vertices, and for those that sssp never pulls.
static inline tg_u32 tg_surely_slim(tg_policy policy, tg_u32 vertices, tg_u64 edges) {
  const tg_u32 light = policy.lightest_first != 0u && policy.leaves_early == 0u && edges <= policy.edges / TG_LIGHT_EDGES;
  return policy.forced == TG_EMPTY && policy.pressure_bps < policy.memory_bps && policy.switch_rule == TG_BY_EDGES &&
                 policy.pushes_bitmaps == 0u && policy.always_pushes != TG_HYBRID
             ? (light != 0u ? 1u : tg_is_slim(policy, vertices, edges))
             : 0u;
}

#endif
