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
  if (wave.density_bps >= densest.density_bps) {
    densest = wave;
  }
  if (records.size() < most_records) {
    records.push_back(wave);
  }
  last = wave;
}

WaveRecord choose(const tg_policy& policy, const WaveRecord& numbers) {
  const policy::tg_choice choice = tg_choose(policy,
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

} // namespace tidegate::traversal
