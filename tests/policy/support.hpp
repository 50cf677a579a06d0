// Helpers of the policy tests: errors as short text, random requests and policies.
#pragma once
#include "../random.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::policy::test {

// "none", "overflow {hit_capacity}" or "device_out_of_memory {5 > 4}".
template <class T>
std::string error_of(const Result<T>& result) {
  if (result) {
    return "none";
  }
  const Error& error = result.error();
  const std::string detail = error.code == ErrorCode::device_out_of_memory
                                 ? std::to_string(*error.requested) + " > " + std::to_string(*error.available)
                                 : error.field.value_or("");
  return std::string(name(error.code)) + " {" + detail + "}";
}

using tidegate::test::seed;

class Random : public tidegate::test::Random {
public:
  using tidegate::test::Random::Random;

  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[between(0, values.size() - 1)];
  }
  // 0, or a number of up to `bits` bits with uniformly distributed length.
  std::uint32_t magnitude(unsigned bits) {
    return static_cast<std::uint32_t>(between(0, (std::uint64_t{1} << between(0, bits)) - 1));
  }
  // A number just below, at or above `value`.
  template <class T>
  T near(T value) {
    return static_cast<T>(static_cast<std::uint64_t>(value) + between(0, 2) - 1);
  }

  std::optional<Topology> previous_topology() {
    const std::uint64_t drawn = between(0, 2 * topology_names.size());
    return drawn < topology_names.size() ? std::optional(static_cast<Topology>(drawn)) : std::nullopt;
  }

  // Half of the policies are the standard one; the others change a few thresholds.
  LaunchPolicy policy() {
    LaunchPolicy policy;
    if (chance(50)) {
      return policy;
    }
    policy.min_hit_capacity = pick({0U, 1U, 1024U});
    policy.hit_capacity_multiplier = magnitude(4);
    policy.saturated_waves = magnitude(4);
    policy.hot_opcode_threshold = magnitude(4);
    policy.hot_window_threshold = magnitude(4);
    policy.jit_queue_len_threshold = magnitude(14);
    policy.priority_age_threshold = magnitude(7);
    policy.sparse_frontier_threshold_bps = static_cast<std::uint16_t>(between(0, 4000));
    policy.dense_frontier_threshold_bps = static_cast<std::uint16_t>(between(500, 10000));
    policy.memory_pressure_threshold_bps = static_cast<std::uint16_t>(between(0, 10100));
    policy.fusion_edge_threshold = magnitude(18);
    policy.scratch_bytes_per_hit = magnitude(6);
    policy.sizing.occupancy_worker_divisor = magnitude(10);
    policy.sizing.max_dispatch_workgroups = magnitude(12);
    policy.sizing.powerful_min_worker_groups = magnitude(8);
    return policy;
  }

  // Mostly valid, with densities and pressures near the standard thresholds and their bands.
  LaunchRequest request() {
    const auto signal = [this] {
      return chance(40) ? std::uint16_t{0}
                        : near(pick<std::uint16_t>({1, 250, 500, 750, 3750, 4000, 4250, 8250, 8500, 10000}));
    };
    LaunchRequest request;
    request.queue_len = magnitude(20);
    request.requested_worker_groups = chance(20) ? 0 : magnitude(12);
    request.max_workgroup_size_x = chance(2) ? 0 : pick({1U, 32U, 64U, 256U, 1000U, 1024U});
    request.max_compute_workgroups_per_dimension = chance(2) ? 0 : pick({1U, 64U, 1024U, 65535U, ~0U});
    request.max_compute_invocations_per_workgroup = chance(2) ? 0 : pick({256U, 1024U, 4095U, 4096U});
    request.requested_hit_capacity = chance(70) ? 0 : magnitude(16);
    request.expected_hits_per_item = magnitude(3);
    request.hot_opcode_count = magnitude(4);
    request.hot_window_count = magnitude(3);
    request.requeue_count = chance(70) ? 0 : magnitude(8);
    request.max_priority_age = magnitude(7);
    request.graph_node_count = chance(30) ? 0 : magnitude(24);
    request.graph_edge_count = magnitude(20);
    request.frontier_density_bps = signal();
    request.memory_pressure_bps = signal();
    request.resident_device_bytes = chance(40) ? 0 : between(0, 1U << 30U);
    request.device_memory_budget_bytes = chance(50) ? 0 : between(1U << 28U, 1U << 31U);
    return request;
  }
};

} // namespace tidegate::policy::test
