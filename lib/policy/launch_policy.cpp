// decide() takes the steps of the policy in order; each reads the effective request and earlier results.
#include "policy/sizing.hpp"
#include <tidegate/policy/launch_policy.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

namespace tidegate::policy {
namespace {

tl::unexpected<PolicyError> overflow(std::string_view field) {
  return tl::unexpected(PolicyError{.code = ErrorCode::overflow, .field = field});
}

// Step 8. The lanes of a dispatch never exceed its 32-bit slot count, so the product fits 64 bits.
QueuePressure pressure_class(const LaunchPolicy& policy, const LaunchRequest& effective,
                             std::uint64_t lanes) {
  if (effective.queue_len == 0) {
    return QueuePressure::empty;
  }
  if (effective.requeue_count > 0 || effective.queue_len >= lanes * policy.saturated_waves) {
    return QueuePressure::saturated;
  }
  return effective.queue_len >= lanes ? QueuePressure::balanced : QueuePressure::light;
}

// Step 9. `multiplier` is the capacity per expected hit.
PolicyResult<std::uint32_t> derived_hit_capacity(const LaunchPolicy& policy, const LaunchRequest& effective,
                                                 std::uint32_t multiplier) {
  std::uint32_t capacity = 0;
  if (__builtin_mul_overflow(effective.queue_len, std::max(effective.expected_hits_per_item, 1U),
                             &capacity) ||
      __builtin_mul_overflow(capacity, multiplier, &capacity)) {
    return overflow("hit_capacity");
  }
  return std::max(capacity, policy.min_hit_capacity);
}

} // namespace

PolicyResult<LaunchDecision> decide(const LaunchPolicy& policy, const LaunchRequest& request,
                                    std::optional<Topology> previous_topology) {
  LaunchDecision decision{.effective = infer_missing_signals(request),
                          .previous_topology = previous_topology};
  const LaunchRequest& effective = decision.effective;
  LaunchRecommendation& answer = decision.recommendation;

  const Promotion promotion = promotion_for(policy, effective);
  answer.promote_hot_opcodes = promotion.hot_opcodes;
  answer.promote_hot_windows = promotion.hot_windows;

  decision.raw = raw_topology(policy, effective, promotion);
  decision.chosen = previous_topology
                        ? with_hysteresis(policy, effective, promotion, decision.raw, *previous_topology)
                        : decision.raw;
  answer.topology = decision.chosen.topology;

  const auto shedding = shed_workers(policy, effective, answer.topology);
  if (!shedding) {
    return tl::unexpected(shedding.error());
  }
  decision.shedding = *shedding;

  const auto grid =
      grid_for(effective.queue_len, shedding->worker_groups,
               {.max_workgroup_size_x = effective.max_workgroup_size_x,
                .max_compute_workgroups_per_dimension = effective.max_compute_workgroups_per_dimension,
                .max_compute_invocations_per_workgroup = effective.max_compute_invocations_per_workgroup},
               policy.sizing);
  if (!grid) {
    return tl::unexpected(grid.error());
  }
  answer.geometry = grid->geometry;
  answer.worker_groups = grid->worker_groups;

  decision.lanes = std::uint64_t{answer.geometry.dispatch_grid[0]} * answer.geometry.workgroup_size_x;
  answer.pressure = pressure_class(policy, effective, decision.lanes);

  if (effective.requested_hit_capacity != 0) {
    answer.hit_capacity = effective.requested_hit_capacity;
  } else {
    const bool short_of_memory = effective.memory_pressure_bps >= policy.memory_pressure_threshold_bps;
    decision.hit_multiplier = short_of_memory ? 1 : policy.hit_capacity_multiplier;
    const auto capacity = derived_hit_capacity(policy, effective, decision.hit_multiplier);
    if (!capacity) {
      return tl::unexpected(capacity.error());
    }
    answer.hit_capacity = *capacity;
  }

  const std::uint64_t scratch_bytes = std::uint64_t{answer.hit_capacity} * policy.scratch_bytes_per_hit;
  if (scratch_bytes > std::numeric_limits<std::uint64_t>::max() - effective.resident_device_bytes) {
    return overflow("estimated_peak_device_bytes");
  }
  answer.estimated_peak_device_bytes = effective.resident_device_bytes + scratch_bytes;
  answer.device_memory_budget_bytes = effective.device_memory_budget_bytes;
  if (effective.device_memory_budget_bytes != 0 &&
      answer.estimated_peak_device_bytes > effective.device_memory_budget_bytes) {
    return tl::unexpected(PolicyError{.code = ErrorCode::device_out_of_memory,
                                      .field = {},
                                      .requested = answer.estimated_peak_device_bytes,
                                      .available = effective.device_memory_budget_bytes});
  }

  const bool compiled = effective.queue_len >= policy.jit_queue_len_threshold || promotion.any() ||
                        answer.topology == Topology::fused_dense;
  answer.execution_mode = compiled ? ExecutionMode::jit : ExecutionMode::interpreter;
  answer.age_priority_work =
      effective.requeue_count > 0 || effective.max_priority_age >= policy.priority_age_threshold;
  return decision;
}

PolicyResult<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request,
                                             std::optional<Topology> previous_topology) {
  return decide(policy, request, previous_topology).map([](const LaunchDecision& decision) {
    return decision.recommendation;
  });
}

} // namespace tidegate::policy
