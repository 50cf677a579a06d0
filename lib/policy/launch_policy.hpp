// The launch policy: maps one launch request to one recommendation. Pure integer functions without global
// state. The order of the steps in decide() determines which error is reported.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/policy/topology.hpp>

namespace tidegate::policy {

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

} // namespace tidegate::policy
