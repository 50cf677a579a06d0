// The part of a graph that a rank holds.
#include "engine/traversal/rank_run.hpp"

#include <algorithm>
#include <span>

namespace tidegate::traversal {

using graphs::Algorithm;

RankPart part_of(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                 const ranks::Ranks& ranks) {
  const bool pulls = program.algorithm == Algorithm::bfs || program.algorithm == Algorithm::pagerank;
  const bool by_in_rows = program.algorithm == Algorithm::pagerank;
  return {.cut = cut_vertices(by_in_rows ? *graphs::in_rows(graph) : graph.out,
                              static_cast<std::uint32_t>(ranks.size())),
          .rank = static_cast<std::uint32_t>(ranks.rank()),
          .out = &graph.out,
          .in = pulls && !graph.symmetric ? graphs::in_rows(graph) : nullptr,
          .symmetric = graph.symmetric};
}

} // namespace tidegate::traversal
