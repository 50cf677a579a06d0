// Derives the evidence of a decision, and checks its completeness and consistency.
#include <tidegate/policy/evidence.hpp>

namespace tidegate::policy {

GraphblasSwitchClass switch_class(Topology topology) {
  switch (topology) {
  case Topology::empty: return GraphblasSwitchClass::empty;
  case Topology::sparse_frontier: return GraphblasSwitchClass::sparse;
  case Topology::hybrid_frontier: return GraphblasSwitchClass::hybrid;
  case Topology::dense_frontier:
  case Topology::fused_dense: return GraphblasSwitchClass::dense;
  case Topology::memory_constrained: break;
  }
  return GraphblasSwitchClass::memory_constrained;
}

PromotionRoute promotion_route(const LaunchRecommendation& recommendation) {
  if (recommendation.execution_mode == ExecutionMode::interpreter) {
    return PromotionRoute::interpreter;
  }
  if (recommendation.promote_hot_opcodes) {
    return recommendation.promote_hot_windows ? PromotionRoute::opcode_and_window_jit
                                              : PromotionRoute::opcode_jit;
  }
  return recommendation.promote_hot_windows ? PromotionRoute::window_jit : PromotionRoute::queue_jit;
}

TopologyEvidence topology_evidence(const LaunchRequest& effective,
                                   const LaunchRecommendation& recommendation) {
  return {.queue_pressure = recommendation.pressure,
          .frontier_density_bps = effective.frontier_density_bps,
          .semiring_frontier_density_bps = effective.frontier_density_bps,
          .selected_topology = recommendation.topology,
          .graphblas_switch_class = switch_class(recommendation.topology),
          .resident_device_bytes = effective.resident_device_bytes,
          .estimated_peak_device_bytes = recommendation.estimated_peak_device_bytes};
}

PromotionEvidence promotion_evidence(const LaunchPolicy& policy, const LaunchRequest& effective,
                                     const LaunchRecommendation& recommendation) {
  return {.queue_len = effective.queue_len,
          .jit_queue_len_threshold = policy.jit_queue_len_threshold,
          .hot_opcode_count = effective.hot_opcode_count,
          .hot_opcode_threshold = policy.hot_opcode_threshold,
          .hot_window_count = effective.hot_window_count,
          .hot_window_threshold = policy.hot_window_threshold,
          .execution_mode = recommendation.execution_mode,
          .promote_hot_opcodes = recommendation.promote_hot_opcodes,
          .promote_hot_windows = recommendation.promote_hot_windows,
          .promotion_route = promotion_route(recommendation),
          .fused_descriptor_window_required = recommendation.promote_hot_windows};
}

std::optional<std::string_view> incomplete_field(const TopologyEvidence& evidence) {
  if (evidence.schema_version != evidence_schema_version) {
    return "schema_version";
  }
  if (evidence.frontier_density_bps > full_scale_bps) {
    return "frontier_density_bps";
  }
  if (evidence.semiring_frontier_density_bps > full_scale_bps) {
    return "semiring_frontier_density_bps";
  }
  if (!evidence.output_parity_required) {
    return "output_parity_required";
  }
  return {};
}

std::optional<std::string_view> incomplete_field(const PromotionEvidence& evidence) {
  if (evidence.schema_version != evidence_schema_version) {
    return "schema_version";
  }
  if (evidence.jit_queue_len_threshold == 0) {
    return "jit_queue_len_threshold";
  }
  if (evidence.hot_opcode_threshold == 0) {
    return "hot_opcode_threshold";
  }
  if (evidence.hot_window_threshold == 0) {
    return "hot_window_threshold";
  }
  if (evidence.fused_descriptor_window_required != evidence.promote_hot_windows) {
    return "fused_descriptor_window_required";
  }
  if (!evidence.output_parity_required) {
    return "output_parity_required";
  }
  return {};
}

std::optional<std::string_view> contradicted_field(const TopologyEvidence& evidence,
                                                   const LaunchRecommendation& recommendation) {
  if (evidence.queue_pressure != recommendation.pressure) {
    return "queue_pressure";
  }
  if (evidence.selected_topology != recommendation.topology) {
    return "selected_topology";
  }
  if (evidence.graphblas_switch_class != switch_class(recommendation.topology)) {
    return "graphblas_switch_class";
  }
  if (evidence.estimated_peak_device_bytes != recommendation.estimated_peak_device_bytes) {
    return "estimated_peak_device_bytes";
  }
  if (evidence.resident_device_bytes > recommendation.estimated_peak_device_bytes) {
    return "resident_device_bytes";
  }
  if (evidence.semiring_frontier_density_bps != evidence.frontier_density_bps) {
    return "semiring_frontier_density_bps";
  }
  return {};
}

std::optional<std::string_view> contradicted_field(const PromotionEvidence& evidence,
                                                   const LaunchRecommendation& recommendation,
                                                   bool by_thresholds) {
  if (evidence.execution_mode != recommendation.execution_mode) {
    return "execution_mode";
  }
  if (evidence.promote_hot_opcodes != recommendation.promote_hot_opcodes ||
      (by_thresholds &&
       evidence.promote_hot_opcodes != (evidence.hot_opcode_count >= evidence.hot_opcode_threshold))) {
    return "promote_hot_opcodes";
  }
  if (evidence.promote_hot_windows != recommendation.promote_hot_windows ||
      (by_thresholds &&
       evidence.promote_hot_windows != (evidence.hot_window_count >= evidence.hot_window_threshold))) {
    return "promote_hot_windows";
  }
  // A fused topology requires a promotion, so the queue and the promotions determine the mode.
  const bool compiled = evidence.queue_len >= evidence.jit_queue_len_threshold ||
                        evidence.promote_hot_opcodes || evidence.promote_hot_windows;
  if (by_thresholds && compiled != (evidence.execution_mode == ExecutionMode::jit)) {
    return "execution_mode";
  }
  if (evidence.promotion_route != promotion_route(recommendation)) {
    return "promotion_route";
  }
  return {};
}

} // namespace tidegate::policy
