// Derives the traversal's topology from the density of the frontier and the memory pressure, both in basis
// points. Every choice returns the rule that made it, for explanations.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>

namespace tidegate::policy {

inline constexpr std::uint16_t hysteresis_band_bps = 250; // TG_BAND_BPS

// Step 2: fills in a missing density and a missing pressure. Idempotent.
LaunchRequest infer_missing_signals(const LaunchRequest& request);

// Step 3: hot opcodes and windows that are promoted.
struct Promotion {
  bool hot_opcodes = false;
  bool hot_windows = false;

  [[nodiscard]] bool any() const { return hot_opcodes || hot_windows; }
};
Promotion promotion_for(const LaunchPolicy& policy, const LaunchRequest& request);

// The signal of a traversal's rules: the frontier's share of the vertices, or the edges of the frontier.
enum class SwitchRule : std::uint8_t { density, edges };
inline constexpr std::array<std::string_view, 2> switch_rule_names{"density", "edges"};

// The rule that decided the topology, in the order in which rules are tried. The numbers equal those of
// kernels/frontier/policy.h, which implements the rules.
enum class TopologyRule : std::uint8_t {
  // raw rules (step 4)
  queue_empty,
  memory_pressure,
  sparse_density,
  dense_density_fused,
  dense_density,
  between_densities,
  // hysteresis rules (step 5)
  hold_memory_constrained,
  hold_sparse,
  hold_hybrid_from_sparse,
  hold_hybrid_from_dense,
  hold_dense,
  hold_fused,
  // rules of traversals, which use the frontier's edges
  few_vertices,
  many_edges_fused,
  many_edges,
  hold_pull,
  some_edges,
  hold_some_edges,
  few_edges,
  forced,
};
inline constexpr std::array<std::string_view, 20> topology_rule_names{"queue_empty",
                                                                      "memory_pressure",
                                                                      "sparse_density",
                                                                      "dense_density_fused",
                                                                      "dense_density",
                                                                      "between_densities",
                                                                      "hold_memory_constrained",
                                                                      "hold_sparse",
                                                                      "hold_hybrid_from_sparse",
                                                                      "hold_hybrid_from_dense",
                                                                      "hold_dense",
                                                                      "hold_fused",
                                                                      "few_vertices",
                                                                      "many_edges_fused",
                                                                      "many_edges",
                                                                      "hold_pull",
                                                                      "some_edges",
                                                                      "hold_some_edges",
                                                                      "few_edges",
                                                                      "forced"};
inline std::string_view name(TopologyRule rule) {
  return topology_rule_names[static_cast<std::size_t>(rule)];
}

struct TopologyChoice {
  Topology topology = Topology::empty;
  TopologyRule rule = TopologyRule::queue_empty;
};

// Step 4, on an effective request (step 2).
TopologyChoice raw_topology(const LaunchPolicy& policy, const LaunchRequest& effective, Promotion promotion);

// Step 5: keeps the previous topology while the signals stay within its band, otherwise returns `raw`.
TopologyChoice with_hysteresis(const LaunchPolicy& policy, const LaunchRequest& effective,
                               Promotion promotion, TopologyChoice raw, Topology previous);

// Step 6: requested worker groups after shedding.
enum class SheddingRule : std::uint8_t { none, memory_pressure, sparse_frontier };

struct Shedding {
  std::uint32_t worker_groups = 0;
  SheddingRule rule = SheddingRule::none;
  std::uint32_t shed_bps = 0; // share removed by memory pressure
};

// Errors: policy_out_of_range if the memory threshold is above 10000 bps and shedding needs its span.
Result<Shedding> shed_workers(const LaunchPolicy& policy, const LaunchRequest& effective, Topology topology);

} // namespace tidegate::policy
