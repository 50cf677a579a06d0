// The arithmetic of launch geometry, and decide(), which takes the steps of the policy in order; each reads the
// effective request and earlier results.
#include "core/prelude.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy {

// Launch geometry in saturating 32-bit arithmetic.

namespace {

constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();

tl::unexpected<Error> too_long(std::string_view field) {
  return tl::unexpected(Error{.code = ErrorCode::queue_too_long,
                              .message = fmt::format("{} does not fit 32 bits", field),
                              .fix = "split the queue into several launches",
                              .field = std::string(field)});
}

tl::unexpected<Error> zero_limit(std::string_view field, std::string_view hint = "") {
  return tl::unexpected(Error{.code = ErrorCode::zero_adapter_limit,
                              .message = fmt::format("the adapter limit {} is 0", field),
                              .fix = fmt::format("give the device's limit{}", hint),
                              .pointer = fmt::format("/{}", field),
                              .field = std::string(field)});
}

constexpr std::uint32_t saturating_add(std::uint32_t a, std::uint32_t b) {
  return a > u32_max - b ? u32_max : a + b;
}

std::uint32_t most_workgroups(const SizingPolicy& sizing) {
  return std::max(sizing.max_dispatch_workgroups, 1U);
}

// Work-groups of `width` that cover `items`, at least 1 and at most the two upper bounds.
std::uint32_t workgroups_for(std::uint32_t items, std::uint32_t width, std::uint32_t worker_groups,
                             const SizingPolicy& sizing) {
  const std::uint32_t needed = std::max(saturating_add(items, width - 1) / width, 1U);
  return std::min({needed, std::max(worker_groups, 1U), most_workgroups(sizing)});
}

} // namespace

std::uint32_t worker_workgroup_size(std::uint32_t worker_count, std::uint32_t max_workgroup_size_x) {
  return std::min(std::max(worker_count, 1U), std::max(max_workgroup_size_x, 1U));
}

std::uint32_t padded_slot_count(std::uint32_t slot_count, std::uint32_t workgroup_size_x) {
  const std::uint32_t width = std::max(workgroup_size_x, 1U);
  const std::uint32_t count = std::max(slot_count, 1U);
  // The quotient times the width never exceeds the saturated sum, so the product cannot overflow.
  return saturating_add(count, width - 1) / width * width;
}

std::array<std::uint32_t, 3> dispatch_grid_for(std::uint32_t worker_count, std::uint32_t queue_len,
                                               std::uint32_t max_workgroup_size_x,
                                               const SizingPolicy& sizing) {
  const std::uint32_t width = std::max(max_workgroup_size_x, 1U);
  return {workgroups_for(queue_len, width, worker_count, sizing), 1, 1};
}

std::uint32_t default_worker_groups_from_limits(std::uint32_t max_compute_workgroups_per_dimension,
                                                std::uint32_t max_compute_invocations_per_workgroup,
                                                const SizingPolicy& sizing) {
  const std::uint32_t divisor = std::max(sizing.occupancy_worker_divisor, 1U);
  const std::uint32_t share =
      std::clamp(max_compute_workgroups_per_dimension / divisor, 1U, most_workgroups(sizing));
  const bool powerful = max_compute_invocations_per_workgroup >= sizing.powerful_invocation_threshold;
  return std::max(share, powerful ? sizing.powerful_min_worker_groups : 1U);
}

Result<LaunchGeometry> geometry_from_item_count(std::uint64_t item_count, std::uint32_t worker_count,
                                                std::uint32_t max_workgroup_size_x,
                                                const SizingPolicy& sizing) {
  if (item_count > u32_max) {
    return too_long("queue_len");
  }
  const auto count = static_cast<std::uint32_t>(item_count);
  const std::uint32_t width = worker_workgroup_size(worker_count, max_workgroup_size_x);
  const std::uint64_t items = std::max<std::uint64_t>(item_count, 1);
  const std::uint64_t slots = (items + width - 1) / width * width;
  if (slots > u32_max) {
    return too_long("slot_count");
  }
  return LaunchGeometry{.workgroup_size_x = width,
                        .slot_count = static_cast<std::uint32_t>(slots),
                        .dispatch_grid = {workgroups_for(count, width, worker_count, sizing), 1, 1}};
}

Result<Grid> grid_for(std::uint32_t queue_len, std::uint32_t requested_worker_groups,
                      const AdapterLimits& limits, const SizingPolicy& sizing) {
  if (limits.max_workgroup_size_x == 0) {
    return zero_limit("max_workgroup_size_x");
  }
  if (limits.max_compute_workgroups_per_dimension == 0) {
    return zero_limit("max_compute_workgroups_per_dimension",
                      "; left out, it is requested_worker_groups, which may be 0");
  }
  if (limits.max_compute_invocations_per_workgroup == 0) {
    return zero_limit("max_compute_invocations_per_workgroup");
  }

  const std::uint32_t wanted =
      requested_worker_groups != 0
          ? requested_worker_groups
          : default_worker_groups_from_limits(limits.max_compute_workgroups_per_dimension,
                                              limits.max_compute_invocations_per_workgroup, sizing);
  const std::uint32_t worker_groups =
      std::max(std::min(wanted, limits.max_compute_workgroups_per_dimension), 1U);

  const std::uint32_t width = worker_workgroup_size(worker_groups, limits.max_workgroup_size_x);
  const std::uint32_t slots = padded_slot_count(queue_len, width);
  return Grid{.geometry = {.workgroup_size_x = width,
                           .slot_count = slots,
                           .dispatch_grid = {workgroups_for(slots, width, worker_groups, sizing), 1, 1}},
              .worker_groups = worker_groups};
}

namespace {

tl::unexpected<Error> overflow(std::string_view field, std::string fix) {
  return tl::unexpected(Error{.code = ErrorCode::overflow,
                              .message = fmt::format("{} does not fit its integer type", field),
                              .fix = std::move(fix),
                              .field = std::string(field)});
}

} // namespace

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

namespace {

// Step 9. `multiplier` is the capacity per expected hit.
Result<std::uint32_t> derived_hit_capacity(const LaunchPolicy& policy, const LaunchRequest& effective,
                                           std::uint32_t multiplier) {
  std::uint32_t capacity = 0;
  if (__builtin_mul_overflow(effective.queue_len, std::max(effective.expected_hits_per_item, 1U),
                             &capacity) ||
      __builtin_mul_overflow(capacity, multiplier, &capacity)) {
    return overflow("hit_capacity",
                    "lower queue_len, expected_hits_per_item or the policy's hit_capacity_multiplier, or set "
                    "requested_hit_capacity");
  }
  return std::max(capacity, policy.min_hit_capacity);
}

} // namespace

Result<LaunchDecision> decide(const LaunchPolicy& policy, const LaunchRequest& request,
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

  TIDEGATE_TRY(decision.shedding, shed_workers(policy, effective, answer.topology));

  TIDEGATE_TRY(
      const Grid grid,
      grid_for(effective.queue_len, decision.shedding.worker_groups,
               {.max_workgroup_size_x = effective.max_workgroup_size_x,
                .max_compute_workgroups_per_dimension = effective.max_compute_workgroups_per_dimension,
                .max_compute_invocations_per_workgroup = effective.max_compute_invocations_per_workgroup},
               policy.sizing));
  answer.geometry = grid.geometry;
  answer.worker_groups = grid.worker_groups;

  decision.lanes = std::uint64_t{answer.geometry.dispatch_grid[0]} * answer.geometry.workgroup_size_x;
  answer.pressure = pressure_class(policy, effective, decision.lanes);

  if (effective.requested_hit_capacity != 0) {
    answer.hit_capacity = effective.requested_hit_capacity;
  } else {
    const bool short_of_memory = effective.memory_pressure_bps >= policy.memory_pressure_threshold_bps;
    decision.hit_multiplier = short_of_memory ? 1 : policy.hit_capacity_multiplier;
    TIDEGATE_TRY(answer.hit_capacity, derived_hit_capacity(policy, effective, decision.hit_multiplier));
  }

  const std::uint64_t scratch_bytes = std::uint64_t{answer.hit_capacity} * policy.scratch_bytes_per_hit;
  if (scratch_bytes > std::numeric_limits<std::uint64_t>::max() - effective.resident_device_bytes) {
    return overflow("estimated_peak_device_bytes",
                    "lower resident_device_bytes, the hit capacity or the policy's scratch_bytes_per_hit");
  }
  answer.estimated_peak_device_bytes = effective.resident_device_bytes + scratch_bytes;
  answer.device_memory_budget_bytes = effective.device_memory_budget_bytes;
  if (effective.device_memory_budget_bytes != 0 &&
      answer.estimated_peak_device_bytes > effective.device_memory_budget_bytes) {
    return tl::unexpected(Error{
        .code = ErrorCode::device_out_of_memory,
        .message =
            fmt::format("the launch needs {} bytes at its peak and the device memory budget is {} bytes",
                        answer.estimated_peak_device_bytes, effective.device_memory_budget_bytes),
        .fix = "raise device_memory_budget_bytes, or lower requested_hit_capacity, queue_len or "
               "resident_device_bytes",
        .pointer = "/device_memory_budget_bytes",
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

Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request,
                                       std::optional<Topology> previous_topology) {
  return decide(policy, request, previous_topology).map([](const LaunchDecision& decision) {
    return decision.recommendation;
  });
}

Result<LaunchRecommendation> RecommendationCache::recommend(const LaunchPolicy& policy,
                                                            const LaunchRequest& request) {
  const auto known = std::ranges::find_if(
      entries_, [&](const Entry& each) { return each.request == request && each.policy == policy; });
  if (known != entries_.end()) {
    ++hits_;
    entries_.splice(entries_.begin(), entries_, known);
    return entries_.front().recommendation;
  }
  ++misses_;
  TIDEGATE_TRY(const LaunchRecommendation answer, policy::recommend(policy, request));
  entries_.push_front({policy, request, answer});
  if (entries_.size() > capacity) {
    entries_.pop_back();
  }
  return answer;
}

} // namespace tidegate::policy
