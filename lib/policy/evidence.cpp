// Derives the evidence of a decision, and checks its completeness and consistency.
#include "core/prelude.hpp"
#include <tidegate/policy/evidence.hpp>

namespace tidegate::policy {

GraphblasSwitchClass switch_class(Topology topology) {
  using enum GraphblasSwitchClass;
  constexpr std::array classes{empty, sparse, hybrid, dense, dense, memory_constrained}; // by Topology
  return classes[static_cast<std::size_t>(topology)];
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

namespace {

// Fields and whether each is at fault.
std::optional<std::string_view> first_fault(std::initializer_list<std::pair<std::string_view, bool>> fields) {
  const auto* const found = std::ranges::find(fields, true, &std::pair<std::string_view, bool>::second);
  return found == fields.end() ? std::nullopt : std::optional(found->first);
}

} // namespace

std::optional<std::string_view> incomplete_field(const TopologyEvidence& evidence) {
  return first_fault(
      {{"schema_version", evidence.schema_version != evidence_schema_version},
       {"frontier_density_bps", evidence.frontier_density_bps > full_scale_bps},
       {"semiring_frontier_density_bps", evidence.semiring_frontier_density_bps > full_scale_bps},
       {"output_parity_required", !evidence.output_parity_required}});
}

std::optional<std::string_view> incomplete_field(const PromotionEvidence& evidence) {
  return first_fault({{"schema_version", evidence.schema_version != evidence_schema_version},
                      {"jit_queue_len_threshold", evidence.jit_queue_len_threshold == 0},
                      {"hot_opcode_threshold", evidence.hot_opcode_threshold == 0},
                      {"hot_window_threshold", evidence.hot_window_threshold == 0},
                      {"fused_descriptor_window_required",
                       evidence.fused_descriptor_window_required != evidence.promote_hot_windows},
                      {"output_parity_required", !evidence.output_parity_required}});
}

std::optional<std::string_view> contradicted_field(const TopologyEvidence& evidence,
                                                   const LaunchRecommendation& recommendation) {
  return first_fault(
      {{"queue_pressure", evidence.queue_pressure != recommendation.pressure},
       {"selected_topology", evidence.selected_topology != recommendation.topology},
       {"graphblas_switch_class", evidence.graphblas_switch_class != switch_class(recommendation.topology)},
       {"estimated_peak_device_bytes",
        evidence.estimated_peak_device_bytes != recommendation.estimated_peak_device_bytes},
       {"resident_device_bytes", evidence.resident_device_bytes > recommendation.estimated_peak_device_bytes},
       {"semiring_frontier_density_bps",
        evidence.semiring_frontier_density_bps != evidence.frontier_density_bps}});
}

std::optional<std::string_view> contradicted_field(const PromotionEvidence& evidence,
                                                   const LaunchRecommendation& recommendation,
                                                   bool by_thresholds) {
  const bool opcodes = evidence.hot_opcode_count >= evidence.hot_opcode_threshold;
  const bool windows = evidence.hot_window_count >= evidence.hot_window_threshold;
  // A fused topology requires a promotion, so the queue and the promotions determine the mode.
  const bool compiled = evidence.queue_len >= evidence.jit_queue_len_threshold ||
                        evidence.promote_hot_opcodes || evidence.promote_hot_windows;
  return first_fault(
      {{"execution_mode", evidence.execution_mode != recommendation.execution_mode},
       {"promote_hot_opcodes", evidence.promote_hot_opcodes != recommendation.promote_hot_opcodes ||
                                   (by_thresholds && evidence.promote_hot_opcodes != opcodes)},
       {"promote_hot_windows", evidence.promote_hot_windows != recommendation.promote_hot_windows ||
                                   (by_thresholds && evidence.promote_hot_windows != windows)},
       {"execution_mode", by_thresholds && compiled != (evidence.execution_mode == ExecutionMode::jit)},
       {"promotion_route", evidence.promotion_route != promotion_route(recommendation)}});
}

} // namespace tidegate::policy
