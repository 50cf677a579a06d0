// The input of the launch policy: a request and the policy's thresholds. Plain data; densities and pressures
// are in basis points (bps, 10 000 = 100 %).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidegate::policy {

inline constexpr std::uint16_t full_scale_bps = 10'000;

// Limits of a device; 0 is an error where the policy needs the field.
struct AdapterLimits {
  std::uint32_t max_workgroup_size_x = 0;
  std::uint32_t max_compute_workgroups_per_dimension = 0;
  std::uint32_t max_compute_invocations_per_workgroup = 0;
};

struct LaunchRequest {
  std::uint32_t queue_len = 0;
  std::uint32_t requested_worker_groups = 0; // 0 = derive from the adapter limits
  std::uint32_t max_workgroup_size_x = 0;
  std::uint32_t max_compute_workgroups_per_dimension = 0;
  std::uint32_t max_compute_invocations_per_workgroup = 0;
  std::uint32_t requested_hit_capacity = 0; // 0 = derive
  std::uint32_t expected_hits_per_item = 1; // 0 counts as 1
  std::uint32_t hot_opcode_count = 0;
  std::uint32_t hot_window_count = 0;
  std::uint64_t requeue_count = 0;
  std::uint32_t max_priority_age = 0; // ticks
  std::uint32_t graph_node_count = 0;
  std::uint32_t graph_edge_count = 0;
  std::uint16_t frontier_density_bps = 0; // 0 = infer from queue and nodes
  std::uint16_t memory_pressure_bps = 0;  // 0 = infer from resident bytes and budget
  std::uint64_t resident_device_bytes = 0;
  std::uint64_t device_memory_budget_bytes = 0; // 0 = unbounded

  // Makes a request from the queue length and two limits: the per-dimension limit equals the requested worker
  // groups, the invocation limit the work-group size.
  static LaunchRequest direct(std::uint32_t queue_len, std::uint32_t requested_worker_groups,
                              std::uint32_t max_workgroup_size_x) {
    return {.queue_len = queue_len,
            .requested_worker_groups = requested_worker_groups,
            .max_workgroup_size_x = max_workgroup_size_x,
            .max_compute_workgroups_per_dimension = requested_worker_groups,
            .max_compute_invocations_per_workgroup = max_workgroup_size_x};
  }

  friend bool operator==(const LaunchRequest&, const LaunchRequest&) = default;
};

struct SizingPolicy {
  std::uint32_t default_worker_count = 64;
  std::uint32_t occupancy_worker_divisor = 256; // 0 counts as 1
  std::uint32_t max_dispatch_workgroups = 1024; // 0 counts as 1
  std::uint32_t powerful_invocation_threshold = 4096;
  std::uint32_t powerful_min_worker_groups = 64;

  friend bool operator==(const SizingPolicy&, const SizingPolicy&) = default;
};

struct LaunchPolicy {
  std::uint32_t min_hit_capacity = 1024;
  std::uint32_t hit_capacity_multiplier = 2;
  std::uint32_t saturated_waves = 4;
  std::uint32_t hot_opcode_threshold = 8;
  std::uint32_t hot_window_threshold = 4;
  std::uint32_t jit_queue_len_threshold = 4096;
  std::uint32_t priority_age_threshold = 32; // ticks
  std::uint16_t sparse_frontier_threshold_bps = 500;
  std::uint16_t dense_frontier_threshold_bps = 4000;
  std::uint16_t memory_pressure_threshold_bps = 8500;
  std::uint32_t fusion_edge_threshold = 65'536;
  std::uint32_t scratch_bytes_per_hit = 16;
  SizingPolicy sizing;

  friend bool operator==(const LaunchPolicy&, const LaunchPolicy&) = default;
};

// The output of the launch policy. Plain data; each enumeration has its names in documents.

enum class Topology : std::uint8_t {
  empty,
  sparse_frontier,
  hybrid_frontier,
  dense_frontier,
  fused_dense,
  memory_constrained,
};
inline constexpr std::array<std::string_view, 6> topology_names{
    "empty", "sparse_frontier", "hybrid_frontier", "dense_frontier", "fused_dense", "memory_constrained"};

enum class QueuePressure : std::uint8_t { empty, light, balanced, saturated };
inline constexpr std::array<std::string_view, 4> queue_pressure_names{"empty", "light", "balanced",
                                                                      "saturated"};

enum class ExecutionMode : std::uint8_t { interpreter, jit };
inline constexpr std::array<std::string_view, 2> execution_mode_names{"interpreter", "jit"};

inline std::string_view name(Topology value) {
  return topology_names[static_cast<std::size_t>(value)];
}
inline std::string_view name(QueuePressure value) {
  return queue_pressure_names[static_cast<std::size_t>(value)];
}
inline std::string_view name(ExecutionMode value) {
  return execution_mode_names[static_cast<std::size_t>(value)];
}

// All that the policy is asked.
struct LaunchQuestion {
  LaunchRequest request;
  std::optional<Topology> previous_topology;
  LaunchPolicy policy;
};

struct LaunchGeometry {
  std::uint32_t workgroup_size_x = 0;
  std::uint32_t slot_count = 0; // queue slots, a multiple of workgroup_size_x
  std::array<std::uint32_t, 3> dispatch_grid{};

  friend bool operator==(const LaunchGeometry&, const LaunchGeometry&) = default;
};

struct LaunchRecommendation {
  LaunchGeometry geometry;
  std::uint32_t worker_groups = 0;
  std::uint32_t hit_capacity = 0; // sparse hits that the launch can store
  QueuePressure pressure = QueuePressure::empty;
  ExecutionMode execution_mode = ExecutionMode::interpreter;
  Topology topology = Topology::empty;
  bool promote_hot_opcodes = false;
  bool promote_hot_windows = false;
  bool age_priority_work = false;
  std::uint64_t estimated_peak_device_bytes = 0;
  std::uint64_t device_memory_budget_bytes = 0; // 0 = unbounded

  friend bool operator==(const LaunchRecommendation&, const LaunchRecommendation&) = default;
};

} // namespace tidegate::policy
