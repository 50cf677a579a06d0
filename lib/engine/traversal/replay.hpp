// The policy over the numbers that the device has logged: what it chose there, it must choose here.
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

// What the device logs of a wave. Plain data.

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

// The policy of a traversal, as it is when it runs.
struct ReplayPolicy {
  policy::LaunchPolicy launch;
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced;
  std::uint16_t pressure_bps = 0;
  std::uint64_t edges = 0; // of the graph
  std::uint32_t vertices = 0;
  bool monotone = true;     // waves may be fused
  bool leaves_early = true; // a vertex that pulls may be done before it has looked at all of its edges
  std::uint32_t alone_vertices = 0; // a frontier up to this is worked by one group
};

// The choice for a wave whose numbers are given: topology, rule, threshold and density are worked out.
WaveRecord choose(const ReplayPolicy& policy, const WaveRecord& numbers);

// How many vertices of a frontier behind a sparse wave are worked sparsely for certain, as long as their
// edges are few.
std::uint32_t surely_sparse(const ReplayPolicy& policy);

struct Replay {
  std::uint64_t waves = 0;
  std::uint64_t agreed = 0;
  std::optional<std::uint32_t> first_difference; // a wave
};
Replay replay(const ReplayPolicy& policy, std::span<const WaveRecord> waves);

// The evidence of every distinct choice, in the order of the waves.
std::vector<policy::TopologyEvidence> topology_evidence(std::span<const WaveRecord> waves,
                                                        const FrontierMemory& memory, std::uint32_t lanes);

// A field of the evidence that is not complete, or does not follow from the waves.
struct EvidenceFlaw {
  std::size_t item = 0; // of the list; its length: one is missing
  std::string field;
  bool incomplete = false;
};
std::optional<EvidenceFlaw> first_flaw(std::span<const policy::TopologyEvidence> evidence,
                                       std::span<const WaveRecord> waves, const FrontierMemory& memory,
                                       std::uint32_t lanes);

} // namespace tidegate::traversal
