#include "engine/traversal/checks.hpp"

#include <tidegate/graph/serial.hpp>
#include <tidegate/graph/verify.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using graphs::Violation;
using Found = std::optional<Violation>;

// `values` are distances as numbers or as bits of floats.
template <class Distance, class Sum>
Result<void> check_fit(const graphs::Rows& rows, const std::vector<Distance>& weights,
                       const std::vector<std::uint32_t>& values, Distance far, std::uint32_t first_id) {
  const auto distance = [&values](std::size_t v) { return std::bit_cast<Distance>(values[v]); };
  Sum longest = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    longest = distance(v) == far ? longest : std::max(longest, Sum{distance(v)});
  }
  const Sum heaviest = weights.empty() ? Sum{0} : Sum{*std::ranges::max_element(weights)};
  if (longest + heaviest < Sum{far}) {
    return {}; // the usual case: no edge can overflow
  }
  for (graphs::Vertex v = 0; v < rows.vertices(); ++v) {
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + std::size_t{1}]; ++e) {
      const std::uint64_t at = e - rows.first_edge;
      if (at >= weights.size()) { // in another part of the graph
        continue;
      }
      const graphs::Vertex w = rows.neighbours[at];
      const Sum through = Sum{distance(v)} + weights[at];
      if (distance(v) != far && distance(w) == far && !(through < Sum{far})) {
        return tl::unexpected(Error{
            .code = ErrorCode::overflow,
            .message = fmt::format("the distance of vertex {} does not fit 32 bits: over vertex {} at {} "
                                   "and an edge of {} it is {}",
                                   w + first_id, v + first_id, distance(v), weights[at], through),
            .fix = std::is_same_v<Distance, float>
                       ? "scale the weights down"
                       : "scale the weights down, give the graph \"weights\": \"f32\", or take a device with "
                         "atomic functions of 64 bits",
            .pointer = "/graph"});
      }
    }
  }
  return {};
}

} // namespace

Result<void> check_distances_fit(const graphs::Graph& graph, const TraversalResults& results,
                                 std::uint32_t first_id) {
  const graphs::Rows& rows = graph.out;
  if (const auto* const whole = std::get_if<std::vector<std::uint32_t>>(&rows.weights)) {
    return check_fit<std::uint32_t, std::uint64_t>(rows, *whole, results.values, graphs::unreached, first_id);
  }
  if (const auto* const floats = std::get_if<std::vector<float>>(&rows.weights)) {
    return check_fit<float, float>(rows, *floats, results.values, std::numeric_limits<float>::infinity(),
                                   first_id);
  }
  return {}; // without weights, paths have fewer edges than 2^32 - 1
}

std::vector<std::uint64_t> wide_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::uint64_t> values(words.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32U;
  }
  return values;
}

std::vector<float> floats_of(const std::vector<std::uint32_t>& bits) {
  std::vector<float> values(bits.size());
  std::ranges::transform(bits, values.begin(), [](std::uint32_t word) { return std::bit_cast<float>(word); });
  return values;
}

VerificationCost verification_cost(const graphs::FrontierProgram& program, const graphs::Graph& graph) {
  const std::uint64_t edges = graphs::edge_count(graph);
  const std::uint64_t vertices = graphs::vertex_count(graph);
  constexpr std::uint64_t of_vertex = 32; // bytes: values, a copy, parents, a queue
  VerificationCost cost{.ns = 60, .bytes = of_vertex * vertices};
  switch (program.algorithm) {
  case Algorithm::bfs:
  case Algorithm::cc:
  case Algorithm::own: break;
  case Algorithm::reach: cost.ns = 30 + 10 * program.sources.size(); break;
  case Algorithm::sssp: {
    constexpr std::uint64_t of_visit = 24; // bytes in a growing vector: each edge may shorten a path
    cost.ns = 150;
    cost.bytes += of_visit * edges;
    break;
  }
  case Algorithm::pagerank: { // each iteration multiplies the change by the damping
    const graphs::PageRankOptions options = graphs::page_rank_options(program);
    std::uint32_t iterations = 0;
    for (double change = 2;
         change >= options.tolerance && iterations < graphs::PageRankOptions().max_iterations; ++iterations) {
      change *= options.damping;
    }
    cost.ns = 30 + std::uint64_t{4} * iterations;
    break;
  }
  }
  cost.ns *= edges + vertices;
  return cost;
}

Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const TraversalResults& results) {
  const auto& values = results.values;
  const auto& parents = results.parents;
  Verification result;
  const auto check = [&result](std::string name, auto&& look) {
    if (result.error) {
      return;
    }
    result.checks.push_back(std::move(name));
    if (const Found found = look()) {
      result.error = graphs::to_error(*found);
    }
  };
  const auto& sources = program.sources;
  switch (program.algorithm) {
  case Algorithm::bfs:
    check("levels_by_property", [&] { return graphs::check_levels(graph, sources, values); });
    if (!parents.empty()) {
      check("parents_by_property", [&] { return graphs::check_parents(graph, sources, values, parents); });
    }
    check("levels_by_serial", [&] {
      return graphs::first_difference("levels", graphs::breadth_first(graph, sources).levels, values);
    });
    break;
  case Algorithm::reach:
    check("reached_by_property", [&] { return graphs::check_reached(graph, sources, values); });
    check("reached_by_serial",
          [&] { return graphs::first_difference("reached", graphs::reached_from(graph, sources), values); });
    break;
  case Algorithm::sssp:
    if (results.wide) {
      check("distances_by_serial", [&] {
        return graphs::first_difference("distances", graphs::shortest_distances_u32(graph, sources),
                                        wide_of(values));
      });
    } else if (graphs::weight_type(graph.out) == graphs::WeightType::f32) {
      const std::vector<float> distances = floats_of(values);
      check("distances_by_property", [&] { return graphs::check_distances(graph, sources, distances); });
      check("distances_by_serial", [&] {
        return graphs::first_difference("distances", graphs::shortest_distances_f32(graph, sources),
                                        distances);
      });
    } else {
      check("distances_by_property", [&] { return graphs::check_distances(graph, sources, values); });
      check("distances_by_serial", [&] {
        return graphs::first_difference("distances", graphs::shortest_distances_u32(graph, sources), values);
      });
    }
    break;
  case Algorithm::cc:
    check("components_by_property", [&] { return graphs::check_components(graph, values); });
    check("components_by_serial",
          [&] { return graphs::first_difference("components", graphs::components(graph), values); });
    break;
  case Algorithm::pagerank: {
    const std::vector<float> ranks = floats_of(values);
    graphs::PageRankOptions options = graphs::page_rank_options(program);
    options.tolerance = std::max(options.tolerance, results.rank_change);
    result.allowed_change = graphs::allowed_rank_change(graph, ranks, options);
    check("ranks_by_property", [&] { return graphs::check_ranks(graph, ranks, options); });
    check("ranks_by_serial", [&] {
      options.max_iterations = graphs::PageRankOptions().max_iterations;
      const graphs::PageRanks serial = graphs::page_ranks(graph, options);
      return graphs::check_rank_distance(serial.ranks, ranks, *result.allowed_change + serial.change,
                                         options.damping);
    });
    break;
  }
  case Algorithm::own: break; // checked on the device (own.hpp)
  }
  result.right = !result.error;
  return result;
}

Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const TraversalResults& right, const TraversalResults& results) {
  const std::vector<std::uint32_t>& values = results.values;
  Found found;
  if (program.algorithm == Algorithm::pagerank) {
    const std::vector<float> ranks = floats_of(right.values);
    graphs::PageRankOptions options = graphs::page_rank_options(program);
    options.tolerance = std::max({options.tolerance, right.rank_change, results.rank_change});
    found =
        graphs::check_rank_distance(std::vector<double>(ranks.begin(), ranks.end()), floats_of(values),
                                    2 * graphs::allowed_rank_change(graph, ranks, options), options.damping);
  } else if (program.algorithm == Algorithm::sssp &&
             graphs::weight_type(graph.out) == graphs::WeightType::f32) {
    found = graphs::first_difference("distances", floats_of(right.values), floats_of(values));
  } else {
    constexpr std::array<std::string_view, 4> names{"levels", "reached", "distances", "components"};
    found = graphs::first_difference(
        program.own ? "values" : names.at(static_cast<std::size_t>(program.algorithm)), right.values, values);
  }
  if (!found && !results.parents.empty()) { // any correct parents are accepted
    found = graphs::check_parents(graph, program.sources, values, results.parents);
  }
  return found ? tl::unexpected(graphs::to_error(*found)) : Result<void>();
}

} // namespace tidegate::traversal
