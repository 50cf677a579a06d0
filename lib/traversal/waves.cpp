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

} // namespace tidegate::traversal
