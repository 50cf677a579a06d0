// Evaluates the policy for the numbers that the device logged; both must make the same choices.
#pragma once
#include "engine/traversal/memory.hpp"
#include "graph/program.hpp"
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/launch_request.hpp>
#include <tidegate/policy/topology.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::traversal {

// The frontier's edges compared with the previous wave's.
enum class Trend : std::uint8_t { growing, steady, shrinking };
inline constexpr std::array<std::string_view, 3> trend_names{"growing", "steady", "shrinking"};

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

// The effective policy of a traversal.
struct ReplayPolicy {
  policy::LaunchPolicy launch;
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced;
  std::uint16_t pressure_bps = 0;
  std::uint64_t edges = 0; // of the graph
  std::uint32_t vertices = 0;
  bool monotone = true;        // waves may be fused
  bool leaves_early = true;    // a pull may stop before it has visited all edges of a vertex
  bool lightest_first = false; // a pull stops at the first edge that is too heavy
  bool pulls_in_place = false; // waves of many edges are fused at once
  bool pushes_bitmaps = false; // wide frontiers are pushed in the order of their vertices
  policy::Topology always_pushes = policy::Topology::empty; // of a small graph's wide waves
  std::uint32_t alone_vertices = 0;                         // largest frontier that one group processes
};

// Computes topology, rule, threshold and density from the other numbers of a wave.
WaveRecord choose(const ReplayPolicy& policy, const WaveRecord& numbers);

// Returns the number of vertices up to which a frontier after a sparse wave is certainly sparse, if its edges
// are few.
std::uint32_t surely_sparse(const ReplayPolicy& policy);

// True if a frontier after a sparse wave is certainly sparse, for one with few edges per vertex.
bool surely_slim(const ReplayPolicy& policy, std::uint32_t vertices, std::uint64_t edges);

struct Replay {
  std::uint64_t waves = 0;
  std::uint64_t agreed = 0;
  std::optional<std::uint32_t> first_difference; // wave
};
Replay replay(const ReplayPolicy& policy, std::span<const WaveRecord> waves);

// Returns the evidence of every distinct choice, in order of the waves.
std::vector<policy::TopologyEvidence> topology_evidence(std::span<const WaveRecord> waves,
                                                        const FrontierMemory& memory, std::uint32_t lanes);

// A field of the evidence that is missing or does not follow from the waves.
struct EvidenceFlaw {
  std::size_t item = 0; // index in the list; its length: an item is missing
  std::string field;
  bool incomplete = false;
};
std::optional<EvidenceFlaw> first_flaw(std::span<const policy::TopologyEvidence> evidence,
                                       std::span<const WaveRecord> waves, const FrontierMemory& memory,
                                       std::uint32_t lanes);

} // namespace tidegate::traversal
