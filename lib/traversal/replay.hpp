// The policy over the numbers that the device has logged: what it chose there, it must choose here.
#pragma once

#include <tidegate/graphs/frontier_program.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/traversal/memory.hpp>
#include <tidegate/traversal/wave_record.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidegate::traversal {

// The policy of a traversal, as it is when it runs.
struct ReplayPolicy {
  policy::LaunchPolicy launch;
  graphs::SwitchRule switch_rule = graphs::SwitchRule::edges;
  std::optional<policy::Topology> forced;
  std::uint16_t pressure_bps = 0;
  std::uint64_t edges = 0; // of the graph
  std::uint32_t vertices = 0;
  bool monotone = true; // waves may be fused
};

// The choice for a wave whose numbers are given: topology, rule, threshold and density are worked out.
WaveRecord choose(const ReplayPolicy& policy, const WaveRecord& numbers);

// How many vertices of a frontier behind a sparse wave are worked sparsely for certain, as long as no more
// edges than the graph has vertices leave them.
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
