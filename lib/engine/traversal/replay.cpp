#include "engine/traversal/replay.hpp"

#include "engine/traversal/kernel_layout.hpp"

#include <algorithm>

namespace tidegate::traversal {

tg_policy layout_of(const ReplayPolicy& policy) {
  return {.edges = policy.edges,
          .vertices = policy.vertices,
          .switch_rule = static_cast<tg_u32>(policy.switch_rule),
          .forced = static_cast<tg_u32>(policy.forced.value_or(policy::Topology::empty)),
          .pressure_bps = policy.pressure_bps,
          .sparse_bps = policy.launch.sparse_frontier_threshold_bps,
          .dense_bps = policy.launch.dense_frontier_threshold_bps,
          .memory_bps = policy.launch.memory_pressure_threshold_bps,
          .fusion_edges = policy.launch.fusion_edge_threshold,
          .hot_waves = policy.launch.hot_window_threshold,
          .monotone = policy.monotone ? 1U : 0U,
          .leaves_early = policy.leaves_early ? 1U : 0U,
          .lightest_first = policy.lightest_first ? 1U : 0U,
          .pulls_in_place = policy.pulls_in_place ? 1U : 0U,
          .pushes_bitmaps = policy.pushes_bitmaps ? 1U : 0U,
          .always_pushes = static_cast<tg_u32>(policy.always_pushes),
          .alone_vertices = policy.alone_vertices};
}

WaveRecord choose(const ReplayPolicy& policy, const WaveRecord& numbers) {
  const policy::tg_choice choice = tg_choose(layout_of(policy),
                                             {.edges = numbers.frontier_edges,
                                              .previous_edges = numbers.previous_edges,
                                              .unexplored_edges = numbers.unexplored_edges,
                                              .vertices = numbers.vertices,
                                              .dense_waves = numbers.dense_waves},
                                             static_cast<tg_u32>(numbers.previous_topology));
  WaveRecord chosen = numbers;
  chosen.topology = static_cast<policy::Topology>(choice.topology);
  chosen.rule = static_cast<policy::TopologyRule>(choice.rule);
  chosen.threshold = choice.threshold;
  chosen.density_bps = policy::tg_density_bps(numbers.vertices, policy.vertices);
  return chosen;
}

std::uint32_t surely_sparse(const ReplayPolicy& policy) {
  return tg_surely_sparse(layout_of(policy));
}

bool surely_slim(const ReplayPolicy& policy, std::uint32_t vertices, std::uint64_t edges) {
  return tg_surely_slim(layout_of(policy), vertices, edges) != 0;
}

Replay replay(const ReplayPolicy& policy, std::span<const WaveRecord> waves) {
  Replay result{.waves = waves.size(), .first_difference = {}};
  policy::Topology previous = policy::Topology::empty;
  for (const WaveRecord& wave : waves) {
    if (wave.previous_topology == previous && choose(policy, wave) == wave) {
      ++result.agreed;
    } else if (!result.first_difference) {
      result.first_difference = wave.wave;
    }
    previous = wave.topology;
  }
  return result;
}

std::vector<policy::TopologyEvidence> topology_evidence(std::span<const WaveRecord> waves,
                                                        const FrontierMemory& memory, std::uint32_t lanes) {
  std::vector<policy::TopologyEvidence> evidence;
  for (const WaveRecord& wave : waves) {
    const bool known = std::ranges::find(evidence, wave.topology,
                                         &policy::TopologyEvidence::selected_topology) != evidence.end();
    if (known) {
      continue;
    }
    const auto density = static_cast<std::uint16_t>(wave.density_bps);
    constexpr std::uint64_t fills_when_saturated = 4; // how often the vertices fill all lanes
    evidence.push_back({.queue_pressure = wave.vertices == 0 ? policy::QueuePressure::empty
                                          : wave.vertices >= lanes * fills_when_saturated
                                              ? policy::QueuePressure::saturated
                                          : wave.vertices >= lanes ? policy::QueuePressure::balanced
                                                                   : policy::QueuePressure::light,
                        .frontier_density_bps = density,
                        .semiring_frontier_density_bps = density,
                        .selected_topology = wave.topology,
                        .graphblas_switch_class = policy::switch_class(wave.topology),
                        .resident_device_bytes = memory.bytes,
                        .estimated_peak_device_bytes = memory.bytes});
  }
  return evidence;
}

std::optional<EvidenceFlaw> first_flaw(std::span<const policy::TopologyEvidence> evidence,
                                       std::span<const WaveRecord> waves, const FrontierMemory& memory,
                                       std::uint32_t lanes) {
  const std::vector<policy::TopologyEvidence> expected = topology_evidence(waves, memory, lanes);
  for (std::size_t i = 0; i < std::min(evidence.size(), expected.size()); ++i) {
    const policy::TopologyEvidence& given = evidence[i];
    if (const auto field = policy::incomplete_field(given)) {
      return EvidenceFlaw{i, std::string(*field), true};
    }
    const policy::LaunchRecommendation of_waves{.pressure = expected[i].queue_pressure,
                                                .topology = expected[i].selected_topology,
                                                .estimated_peak_device_bytes =
                                                    expected[i].estimated_peak_device_bytes};
    if (const auto field = policy::contradicted_field(given, of_waves)) {
      return EvidenceFlaw{i, std::string(*field)};
    }
    if (given != expected[i]) { // compares the fields that a recommendation does not contain
      const bool density = given.frontier_density_bps != expected[i].frontier_density_bps;
      return EvidenceFlaw{i, density ? "frontier_density_bps" : "resident_device_bytes"};
    }
  }
  if (evidence.size() != expected.size()) {
    return EvidenceFlaw{std::min(evidence.size(), expected.size()), "selected_topology"};
  }
  return {};
}

} // namespace tidegate::traversal
