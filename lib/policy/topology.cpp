#include <tidegate/policy/topology.hpp>

#include <algorithm>
#include <limits>

namespace tidegate::policy {
namespace {

constexpr std::uint16_t above(std::uint16_t threshold) {
  const std::uint32_t sum = std::uint32_t{threshold} + hysteresis_band_bps;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(sum, std::numeric_limits<std::uint16_t>::max()));
}

constexpr std::uint16_t below(std::uint16_t threshold) {
  return threshold > hysteresis_band_bps ? static_cast<std::uint16_t>(threshold - hysteresis_band_bps) : 0;
}

std::uint16_t share_of_budget_bps(std::uint64_t resident_bytes, std::uint64_t budget_bytes) {
  if (resident_bytes >= budget_bytes) {
    return full_scale_bps;
  }
  // 128 bits only where the product needs them: the wide division costs tens of nanoseconds.
  if (resident_bytes <= std::numeric_limits<std::uint64_t>::max() / full_scale_bps) {
    return static_cast<std::uint16_t>(resident_bytes * full_scale_bps / budget_bytes);
  }
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint16_t>(Wide{resident_bytes} * full_scale_bps / budget_bytes);
}

bool fuses(const LaunchPolicy& policy, const LaunchRequest& effective, Promotion promotion) {
  return effective.graph_edge_count >= policy.fusion_edge_threshold && promotion.any();
}

} // namespace

LaunchRequest infer_missing_signals(const LaunchRequest& request) {
  LaunchRequest effective = request;
  if (request.frontier_density_bps == 0 && request.queue_len != 0 && request.graph_node_count != 0) {
    const std::uint64_t active = std::min(request.queue_len, request.graph_node_count);
    const std::uint64_t density = active * full_scale_bps / request.graph_node_count;
    effective.frontier_density_bps =
        static_cast<std::uint16_t>(std::clamp<std::uint64_t>(density, 1, full_scale_bps));
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
  if (effective.queue_len == 0) {
    return {Topology::empty, TopologyRule::queue_empty};
  }
  if (effective.memory_pressure_bps >= policy.memory_pressure_threshold_bps) {
    return {Topology::memory_constrained, TopologyRule::memory_pressure};
  }
  if (effective.frontier_density_bps <= policy.sparse_frontier_threshold_bps) {
    return {Topology::sparse_frontier, TopologyRule::sparse_density};
  }
  if (effective.frontier_density_bps >= policy.dense_frontier_threshold_bps) {
    return effective.graph_node_count > 0 && fuses(policy, effective, promotion)
               ? TopologyChoice{Topology::fused_dense, TopologyRule::dense_density_fused}
               : TopologyChoice{Topology::dense_frontier, TopologyRule::dense_density};
  }
  return {Topology::hybrid_frontier, TopologyRule::between_densities};
}

TopologyChoice with_hysteresis(const LaunchPolicy& policy, const LaunchRequest& effective,
                               Promotion promotion, TopologyChoice raw, Topology previous) {
  if (raw.topology == Topology::empty || raw.topology == Topology::memory_constrained) {
    return raw;
  }
  const std::uint16_t density = effective.frontier_density_bps;
  const bool raw_sparse = raw.topology == Topology::sparse_frontier;
  const bool raw_hybrid = raw.topology == Topology::hybrid_frontier;
  const bool raw_dense = raw.topology == Topology::dense_frontier || raw.topology == Topology::fused_dense;

  switch (previous) {
  case Topology::memory_constrained:
    if (effective.memory_pressure_bps >= below(policy.memory_pressure_threshold_bps)) {
      return {previous, TopologyRule::hold_memory_constrained};
    }
    break;
  case Topology::sparse_frontier:
    if (!raw_sparse && density <= above(policy.sparse_frontier_threshold_bps)) {
      return {previous, TopologyRule::hold_sparse};
    }
    break;
  case Topology::hybrid_frontier:
    if (raw_sparse && density >= below(policy.sparse_frontier_threshold_bps)) {
      return {previous, TopologyRule::hold_hybrid_from_sparse};
    }
    if (raw_dense && density <= above(policy.dense_frontier_threshold_bps)) {
      return {previous, TopologyRule::hold_hybrid_from_dense};
    }
    break;
  case Topology::dense_frontier:
    if (raw_hybrid && density >= below(policy.dense_frontier_threshold_bps)) {
      return {previous, TopologyRule::hold_dense};
    }
    break;
  case Topology::fused_dense:
    if (raw_hybrid && density >= below(policy.dense_frontier_threshold_bps) &&
        fuses(policy, effective, promotion)) {
      return {previous, TopologyRule::hold_fused};
    }
    break;
  case Topology::empty: break;
  }
  return raw;
}

PolicyResult<Shedding> shed_workers(const LaunchPolicy& policy, const LaunchRequest& effective,
                                    Topology topology) {
  const std::uint64_t requested = effective.requested_worker_groups;
  Shedding result{.worker_groups = effective.requested_worker_groups};
  if (requested <= 1) {
    return result;
  }

  if (topology == Topology::memory_constrained && effective.memory_pressure_bps != 0) {
    const std::uint32_t threshold = policy.memory_pressure_threshold_bps;
    if (threshold > full_scale_bps) {
      return tl::unexpected(
          PolicyError{.code = ErrorCode::policy_out_of_range, .field = "memory_pressure_threshold_bps"});
    }
    const std::uint32_t span = std::max<std::uint32_t>(full_scale_bps - threshold, 1);
    const std::uint32_t pressure = effective.memory_pressure_bps;
    const std::uint32_t over = std::min(pressure > threshold ? pressure - threshold : 0, span);
    result.rule = SheddingRule::memory_pressure;
    result.shed_bps = 2500 + over * 2500 / span; // a quarter at the threshold, a half at full pressure
    result.worker_groups = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(requested * (full_scale_bps - result.shed_bps) / full_scale_bps, 1));
  } else if (topology == Topology::sparse_frontier && effective.graph_node_count != 0 &&
             effective.frontier_density_bps != 0) {
    constexpr std::uint64_t floor_groups = 32; // a sparse wave keeps this many workers if it asked for them
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
