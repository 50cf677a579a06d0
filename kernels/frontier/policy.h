// Which topology a launch or the next wave of a traversal takes: the topology rules of the launch policy with
// their hysteresis, and rules that look at edges. They stand here alone: lib/policy asks them for a launch request, a
// device for a wave, and the host that replays a traversal. Plain C that a C++ compiler and an OpenCL C compiler
// read alike, in integers alone, so that all of them come to the same bit for bit.
//
// The caller has the types tg_u32 and tg_u64, and TG_U32 that makes the former of the latter. Densities and pressures are basis points (bps, 10000 = 100 %).
// Sources: the launch policy's steps 4 and 5 (density); Beamer, Asanovic, Patterson, Direction-Optimizing
// Breadth-First Search (SC 2012), and LAGraph's breadth-first search (edges).
#ifndef TIDEGATE_KERNELS_FRONTIER_POLICY_H
#define TIDEGATE_KERNELS_FRONTIER_POLICY_H

#define TG_FULL_BPS 10000u
#define TG_BAND_BPS 250u // of the hysteresis

// In the order of the document's names.
#define TG_EMPTY 0u
#define TG_SPARSE 1u
#define TG_HYBRID 2u
#define TG_DENSE 3u
#define TG_FUSED 4u
#define TG_CONSTRAINED 5u

#define TG_BY_DENSITY 0u
#define TG_BY_EDGES 1u

// The rules in the order in which they are tried: first those that decide by themselves, then those that hold
// what there was.
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
// Of the edges:
#define TG_RULE_FEW_VERTICES 12u   // with too few edges to look at all vertices for
#define TG_RULE_MANY_EDGES_FUSED 13u
#define TG_RULE_MANY_EDGES 14u     // of the frontier, growing: pull
#define TG_RULE_HOLD_PULL 15u      // growing, or still many vertices
#define TG_RULE_SOME_EDGES 16u     // worth dealing out edge by edge
#define TG_RULE_HOLD_SOME_EDGES 17u
#define TG_RULE_FEW_EDGES 18u
#define TG_RULE_FORCED 19u
#define TG_RULES 20u

// Pull when the frontier's edges are more than 1/15 of those not explored, until fewer than 1/18 of the
// vertices are in the frontier; below 1/512 of them, with no more edges than the graph has vertices, a look at all of
// those never pays, nor does it where one group is done with the frontier sooner than all of them meet. Edge by edge
// from 1/128 of the edges that are not explored, down to 1/256. Who pulls and cannot leave early looks at every edge of
// the graph, and one work-item at all of a hub's: such algorithms push.
#define TG_PULL_EDGES 15u
#define TG_PUSH_VERTICES 18u
#define TG_FEW_VERTICES 512u
#define TG_ALONE_EDGES 4u // of a vertex worked alone, on average at most
#define TG_HYBRID_EDGES 128u
#define TG_KEEP_HYBRID_EDGES 256u

// What stays the same throughout a traversal.
typedef struct {
  tg_u64 edges;               // of the graph
  tg_u32 vertices;            // of the graph
  tg_u32 switch_rule;         // TG_BY_…
  tg_u32 forced;              // a topology, or TG_EMPTY: the rules decide
  tg_u32 pressure_bps;        // of the memory
  tg_u32 sparse_bps;          // thresholds
  tg_u32 dense_bps;
  tg_u32 memory_bps;
  tg_u32 fusion_edges;
  tg_u32 hot_waves;           // dense waves in a row from which several may be fused
  tg_u32 monotone;            // whether waves may be fused at all
  tg_u32 leaves_early;        // whether a vertex that pulls may be done before it has looked at all of its edges
  tg_u32 alone_vertices;      // a sparse frontier up to this is worked by one group, if few edges leave it
} tg_policy;

static inline tg_u32 tg_most(tg_u32 a, tg_u32 b) { return a < b ? b : a; }

// A frontier is small up to so many vertices, with so many edges.
static inline tg_u32 tg_small_vertices(tg_policy policy) {
  return tg_most(policy.vertices / TG_FEW_VERTICES, policy.alone_vertices);
}
static inline tg_u32 tg_small_edges(tg_policy policy) {
  return tg_most(policy.vertices, policy.alone_vertices * TG_ALONE_EDGES);
}

// What is known of a frontier.
typedef struct {
  tg_u64 edges;            // that leave it
  tg_u64 previous_edges;   // that left the one before
  tg_u64 unexplored_edges; // of vertices that no frontier has held yet, its own among them
  tg_u32 vertices;         // in it
  tg_u32 dense_waves;      // in a row before it
} tg_signals;

// A choice, the rule that made it, and the value that its number was compared with.
typedef struct {
  tg_u64 threshold;
  tg_u32 topology;
  tg_u32 rule;
} tg_choice;

// The numbers of the density rules: those of a wave, or of a launch request.
typedef struct {
  tg_u32 queue_len;
  tg_u32 density_bps;
  tg_u32 pressure_bps;
  tg_u32 sparse_bps;
  tg_u32 dense_bps;
  tg_u32 memory_bps;
  tg_u32 may_fuse; // edges enough, and something promoted
  tg_u32 has_graph;
} tg_densities;

static inline tg_u32 tg_above(tg_u32 threshold) {
  const tg_u32 most = 65535u; // what the policy's fields hold
  return threshold + TG_BAND_BPS < most ? threshold + TG_BAND_BPS : most;
}

static inline tg_u32 tg_below(tg_u32 threshold) { return threshold > TG_BAND_BPS ? threshold - TG_BAND_BPS : 0u; }

static inline tg_choice tg_chosen(tg_u32 topology, tg_u32 rule, tg_u64 threshold) {
  tg_choice choice;
  choice.threshold = threshold;
  choice.topology = topology;
  choice.rule = rule;
  return choice;
}

// Step 4: what the numbers say by themselves.
static inline tg_choice tg_raw_topology(tg_densities of) {
  const tg_u32 density = of.density_bps;
  if (of.queue_len == 0u) {
    return tg_chosen(TG_EMPTY, TG_RULE_QUEUE_EMPTY, 0u);
  }
  if (of.pressure_bps >= of.memory_bps) {
    return tg_chosen(TG_CONSTRAINED, TG_RULE_MEMORY_PRESSURE, of.memory_bps);
  }
  if (density <= of.sparse_bps) {
    return tg_chosen(TG_SPARSE, TG_RULE_SPARSE_DENSITY, of.sparse_bps);
  }
  if (density >= of.dense_bps) {
    return of.has_graph != 0u && of.may_fuse != 0u
               ? tg_chosen(TG_FUSED, TG_RULE_DENSE_DENSITY_FUSED, of.dense_bps)
               : tg_chosen(TG_DENSE, TG_RULE_DENSE_DENSITY, of.dense_bps);
  }
  return tg_chosen(TG_HYBRID, TG_RULE_BETWEEN_DENSITIES, of.dense_bps);
}

// Step 5: keeps the previous topology while the numbers stay within its band. Bands are inclusive.
static inline tg_choice tg_with_hysteresis(tg_densities of, tg_choice raw, tg_u32 previous) {
  const tg_u32 density = of.density_bps;
  const tg_u32 to_sparse = raw.topology == TG_SPARSE;
  const tg_u32 to_hybrid = raw.topology == TG_HYBRID;
  const tg_u32 to_dense = raw.topology == TG_DENSE || raw.topology == TG_FUSED;
  if (raw.topology == TG_EMPTY || raw.topology == TG_CONSTRAINED) {
    return raw;
  }
  if (previous == TG_CONSTRAINED && of.pressure_bps >= tg_below(of.memory_bps)) {
    return tg_chosen(previous, TG_RULE_HOLD_CONSTRAINED, tg_below(of.memory_bps));
  }
  if (previous == TG_SPARSE && !to_sparse && density <= tg_above(of.sparse_bps)) {
    return tg_chosen(previous, TG_RULE_HOLD_SPARSE, tg_above(of.sparse_bps));
  }
  if (previous == TG_HYBRID && to_sparse && density >= tg_below(of.sparse_bps)) {
    return tg_chosen(previous, TG_RULE_HOLD_HYBRID_FROM_SPARSE, tg_below(of.sparse_bps));
  }
  if (previous == TG_HYBRID && to_dense && density <= tg_above(of.dense_bps)) {
    return tg_chosen(previous, TG_RULE_HOLD_HYBRID_FROM_DENSE, tg_above(of.dense_bps));
  }
  if (previous == TG_DENSE && to_hybrid && density >= tg_below(of.dense_bps)) {
    return tg_chosen(previous, TG_RULE_HOLD_DENSE, tg_below(of.dense_bps));
  }
  if (previous == TG_FUSED && to_hybrid && density >= tg_below(of.dense_bps) && of.may_fuse != 0u) {
    return tg_chosen(previous, TG_RULE_HOLD_FUSED, tg_below(of.dense_bps));
  }
  return raw;
}

// The share of the vertices that are in the frontier: 1 at least where there are any.
static inline tg_u32 tg_density_bps(tg_u32 part, tg_u32 whole) {
  const tg_u64 full = TG_FULL_BPS;
  const tg_u64 share = whole == 0u ? 0u : part * full / whole;
  const tg_u32 bps = share < full ? TG_U32(share) : TG_FULL_BPS;
  return bps == 0u && part != 0u && whole != 0u ? 1u : bps;
}

static inline tg_choice tg_choose_by_edges(tg_policy policy, tg_signals of, tg_u32 previous, tg_u32 may_fuse) {
  const tg_u32 pulled = previous == TG_DENSE || previous == TG_FUSED;
  const tg_u32 growing = of.edges > of.previous_edges;
  const tg_u64 vertices = of.vertices;
  const tg_u64 pull_edges = of.unexplored_edges / TG_PULL_EDGES;
  const tg_u32 push_vertices = policy.vertices / TG_PUSH_VERTICES;
  const tg_u32 few_vertices = tg_small_vertices(policy);
  if (pulled && (growing || vertices > push_vertices)) {
    return tg_chosen(may_fuse ? TG_FUSED : TG_DENSE, TG_RULE_HOLD_PULL, push_vertices);
  }
  if (vertices <= few_vertices && of.edges <= tg_small_edges(policy)) { // hubs may be few
    return tg_chosen(TG_SPARSE, TG_RULE_FEW_VERTICES, few_vertices);
  }
  if (policy.leaves_early != 0u && growing && of.edges > pull_edges) {
    return may_fuse ? tg_chosen(TG_FUSED, TG_RULE_MANY_EDGES_FUSED, pull_edges)
                    : tg_chosen(TG_DENSE, TG_RULE_MANY_EDGES, pull_edges);
  }
  if (of.edges > of.unexplored_edges / TG_HYBRID_EDGES) {
    return tg_chosen(TG_HYBRID, TG_RULE_SOME_EDGES, of.unexplored_edges / TG_HYBRID_EDGES);
  }
  if (previous == TG_HYBRID && of.edges > of.unexplored_edges / TG_KEEP_HYBRID_EDGES) {
    return tg_chosen(TG_HYBRID, TG_RULE_HOLD_SOME_EDGES, of.unexplored_edges / TG_KEEP_HYBRID_EDGES);
  }
  return tg_chosen(TG_SPARSE, TG_RULE_FEW_EDGES, of.unexplored_edges / TG_HYBRID_EDGES);
}

// The topology of the next wave. TG_EMPTY where nothing is left in the frontier. Densities cost a division of 64 bits, and
// a device takes a choice a microsecond: they are worked out where a rule asks for them.
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
  tg_densities densities;
  densities.queue_len = of.vertices;
  densities.density_bps = tg_density_bps(of.vertices, policy.vertices);
  densities.pressure_bps = policy.pressure_bps;
  densities.sparse_bps = policy.sparse_bps;
  densities.dense_bps = policy.dense_bps;
  densities.memory_bps = policy.memory_bps;
  densities.may_fuse = may_fuse;
  densities.has_graph = policy.vertices != 0u;
  return tg_with_hysteresis(densities, tg_raw_topology(densities), previous);
}

// How many vertices of a frontier are worked sparsely for certain behind a sparse wave, as long as their edges are few.
static inline tg_u32 tg_surely_sparse(tg_policy policy) {
  const tg_u64 whole = policy.vertices;
  if (policy.forced != TG_EMPTY) {
    return policy.forced == TG_SPARSE ? policy.vertices : 0u;
  }
  if (policy.pressure_bps >= policy.memory_bps) {
    return 0u;
  }
  if (policy.switch_rule == TG_BY_EDGES) {
    return tg_small_vertices(policy);
  }
  const tg_u32 densest = tg_above(policy.sparse_bps);
  return densest >= TG_FULL_BPS || whole == 0u ? policy.vertices : TG_U32(((densest + 1u) * whole - 1u) / TG_FULL_BPS);
}

#endif
