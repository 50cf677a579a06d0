// Calls the topology rules shared with devices, and sheds workers.
#include "policy/topology_layout.hpp"
#include <tidegate/policy/topology.hpp>

namespace tidegate::policy {
namespace {

static_assert(full_scale_bps == TG_FULL_BPS && hysteresis_band_bps == TG_BAND_BPS);
static_assert(static_cast<tg_u32>(Topology::memory_constrained) == TG_CONSTRAINED);
static_assert(static_cast<tg_u32>(TopologyRule::hold_fused) == TG_RULE_HOLD_FUSED);
static_assert(static_cast<tg_u32>(TopologyRule::forced) == TG_RULE_FORCED);
static_assert(topology_rule_names.size() == TG_RULES);
static_assert(static_cast<tg_u32>(SwitchRule::edges) == TG_BY_EDGES);

std::uint16_t share_of_budget_bps(std::uint64_t resident_bytes, std::uint64_t budget_bytes) {
  if (resident_bytes >= budget_bytes) {
    return full_scale_bps;
  }
  // Use 128 bits only if the product needs them: the wide division costs tens of nanoseconds.
  if (resident_bytes <= std::numeric_limits<std::uint64_t>::max() / full_scale_bps) {
    return static_cast<std::uint16_t>(resident_bytes * full_scale_bps / budget_bytes);
  }
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint16_t>(Wide{resident_bytes} * full_scale_bps / budget_bytes);
}

tg_densities densities_of(const LaunchPolicy& policy, const LaunchRequest& effective, Promotion promotion) {
  const bool fuses = effective.graph_edge_count >= policy.fusion_edge_threshold && promotion.any();
  return {.queue_len = effective.queue_len,
          .density_bps = effective.frontier_density_bps,
          .pressure_bps = effective.memory_pressure_bps,
          .sparse_bps = policy.sparse_frontier_threshold_bps,
          .dense_bps = policy.dense_frontier_threshold_bps,
          .memory_bps = policy.memory_pressure_threshold_bps,
          .may_fuse = fuses ? 1U : 0U,
          .has_graph = effective.graph_node_count};
}

TopologyChoice choice_of(const tg_choice& choice) {
  return {static_cast<Topology>(choice.topology), static_cast<TopologyRule>(choice.rule)};
}

} // namespace

LaunchRequest infer_missing_signals(const LaunchRequest& request) {
  LaunchRequest effective = request;
  if (request.frontier_density_bps == 0 && request.queue_len != 0 && request.graph_node_count != 0) {
    effective.frontier_density_bps =
        static_cast<std::uint16_t>(tg_density_bps(request.queue_len, request.graph_node_count));
  }
  if (request.memory_pressure_bps == 0 && request.device_memory_budget_bytes != 0 &&
      request.resident_device_bytes != 0) {
    effective.memory_pressure_bps =
        share_of_budget_bps(request.resident_device_bytes, request.device_memory_budget_bytes);
  }
  return effective;
}

Promotion promotion_for(const LaunchPolicy& policy, const LaunchRequest& request) {
  return {.hot_opcodes = request.hot_opcode_count >= policy.hot_opcode_threshold,
          .hot_windows = request.hot_window_count >= policy.hot_window_threshold};
}

TopologyChoice raw_topology(const LaunchPolicy& policy, const LaunchRequest& effective, Promotion promotion) {
  return choice_of(tg_raw_topology(densities_of(policy, effective, promotion)));
}

TopologyChoice with_hysteresis(const LaunchPolicy& policy, const LaunchRequest& effective,
                               Promotion promotion, TopologyChoice raw, Topology previous) {
  const tg_choice unheld{.topology = static_cast<tg_u32>(raw.topology),
                         .rule = static_cast<tg_u32>(raw.rule)};
  return choice_of(
      tg_with_hysteresis(densities_of(policy, effective, promotion), unheld, static_cast<tg_u32>(previous)));
}

Result<Shedding> shed_workers(const LaunchPolicy& policy, const LaunchRequest& effective, Topology topology) {
  const std::uint64_t requested = effective.requested_worker_groups;
  Shedding result{.worker_groups = effective.requested_worker_groups};
  if (requested <= 1) {
    return result;
  }

  if (topology == Topology::memory_constrained && effective.memory_pressure_bps != 0) {
    const std::uint32_t threshold = policy.memory_pressure_threshold_bps;
    if (threshold > full_scale_bps) {
      return tl::unexpected(
          Error{.code = ErrorCode::policy_out_of_range,
                .message = "the policy's memory_pressure_threshold_bps is above 10000 bps (100 %)",
                .fix = "set it to at most 10000",
                .pointer = "/policy/memory_pressure_threshold_bps",
                .field = "memory_pressure_threshold_bps"});
    }
    const std::uint32_t span = std::max<std::uint32_t>(full_scale_bps - threshold, 1);
    const std::uint32_t pressure = effective.memory_pressure_bps;
    const std::uint32_t over = std::min(pressure > threshold ? pressure - threshold : 0, span);
    result.rule = SheddingRule::memory_pressure;
    result.shed_bps = 2500 + over * 2500 / span; // 25 % at the threshold, 50 % at full pressure
    result.worker_groups = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(requested * (full_scale_bps - result.shed_bps) / full_scale_bps, 1));
  } else if (topology == Topology::sparse_frontier && effective.graph_node_count != 0 &&
             effective.frontier_density_bps != 0) {
    constexpr std::uint64_t floor_groups = 32; // a sparse wave keeps up to this many requested workers
    const std::uint64_t span = std::max<std::uint64_t>(policy.sparse_frontier_threshold_bps, 1);
    const std::uint64_t density = std::clamp<std::uint64_t>(effective.frontier_density_bps, 1, span);
    const std::uint64_t scaled = requested * density / span;
    result.rule = SheddingRule::sparse_frontier;
    result.worker_groups =
        static_cast<std::uint32_t>(std::min(requested, std::max(scaled, std::min(requested, floor_groups))));
  }
  return result;
}

} // namespace tidegate::policy
