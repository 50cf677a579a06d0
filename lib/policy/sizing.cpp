// Launch geometry in saturating 32-bit arithmetic.
#include "policy/sizing.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace tidegate::policy {
namespace {

constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();

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

PolicyResult<LaunchGeometry> geometry_from_item_count(std::uint64_t item_count, std::uint32_t worker_count,
                                                      std::uint32_t max_workgroup_size_x,
                                                      const SizingPolicy& sizing) {
  if (item_count > u32_max) {
    return tl::unexpected(PolicyError{.code = ErrorCode::queue_too_long, .field = "queue_len"});
  }
  const auto count = static_cast<std::uint32_t>(item_count);
  const std::uint32_t width = worker_workgroup_size(worker_count, max_workgroup_size_x);
  const std::uint64_t items = std::max<std::uint64_t>(item_count, 1);
  const std::uint64_t slots = (items + width - 1) / width * width;
  if (slots > u32_max) {
    return tl::unexpected(PolicyError{.code = ErrorCode::queue_too_long, .field = "slot_count"});
  }
  return LaunchGeometry{.workgroup_size_x = width,
                        .slot_count = static_cast<std::uint32_t>(slots),
                        .dispatch_grid = {workgroups_for(count, width, worker_count, sizing), 1, 1}};
}

PolicyResult<Grid> grid_for(std::uint32_t queue_len, std::uint32_t requested_worker_groups,
                            const AdapterLimits& limits, const SizingPolicy& sizing) {
  const auto zero = [](std::string_view field) {
    return tl::unexpected(PolicyError{.code = ErrorCode::zero_adapter_limit, .field = field});
  };
  if (limits.max_workgroup_size_x == 0) {
    return zero("max_workgroup_size_x");
  }
  if (limits.max_compute_workgroups_per_dimension == 0) {
    return zero("max_compute_workgroups_per_dimension");
  }
  if (limits.max_compute_invocations_per_workgroup == 0) {
    return zero("max_compute_invocations_per_workgroup");
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

} // namespace tidegate::policy
