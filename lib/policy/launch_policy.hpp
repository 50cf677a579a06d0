// The launch policy: maps one launch request to one recommendation. Pure integer functions without global
// state. The order of the steps in decide() determines which error is reported.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/policy/topology.hpp>

#include <list>

namespace tidegate::policy {

// Launch geometry: how many work-groups of which width, and how many queue slots they own.

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

// A recommendation with every intermediate choice, so that evidence and explanations read the deciding
// numbers instead of computing them again.
struct LaunchDecision {
  LaunchRequest effective; // the request with inferred signals
  std::optional<Topology> previous_topology;
  TopologyChoice raw;
  TopologyChoice chosen;
  Shedding shedding;
  std::uint64_t lanes = 0;          // work-items of the whole dispatch
  std::uint32_t hit_multiplier = 0; // 0 if the capacity was requested
  LaunchRecommendation recommendation;
};

// Errors: zero_adapter_limit, policy_out_of_range, overflow {hit_capacity, estimated_peak_device_bytes},
// device_out_of_memory. `previous_topology` switches hysteresis on.
Result<LaunchDecision> decide(const LaunchPolicy& policy, const LaunchRequest& request,
                              std::optional<Topology> previous_topology = {});

// Step 8: the class of a queue on the lanes of a dispatch, which fit 32 bits.
QueuePressure pressure_class(const LaunchPolicy& policy, const LaunchRequest& effective, std::uint64_t lanes);

// Returns only the recommendation of decide().
Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request,
                                       std::optional<Topology> previous_topology = {});

struct CacheStatistics {
  std::uint64_t entries = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0; // errors count as misses and are not cached

  friend bool operator==(const CacheStatistics&, const CacheStatistics&) = default;
};

// The recommendations of the last `capacity` distinct pairs of policy and request. Not thread-safe.
class RecommendationCache {
public:
  static constexpr std::size_t capacity = 128;

  // For evidence, callers pass the effective request (infer_missing_signals), which is another key than a raw one without
  // signals.
  Result<LaunchRecommendation> recommend(const LaunchPolicy& policy, const LaunchRequest& request);

  [[nodiscard]] CacheStatistics statistics() const { return {entries_.size(), hits_, misses_}; }
  void clear() { *this = {}; }

private:
  struct Entry {
    LaunchPolicy policy;
    LaunchRequest request;
    LaunchRecommendation recommendation;
  };
  std::list<Entry> entries_; // the most recent one first
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

// A step of a decision and its reason.
struct ExplanationStep {
  std::string step;    // the decision: "topology", "worker_groups", …
  std::string outcome; // the resulting value
  std::string rule;    // stable name of the rule that decided
  std::string because; // one sentence with the numbers
};

// Returns the steps of `decision`, which decide() made for `request` under `policy`.
std::vector<ExplanationStep> explain(const LaunchPolicy& policy, const LaunchRequest& request,
                                     const LaunchDecision& decision);

} // namespace tidegate::policy
