// Lists for each step of the policy the rule that decided and the numbers that it compared, under their names in the request,
// the policy and the recommendation. Nothing is decided again here.
#include "core/prelude.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy {
namespace {

using Inputs = std::initializer_list<std::pair<std::string_view, std::uint64_t>>;

// "queue_len 300, jit_queue_len_threshold 4096"
std::string text_of(Inputs inputs) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : inputs) {
    texts.push_back(fmt::format("{} {}", name, value));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

template <class Outcome>
ExplanationStep step(std::string name, const Outcome& outcome, std::string_view rule, Inputs inputs) {
  return {std::move(name), fmt::format("{}", outcome), std::string(rule), text_of(inputs)};
}

std::string_view promoted(const LaunchRecommendation& answer) {
  return answer.promote_hot_opcodes   ? (answer.promote_hot_windows ? "opcodes and windows" : "opcodes")
         : answer.promote_hot_windows ? "windows"
                                      : "none";
}

// A signal is given in the request, inferred from two other numbers, or unknown.
std::string_view source_of(std::uint64_t given, std::uint64_t a, std::uint64_t b) {
  return given != 0 ? "given" : a != 0 && b != 0 ? "inferred" : "unknown";
}

std::string_view worker_rule(const LaunchDecision& decision) {
  return decision.shedding.rule == SheddingRule::memory_pressure   ? "shed_under_memory_pressure"
         : decision.shedding.rule == SheddingRule::sparse_frontier ? "scaled_to_sparse_frontier"
         : decision.effective.requested_worker_groups == 0         ? "derived_from_limits"
                                                                   : "requested";
}

} // namespace

std::vector<ExplanationStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                                     const LaunchDecision& decision) {
  const LaunchRequest& effective = decision.effective;
  const LaunchRecommendation& answer = decision.recommendation;
  const LaunchGeometry& geometry = answer.geometry;
  const bool requeued = effective.requeue_count > 0;
  const bool is_long = effective.queue_len >= policy.jit_queue_len_threshold;
  const bool compiled = answer.execution_mode == ExecutionMode::jit; // a fused topology requires a promotion
  std::vector<ExplanationStep> steps{
      step("frontier_density_bps", effective.frontier_density_bps,
           source_of(request.frontier_density_bps, effective.queue_len, effective.graph_node_count),
           {{"queue_len", effective.queue_len}, {"graph_node_count", effective.graph_node_count}}),
      step("memory_pressure_bps", effective.memory_pressure_bps,
           source_of(request.memory_pressure_bps, effective.resident_device_bytes,
                     effective.device_memory_budget_bytes),
           {{"resident_device_bytes", effective.resident_device_bytes},
            {"device_memory_budget_bytes", effective.device_memory_budget_bytes}}),
      step("promotion", promoted(answer), "hot_thresholds",
           {{"hot_opcode_count", effective.hot_opcode_count},
            {"hot_opcode_threshold", policy.hot_opcode_threshold},
            {"hot_window_count", effective.hot_window_count},
            {"hot_window_threshold", policy.hot_window_threshold}}),
      step("topology", name(answer.topology), name(decision.topology_rule),
           {{"frontier_density_bps", effective.frontier_density_bps},
            {"sparse_frontier_threshold_bps", policy.sparse_frontier_threshold_bps},
            {"dense_frontier_threshold_bps", policy.dense_frontier_threshold_bps},
            {"memory_pressure_bps", effective.memory_pressure_bps},
            {"memory_pressure_threshold_bps", policy.memory_pressure_threshold_bps},
            {"graph_edge_count", effective.graph_edge_count},
            {"fusion_edge_threshold", policy.fusion_edge_threshold}}),
      step("worker_groups", answer.worker_groups, worker_rule(decision),
           {{"requested_worker_groups", effective.requested_worker_groups},
            {"shed_bps", decision.shedding.shed_bps},
            {"max_compute_workgroups_per_dimension", effective.max_compute_workgroups_per_dimension},
            {"max_compute_invocations_per_workgroup", effective.max_compute_invocations_per_workgroup}}),
      step("geometry", fmt::format("{} x {}", geometry.dispatch_grid[0], geometry.workgroup_size_x), "grid",
           {{"worker_groups", answer.worker_groups},
            {"max_workgroup_size_x", effective.max_workgroup_size_x},
            {"slot_count", geometry.slot_count},
            {"max_dispatch_workgroups", policy.sizing.max_dispatch_workgroups}}),
      step("pressure", name(answer.pressure),
           requeued && effective.queue_len != 0 ? "requeues_seen" : "queue_over_lanes",
           {{"queue_len", effective.queue_len},
            {"lanes", decision.lanes},
            {"saturated_waves", policy.saturated_waves},
            {"requeue_count", effective.requeue_count}}),
      step("hit_capacity", answer.hit_capacity,
           effective.requested_hit_capacity != 0 ? "requested" : "derived",
           {{"requested_hit_capacity", effective.requested_hit_capacity},
            {"queue_len", effective.queue_len},
            {"expected_hits_per_item", effective.expected_hits_per_item},
            {"multiplier", decision.hit_multiplier},
            {"min_hit_capacity", policy.min_hit_capacity}}),
      step("estimated_peak_device_bytes", answer.estimated_peak_device_bytes, "resident_plus_scratch",
           {{"resident_device_bytes", effective.resident_device_bytes},
            {"hit_capacity", answer.hit_capacity},
            {"scratch_bytes_per_hit", policy.scratch_bytes_per_hit},
            {"device_memory_budget_bytes", effective.device_memory_budget_bytes}}),
      step("execution_mode", name(answer.execution_mode),
           is_long    ? "long_queue"
           : compiled ? "promotion"
                      : "short_cold_queue",
           {{"queue_len", effective.queue_len}, {"jit_queue_len_threshold", policy.jit_queue_len_threshold}}),
      step("age_priority_work", answer.age_priority_work ? "yes" : "no",
           requeued ? "requeues_seen" : "oldest_item",
           {{"requeue_count", effective.requeue_count},
            {"max_priority_age", effective.max_priority_age},
            {"priority_age_threshold", policy.priority_age_threshold}}),
  };
  if (decision.previous_topology) {
    steps[3].because += fmt::format(", previous_topology {}", name(*decision.previous_topology));
  }
  return steps;
}

} // namespace tidegate::policy
