#include "traversal/waves.hpp"

namespace tidegate::traversal {

void WaveLog::add(const WaveRecord& wave) {
  const std::uint64_t pass = group_size * (wave.alone ? 1 : workers);
  sums.topology_changes += sums.waves != 0 && wave.topology != last.topology ? 1 : 0;
  sums.alone_waves += wave.alone ? 1 : 0;
  sums.frontier_edges += wave.frontier_edges;
  sums.scanned_edges += wave.scanned_edges;
  ++sums.waves;
  if (wave.vertices > sums.widest_vertices) {
    sums.widest_vertices = wave.vertices;
    sums.widest_wave = wave.wave;
  }
  vertices += wave.vertices;
  work_items += (wave.vertices + pass - 1) / pass * pass;
  dense_waves = std::max(dense_waves, wave.dense_waves);
  if (wave.density_bps >= densest.density_bps) {
    densest = wave;
  }
  if (records.size() < most_records) {
    records.push_back(wave);
  }
  last = wave;
}

tg_policy layout_of(const ChoicePolicy& policy) {
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

WaveRecord choose(const ChoicePolicy& policy, const WaveRecord& numbers) {
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

std::uint32_t surely_sparse(const ChoicePolicy& policy) {
  return tg_surely_sparse(layout_of(policy));
}

bool surely_slim(const ChoicePolicy& policy, std::uint32_t vertices, std::uint64_t edges) {
  return tg_surely_slim(layout_of(policy), vertices, edges) != 0;
}

} // namespace tidegate::traversal
