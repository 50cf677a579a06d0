// The log of a traversal's waves, and the rules that choose their topologies: those of the device
// (kernels/frontier/policy.h), for the host.
#pragma once
#include "policy/topology_layout.hpp"
#include <tidegate/policy/launch_policy.hpp>

namespace tidegate::traversal {

// State that kernels and host share.
using policy::tg_policy;
using policy::tg_u32;
using policy::tg_u64;
#include "frontier/state.h"

// The frontier's edges compared with the previous wave's.
enum class Trend : std::uint8_t { growing, steady, shrinking };
inline constexpr std::array<std::string_view, 3> trend_names{"growing", "steady", "shrinking"};
constexpr Trend trend_of(std::uint64_t edges, std::uint64_t previous) {
  return edges > previous ? Trend::growing : edges < previous ? Trend::shrinking : Trend::steady;
}

// A wave in the device's log.
struct WaveRecord {
  std::uint32_t wave = 0;
  policy::Topology topology = policy::Topology::empty;
  policy::Topology previous_topology = policy::Topology::empty;
  policy::TopologyRule rule = policy::TopologyRule::queue_empty;
  std::uint64_t threshold = 0; // that the rule compared with: bps, edges or vertices
  std::uint32_t vertices = 0;  // in the frontier
  std::uint32_t density_bps = 0;
  std::uint64_t frontier_edges = 0;
  std::uint64_t previous_edges = 0; // of the previous frontier
  std::uint64_t unexplored_edges = 0;
  std::uint64_t scanned_edges = 0;
  Trend trend = Trend::steady;
  std::uint32_t dense_waves = 0;        // consecutive ones before it
  bool alone = false;                   // processed by one work-group
  std::optional<std::uint64_t> time_ns; // of a traced run

  friend bool operator==(const WaveRecord&, const WaveRecord&) = default;
};

// Totals of all waves.
struct FrontierSummary {
  std::uint64_t waves = 0;
  std::uint64_t alone_waves = 0; // processed by one work-group
  std::uint64_t topology_changes = 0;
  std::uint32_t widest_wave = 0;
  std::uint32_t widest_vertices = 0; // of its frontier
  std::uint64_t frontier_edges = 0;  // explored edges of all frontiers
  std::uint64_t scanned_edges = 0;   // visited edges
  double edges_per_second = 0;       // frontier_edges divided by the time of the traversal
};

// The waves of a run so far: records of the first ones, and sums over all, so that a run of any length takes bounded
// memory.
struct WaveLog {
  static constexpr std::size_t most_records = 65'535;

  std::uint64_t group_size = 1; // work-items
  std::uint64_t workers = 1;    // work-groups

  std::vector<WaveRecord> records{};
  WaveRecord last{}, densest{};
  FrontierSummary sums{};
  std::uint64_t vertices = 0;   // of all frontiers
  std::uint64_t work_items = 0; // of all passes over them

  void add(const WaveRecord& wave);
};

} // namespace tidegate::traversal
