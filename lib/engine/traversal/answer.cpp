// The numbers of a result that a reader asks for first.
#include "engine/traversal/checks.hpp"
#include "engine/traversal/report.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;

// Bits of distances that are not negative have the order of the distances, also those of floats. The loop has no branch
// on a value: no processor predicts whether a vertex is reached.
void find_farthest(const std::vector<std::uint32_t>& values, std::uint32_t unreached, bool floats,
                   Answer& answer) {
  std::uint32_t most = 0; // the greatest value, plus 1
  std::uint64_t count = 0;
  for (const std::uint32_t value : values) {
    const bool reached = value != unreached;
    count += reached ? 1 : 0;
    most = std::max(most, reached ? value + 1 : 0);
  }
  answer.reached = count;
  if (most != 0) {
    answer.farthest = static_cast<std::uint32_t>(std::ranges::find(values, most - 1) - values.begin());
    answer.distance = floats ? double{std::bit_cast<float>(most - 1)} : static_cast<double>(most - 1);
  }
}

void find_farthest(const std::vector<std::uint64_t>& values, Answer& answer) {
  std::optional<std::size_t> farthest;
  answer.reached = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    if (values[v] != graphs::far_away) {
      ++*answer.reached;
      farthest = !farthest || values[v] > values[*farthest] ? v : *farthest;
    }
  }
  if (farthest) {
    answer.farthest = static_cast<std::uint32_t>(*farthest);
    answer.distance = static_cast<double>(values[*farthest]);
  }
}

void count_components(const std::vector<std::uint32_t>& labels, Answer& answer) {
  std::vector<std::uint32_t> sizes(labels.size());
  for (const std::uint32_t label : labels) {
    if (label < sizes.size()) { // a wrong result is for the checks
      ++sizes[label];
    }
  }
  answer.components = sizes.size() - static_cast<std::uint64_t>(std::ranges::count(sizes, 0U));
  answer.largest = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
}

std::vector<TopRank> top_ranks(const std::vector<float>& ranks) {
  std::vector<std::uint32_t> vertices(ranks.size());
  std::iota(vertices.begin(), vertices.end(), 0U);
  const auto end = vertices.begin() + static_cast<std::ptrdiff_t>(std::min(most_top_ranks, ranks.size()));
  std::partial_sort(vertices.begin(), end, vertices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranks[a] != ranks[b] ? ranks[a] > ranks[b] : a < b;
  });
  std::vector<TopRank> top;
  for (auto vertex = vertices.begin(); vertex != end; ++vertex) {
    top.push_back({.vertex = *vertex, .rank = ranks[*vertex]});
  }
  return top;
}

} // namespace

Answer answer_of(Algorithm algorithm, bool floats, const TraversalResults& results,
                 const graphs::VertexNumbers& numbers, graphs::Vertex first) {
  Answer answer;
  switch (algorithm) {
  case Algorithm::bfs: find_farthest(results.values, graphs::unreached, false, answer); break;
  case Algorithm::sssp:
    if (results.wide) {
      find_farthest(wide_of(results.values), answer);
      break;
    }
    find_farthest(results.values, floats ? std::bit_cast<std::uint32_t>(INFINITY) : graphs::unreached, floats,
                  answer);
    break;
  case Algorithm::reach:
    answer.reached =
        results.values.size() - static_cast<std::uint64_t>(std::ranges::count(results.values, 0U));
    break;
  case Algorithm::cc: count_components(results.values, answer); break;
  case Algorithm::pagerank: answer.top = top_ranks(floats_of(results.values)); break;
  case Algorithm::own: break; // its checks count
  }
  if (answer.farthest) {
    answer.farthest = numbers.of(*answer.farthest + first);
  }
  for (TopRank& rank : answer.top ? std::span(*answer.top) : std::span<TopRank>()) {
    rank.vertex = numbers.of(rank.vertex + first);
  }
  return answer;
}

} // namespace tidegate::traversal
