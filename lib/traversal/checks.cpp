#include "traversal/checks.hpp"

#include <tidegate/graph/serial.hpp>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using graphs::Vertex;
using Found = std::optional<Error>;

Error violated(std::string_view rule, std::string_view message) {
  return {.code = ErrorCode::outputs_differ,
          .message = fmt::format("{}: {}", rule, message),
          .fix = "run it again with another topology; if it stays wrong, report the program",
          .field = std::string(rule)};
}

template <class Value>
Found first_difference(std::string_view what, const std::vector<Value>& expected,
                       const std::vector<Value>& got) {
  const auto [at, other] = std::ranges::mismatch(expected, got);
  return at == expected.end()
             ? Found()
             : violated("result_differs", fmt::format("the {} differ at vertex {}: {} instead of {}", what,
                                                      at - expected.begin(), *other, *at));
}

bool has_float_weights(const graphs::Graph& graph) {
  return graph.out.weight_type == graphs::WeightType::f32;
}

constexpr std::array<std::string_view, 6> result_names{"levels",     "reached", "distances",
                                                       "components", "ranks",   "values"};

std::string_view name_of_results(const graphs::FrontierProgram& program) {
  return result_names.at(static_cast<std::size_t>(program.algorithm));
}

// The first difference of results that are no ranks.
Found difference(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                 const TraversalResults& right, const TraversalResults& results) {
  const std::string_view what = name_of_results(program);
  return program.algorithm != Algorithm::sssp ? first_difference(what, right.values, results.values)
         : has_float_weights(graph)
             ? first_difference(what, floats_of(right.values), floats_of(results.values))
             : first_difference(what, wide_of(right), wide_of(results));
}

TraversalResults serial_results(Algorithm algorithm, const graphs::Graph& graph,
                                std::span<const Vertex> sources) {
  TraversalResults results;
  const auto take_words = [&results](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values)); // of none where the graph has no vertex
    results.values.resize(bytes.size() / sizeof(std::uint32_t));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(results.values)).begin());
  };
  switch (algorithm) {
  case Algorithm::bfs: take_words(graphs::breadth_first(graph, sources).levels); break;
  case Algorithm::reach: take_words(graphs::reached_from(graph, sources)); break;
  case Algorithm::cc: take_words(graphs::components(graph)); break;
  case Algorithm::sssp:
    if (has_float_weights(graph)) {
      take_words(graphs::shortest_distances_f32(graph, sources));
    } else {
      results.wide = true;
      take_words(graphs::shortest_distances_u32(graph, sources));
    }
    break;
  default: break;
  }
  return results;
}

Found check_parents(const graphs::Graph& graph, std::span<const Vertex> sources,
                    const std::vector<std::uint32_t>& levels, const std::vector<Vertex>& parents) {
  std::vector<bool> is_source(levels.size(), false);
  for (const Vertex source : sources) {
    is_source[source] = true;
  }
  for (Vertex v = 0; v < levels.size(); ++v) {
    const Vertex parent = parents[v];
    if (is_source[v] || levels[v] == graphs::unreached) {
      const Vertex wanted = is_source[v] ? v : graphs::no_vertex;
      if (parent != wanted) {
        return violated(is_source[v] ? "source_parent" : "parent_level",
                        fmt::format("the parent of vertex {}, {}, is {} and should be {}", v,
                                    is_source[v] ? "a source" : "which is unreached", parent, wanted));
      }
    } else if (parent >= levels.size()) {
      return violated("parent_out_of_range",
                      fmt::format("the parent of vertex {} is {}, which is not a vertex", v, parent));
    } else if (levels[parent] == graphs::unreached || levels[parent] + 1 != levels[v]) {
      return violated("parent_level",
                      fmt::format("vertex {} has level {}, and its parent {} is {}", v, levels[v], parent,
                                  levels[parent] == graphs::unreached
                                      ? "unreached"
                                      : fmt::format("level {}", levels[parent])));
    } else if (!std::ranges::binary_search(graph.out.row(parent), v)) {
      return violated(
          "parent_not_adjacent",
          fmt::format("the parent of vertex {} is {}, and there is no edge between them", v, parent));
    }
  }
  return {};
}

// Upper bound on the rounding error of an f32 rank after one iteration over `edges` incoming edges: each addition costs at most half
// a unit in the last place, 2^-24 of the sum; a rank takes one addition per incoming edge and a few more operations.
double rank_rounding(std::uint64_t edges, double rank, std::size_t vertices) {
  constexpr double half_unit = 0x1p-24;
  constexpr double of_formula = 16; // half units: three divisions of 5 each, and the rest
  return (static_cast<double>(edges) + of_formula) * half_unit * (rank + 1.0 / static_cast<double>(vertices));
}

// Upper bound on the total change of ranks by one more iteration in doubles: the tolerance plus the rounding errors.
double allowed_rank_change(const graphs::Graph& graph, const std::vector<float>& ranks, double tolerance) {
  double allowed = tolerance;
  for (Vertex v = 0; v < ranks.size(); ++v) {
    allowed += rank_rounding(graphs::in_rows(graph)->degree(v), ranks[v], ranks.size());
  }
  return allowed;
}

Found check_residual(const graphs::Graph& graph, const std::vector<float>& ranks,
                     graphs::PageRankOptions options, double allowed) {
  options.max_iterations = 1;
  const graphs::PageRanks next = graphs::page_ranks(graph, options, {ranks.begin(), ranks.end()});
  for (Vertex v = 0; v < ranks.size(); ++v) {
    if (!(std::abs(next.ranks[v] - ranks[v]) <=
          options.tolerance + rank_rounding(graphs::in_rows(graph)->degree(v), ranks[v], ranks.size()))) {
      return violated("residual",
                      fmt::format("the rank of vertex {} is {}, and one more iteration makes it {}", v,
                                  ranks[v], next.ranks[v]));
    }
  }
  return next.change <= allowed
             ? Found()
             : violated("residual",
                        fmt::format("one more iteration changes the ranks by {}, and {} is allowed",
                                    next.change, allowed));
}

// `change` over all further iterations is change / (1 - damping).
Found check_rank_distance(std::span<const double> expected, const std::vector<float>& ranks, double change,
                          double damping) {
  const double allowed = change / (1 - damping);
  double distance = 0, most = -1;
  std::size_t worst = 0;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    const double off = std::abs(expected[v] - double{ranks[v]});
    distance += off;
    if (!(off <= most) && !std::isnan(most)) {
      most = off;
      worst = v;
    }
  }
  return distance <= allowed
             ? Found()
             : violated(
                   "result_differs",
                   fmt::format(
                       "the ranks are off by {} in sum, and {} is allowed; that of vertex {} is {} and should be {}",
                       distance, allowed, worst, ranks[worst], expected[worst]));
}

// `values` are distances as numbers or as bits of floats.
template <class Distance, class Sum>
Result<void> check_fit(const graphs::Rows& rows, const std::vector<std::uint32_t>& values, Distance far,
                       const graphs::VertexNumbers& numbers) {
  const auto distance = [&values](std::size_t v) { return std::bit_cast<Distance>(values[v]); };
  Sum longest = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    longest = distance(v) == far ? longest : std::max(longest, Sum{distance(v)});
  }
  const Sum heaviest =
      rows.weights.empty() ? Sum{0} : Sum{std::bit_cast<Distance>(*std::ranges::max_element(rows.weights))};
  if (longest + heaviest < Sum{far}) {
    return {}; // the usual case: no edge can overflow
  }
  for (graphs::Vertex v = 0; v < rows.vertices(); ++v) {
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + std::size_t{1}]; ++e) {
      const graphs::Vertex w = rows.neighbours[e];
      const auto weight = std::bit_cast<Distance>(rows.weights[e]);
      const Sum through = Sum{distance(v)} + weight;
      if (distance(v) != far && distance(w) == far && !(through < Sum{far})) {
        return tl::unexpected(Error{
            .code = ErrorCode::overflow,
            .message = fmt::format("the distance of vertex {} does not fit 32 bits: over vertex {} at {} "
                                   "and an edge of {} it is {}",
                                   numbers.of(w), numbers.of(v), distance(v), weight, through),
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
                                 const graphs::VertexNumbers& numbers) {
  const graphs::Rows& rows = graph.out;
  if (rows.weight_type == graphs::WeightType::u32) {
    return check_fit<std::uint32_t, std::uint64_t>(rows, results.values, graphs::unreached, numbers);
  }
  if (rows.weight_type == graphs::WeightType::f32) {
    return check_fit<float, float>(rows, results.values, std::numeric_limits<float>::infinity(), numbers);
  }
  return {}; // without weights, paths have fewer edges than 2^32 - 1
}

std::vector<std::uint64_t> wide_of(const TraversalResults& results) {
  const std::vector<std::uint32_t>& words = results.values;
  std::vector<std::uint64_t> values(words.size() / (results.wide ? 2 : 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = results.wide                    ? words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32U
                : words[i] == graphs::unreached ? graphs::far_away
                                                : words[i];
  }
  return values;
}

std::vector<float> floats_of(const std::vector<std::uint32_t>& bits) {
  std::vector<float> values(bits.size());
  std::ranges::transform(bits, values.begin(), [](std::uint32_t word) { return std::bit_cast<float>(word); });
  return values;
}

Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const TraversalResults& results) {
  Verification result;
  const auto check = [&result](std::string name, auto&& look) {
    if (!result.error) {
      result.checks.push_back(std::move(name));
      result.error = look();
    }
  };
  const std::string by_serial = fmt::format("{}_by_serial", name_of_results(program));
  if (program.algorithm == Algorithm::pagerank) {
    const std::vector<float> ranks = floats_of(results.values);
    graphs::PageRankOptions options = graphs::page_rank_options(program);
    options.tolerance = std::max(options.tolerance, results.rank_change);
    options.max_iterations = graphs::PageRankOptions().max_iterations;
    result.allowed_change = allowed_rank_change(graph, ranks, options.tolerance);
    check("ranks_by_property", [&] { return check_residual(graph, ranks, options, *result.allowed_change); });
    check(by_serial, [&] {
      const graphs::PageRanks serial = graphs::page_ranks(graph, options);
      return check_rank_distance(serial.ranks, ranks, *result.allowed_change + serial.change,
                                 options.damping);
    });
  } else if (program.algorithm != Algorithm::own) { // that is checked on the device (own.hpp)
    const std::vector<Vertex> sources = graphs::source_vertices(program);
    check(by_serial, [&] {
      return difference(program, graph, serial_results(program.algorithm, graph, sources), results);
    });
    if (!results.parents.empty()) {
      check("parents_by_property",
            [&] { return check_parents(graph, sources, results.values, results.parents); });
    }
  }
  result.right = !result.error;
  return result;
}

Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const TraversalResults& right, const TraversalResults& results) {
  Found found;
  if (program.algorithm == Algorithm::pagerank) {
    const std::vector<float> ranks = floats_of(right.values);
    const graphs::PageRankOptions options = graphs::page_rank_options(program);
    const double tolerance = std::max({options.tolerance, right.rank_change, results.rank_change});
    found = check_rank_distance(std::vector<double>(ranks.begin(), ranks.end()), floats_of(results.values),
                                2 * allowed_rank_change(graph, ranks, tolerance), options.damping);
  } else {
    found = difference(program, graph, right, results);
  }
  if (!found && !results.parents.empty()) {
    found = check_parents(graph, graphs::source_vertices(program), results.values, results.parents);
  }
  return found ? tl::unexpected(std::move(*found)) : Result<void>();
}

} // namespace tidegate::traversal
