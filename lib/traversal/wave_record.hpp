// What the device logs of a wave. Plain data.
#pragma once

#include <tidegate/policy/launch_recommendation.hpp>
#include <tidegate/policy/topology.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::traversal {

// The frontier's edges against those of the wave before.
enum class Trend : std::uint8_t { growing, steady, shrinking };
inline constexpr std::array<std::string_view, 3> trend_names{"growing", "steady", "shrinking"};

struct WaveRecord {
  std::uint32_t wave = 0;
  policy::Topology topology = policy::Topology::empty;
  policy::Topology previous_topology = policy::Topology::empty;
  policy::TopologyRule rule = policy::TopologyRule::queue_empty;
  std::uint64_t threshold = 0; // that the rule compared with: bps, edges or vertices
  std::uint32_t vertices = 0;  // in the frontier
  std::uint32_t density_bps = 0;
  std::uint64_t frontier_edges = 0;
  std::uint64_t previous_edges = 0; // of the frontier before
  std::uint64_t unexplored_edges = 0;
  std::uint64_t scanned_edges = 0;
  Trend trend = Trend::steady;
  std::uint32_t dense_waves = 0; // in a row before it
  bool alone = false;            // worked by one work-group

  friend bool operator==(const WaveRecord&, const WaveRecord&) = default;
};

} // namespace tidegate::traversal
