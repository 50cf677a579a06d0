// The part of a graph that a rank holds.
#include "engine/traversal/rank_run.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace tidegate::traversal {

using graphs::Algorithm;

RankPart part_of(const graphs::FrontierProgram& program, const graphs::LoadedGraph& loaded,
                 const ranks::Ranks& ranks) {
  const graphs::Graph& graph = loaded.graph;
  const bool pulls = program.algorithm == Algorithm::bfs || program.algorithm == Algorithm::pagerank;
  RankPart part{.cut = {},
                .rank = static_cast<std::uint32_t>(ranks.rank()),
                .out = &graph.out,
                .in = pulls && !graph.symmetric ? graphs::in_rows(graph) : nullptr,
                .symmetric = graph.symmetric};
  part.cut = graph.cut.empty() ? loaded.cut : graph.cut;
  if (part.cut.empty()) {
    part.cut = cut_vertices(program.algorithm == Algorithm::pagerank ? *graphs::in_rows(graph) : graph.out,
                            static_cast<std::uint32_t>(ranks.size()));
  }
  return part;
}

Result<double> mean_weight(const RankPart& part, ranks::Ranks& ranks) {
  const graphs::Rows& rows = *part.out;
  double sum = 0;
  std::visit(
      [&](const auto& weights) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
          for (std::uint64_t e = rows.offsets[part.first()]; e < rows.offsets[part.end()]; ++e) {
            sum += static_cast<double>(weights[e - rows.first_edge]);
          }
        }
      },
      rows.weights);
  // Rank 0 adds up: in one order, so that all ranks take the same number.
  TIDEGATE_TRY(const auto all, ranks.gather(std::as_bytes(std::span(&sum, 1))));
  sum = 0;
  for (const auto& bytes : all) {
    double of_rank = 0;
    std::memcpy(&of_rank, bytes.data(), sizeof of_rank);
    sum += of_rank;
  }
  TIDEGATE_CHECK(ranks.broadcast(std::as_writable_bytes(std::span(&sum, 1))));
  return sum / static_cast<double>(std::max<std::uint64_t>(rows.edges(), 1));
}

} // namespace tidegate::traversal
