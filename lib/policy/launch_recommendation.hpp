// What the launch policy answers. Plain data; every enumeration carries its document names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::policy {

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

struct LaunchGeometry {
  std::uint32_t workgroup_size_x = 0;
  std::uint32_t slot_count = 0; // queue slots, a multiple of workgroup_size_x
  std::array<std::uint32_t, 3> dispatch_grid{};

  friend bool operator==(const LaunchGeometry&, const LaunchGeometry&) = default;
};

struct LaunchRecommendation {
  LaunchGeometry geometry;
  std::uint32_t worker_groups = 0;
  std::uint32_t hit_capacity = 0; // sparse hits the launch has room for
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
