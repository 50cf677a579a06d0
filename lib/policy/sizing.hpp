// Launch geometry: how many work-groups of which width, and how many queue slots they own.
// All functions are total and pure; sizes count work-items.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>

namespace tidegate::policy {

// Width of a worker work-group: the worker count, capped by the adapter; at least 1.
std::uint32_t worker_workgroup_size(std::uint32_t worker_count, std::uint32_t max_workgroup_size_x);

// `slot_count`, at least 1, rounded up to a multiple of the width. The rounding saturates at u32 max before
// the final division, so a count within one width of the maximum may round down.
std::uint32_t padded_slot_count(std::uint32_t slot_count, std::uint32_t workgroup_size_x);

// Work-groups for `queue_len` items: one per worker_workgroup_size items, at most `worker_count` and at most
// the policy's max_dispatch_workgroups; at least 1.
std::array<std::uint32_t, 3> dispatch_grid_for(std::uint32_t worker_count, std::uint32_t queue_len,
                                               std::uint32_t max_workgroup_size_x,
                                               const SizingPolicy& sizing = {});

// Worker groups that fill an adapter: its per-dimension limit over the occupancy divisor, within
// [1, max_dispatch_workgroups]; a powerful adapter gets at least powerful_min_worker_groups.
std::uint32_t default_worker_groups_from_limits(std::uint32_t max_compute_workgroups_per_dimension,
                                                std::uint32_t max_compute_invocations_per_workgroup,
                                                const SizingPolicy& sizing = {});

// Geometry for a 64-bit item count. Errors: queue_too_long, with queue_len if the count exceeds u32, with
// slot_count if its padding does.
Result<LaunchGeometry> geometry_from_item_count(std::uint64_t item_count, std::uint32_t worker_count,
                                                std::uint32_t max_workgroup_size_x,
                                                const SizingPolicy& sizing = {});

struct Grid {
  LaunchGeometry geometry;
  std::uint32_t worker_groups = 0;

  friend bool operator==(const Grid&, const Grid&) = default;
};

// Step 7: geometry and worker groups for a queue. `requested_worker_groups` 0 derives them from the limits.
// Errors: zero_adapter_limit with the first limit that is 0.
Result<Grid> grid_for(std::uint32_t queue_len, std::uint32_t requested_worker_groups,
                      const AdapterLimits& limits, const SizingPolicy& sizing = {});

} // namespace tidegate::policy
