// The part of a graph that a rank holds, and what all ranks find out of theirs before they run.
#include "engine/traversal/kernel_layout.hpp"
#include "engine/traversal/rank_run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
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

namespace {

// Vertices with edges to these, of edges between own vertices.
class OwnEdgesTurned {
public:
  explicit OwnEdgesTurned(const RankPart& part)
      : first_(part.first()), begin_(std::size_t{part.end()} - part.first() + 2) {
    const auto each_edge = [&](const auto& use) {
      for (std::uint32_t v = part.first(); v < part.end(); ++v) {
        for (const std::uint32_t w : part.out->row(v)) {
          if (w >= part.first() && w < part.end()) {
            use(v, w - part.first());
          }
        }
      }
    };
    each_edge([this](std::uint32_t, std::uint32_t w) { ++begin_[w + 2]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    sources_.resize(begin_.back());
    each_edge([this](std::uint32_t v, std::uint32_t w) { sources_[begin_[w + 1]++] = v; });
  }

  [[nodiscard]] std::span<const std::uint32_t> row(std::uint32_t v) const {
    const std::size_t own = v - first_;
    return std::span(sources_).subspan(begin_[own], begin_[own + 1] - begin_[own]);
  }

private:
  std::uint32_t first_;
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> sources_;
};

} // namespace

Result<std::vector<std::uint32_t>> distances_to_others(const RankPart& part, ranks::Ranks& ranks) {
  constexpr std::uint32_t far = 8;
  const auto own = [&](std::uint32_t v) { return v >= part.first() && v < part.end(); };
  const graphs::Rows* const before = part.symmetric ? part.out : part.in;
  const std::optional<OwnEdgesTurned> turned =
      before == nullptr ? std::optional<OwnEdgesTurned>(part) : std::nullopt;
  std::vector<std::uint32_t> distances(part.end() - part.first() + 1, TG_RANK_WAVES), reached;
  for (std::uint32_t v = part.first(); v < part.end(); ++v) {
    if (!std::ranges::all_of(part.out->row(v), own)) {
      distances[v - part.first()] = 0;
      reached.push_back(v);
    }
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const std::uint32_t next = distances[reached[i] - part.first()] + 1;
    for (const std::uint32_t v : turned ? turned->row(reached[i]) : before->row(reached[i])) {
      if (own(v) && distances[v - part.first()] > next) {
        distances[v - part.first()] = next;
        reached.push_back(v);
      }
    }
  }
  std::array<std::uint64_t, 2> numbers{part.end() - part.first(), 0}; // vertices, far ones
  numbers[1] = static_cast<std::uint64_t>(std::count_if(
      distances.begin(), distances.end() - 1, [](std::uint32_t distance) { return distance >= far; }));
  TIDEGATE_CHECK(ranks.reduce(numbers, std::plus()));
  return numbers[1] * 2 >= numbers[0] ? distances : std::vector<std::uint32_t>();
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
  auto bits = std::bit_cast<std::uint64_t>(sum);
  TIDEGATE_CHECK(ranks.reduce(std::span(&bits, 1), [](std::uint64_t a, std::uint64_t b) {
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  }));
  return std::bit_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(rows.edges(), 1));
}

} // namespace tidegate::traversal
