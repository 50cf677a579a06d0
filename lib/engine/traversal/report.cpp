#include "engine/traversal/report.hpp"

namespace tidegate::traversal {

std::string_view semiring_of(graphs::Algorithm algorithm) {
  switch (algorithm) {
  case graphs::Algorithm::bfs: return "any_secondi";
  case graphs::Algorithm::reach: return "or_and";
  case graphs::Algorithm::sssp: return "min_plus";
  case graphs::Algorithm::cc: return "min_second";
  case graphs::Algorithm::pagerank: return "plus_times";
  }
  return "";
}

WaveSummary summarise(std::span<const WaveRecord> waves, std::uint64_t dispatch_ns) {
  WaveSummary summary{.waves = waves.size()};
  policy::Topology previous = waves.empty() ? policy::Topology::empty : waves.front().topology;
  for (const WaveRecord& wave : waves) {
    summary.alone_waves += wave.alone ? 1 : 0;
    summary.topology_changes += wave.topology != previous ? 1 : 0;
    summary.frontier_edges += wave.frontier_edges;
    summary.scanned_edges += wave.scanned_edges;
    if (wave.vertices > summary.widest_vertices) {
      summary.widest_vertices = wave.vertices;
      summary.widest_wave = wave.wave;
    }
    previous = wave.topology;
  }
  constexpr double second = 1e9;
  summary.edges_per_second = dispatch_ns == 0 ? 0
                                              : static_cast<double>(summary.frontier_edges) * second /
                                                    static_cast<double>(dispatch_ns);
  return summary;
}

} // namespace tidegate::traversal
