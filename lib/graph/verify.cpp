// Compares results with those of serial algorithms; checks parents and ranks, of which several are right.
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/verify.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate::graphs {
namespace {

using Found = std::optional<Violation>;

template <class Value>
Found wrong_length(const Graph& graph, std::string_view what, std::span<const Value> values) {
  if (values.size() == vertex_count(graph)) {
    return {};
  }
  return Violation{
      .rule = "wrong_length",
      .message = fmt::format("there are {} {} of {} vertices", values.size(), what, vertex_count(graph))};
}

Violation at_vertex(std::string_view rule, Vertex vertex, std::string message) {
  return {.rule = rule, .message = std::move(message), .vertex = vertex};
}

Violation at_edge(std::string_view rule, Vertex source, Vertex target, std::string message) {
  return {.rule = rule, .message = std::move(message), .edge = Edge{source, target}};
}

template <class Look>
Found first_at_vertices(const Graph& graph, Look look) {
  for (Vertex v = 0; v < vertex_count(graph); ++v) {
    if (Found found = look(v)) {
      return found;
    }
  }
  return {};
}

std::vector<bool> marked(const Graph& graph, std::span<const Vertex> sources) {
  std::vector<bool> is_source(vertex_count(graph), false);
  for (const Vertex source : sources) {
    is_source[source] = true;
  }
  return is_source;
}

std::string level_text(std::uint32_t level) {
  return level == unreached ? "unreached" : fmt::format("level {}", level);
}

template <class Value>
Found difference(std::string_view what, std::span<const Value> expected, std::span<const Value> got) {
  if (expected.size() != got.size()) {
    return Violation{.rule = "wrong_length",
                     .message =
                         fmt::format("there are {} {} and should be {}", got.size(), what, expected.size())};
  }
  const auto [at, other] = std::ranges::mismatch(expected, got);
  if (at == expected.end()) {
    return {};
  }
  const auto v = static_cast<Vertex>(at - expected.begin());
  return at_vertex("result_differs", v,
                   fmt::format("the {} differ at vertex {}: {} instead of {}", what, v, *other, *at));
}

// Upper bound on the rounding error of an f32 rank after one iteration over `edges` incoming edges.
double rank_rounding(std::uint64_t edges, double rank, std::uint32_t vertices) {
  constexpr double half_unit = 0x1p-24;
  constexpr double of_formula = 16; // half units: three divisions of 5 each, and the rest
  return (static_cast<double>(edges) + of_formula) * half_unit * (rank + 1.0 / vertices);
}

} // namespace

Found check_parents(const Graph& graph, std::span<const Vertex> sources,
                    std::span<const std::uint32_t> levels, std::span<const Vertex> parents) {
  if (Found found = wrong_length(graph, "parents", parents)) {
    return found;
  }
  const std::vector<bool> is_source = marked(graph, sources);
  return first_at_vertices(graph, [&](Vertex v) -> Found {
    const Vertex parent = parents[v];
    if (is_source[v] || levels[v] == unreached) {
      const Vertex wanted = is_source[v] ? v : no_vertex;
      return parent == wanted
                 ? Found()
                 : at_vertex(is_source[v] ? "source_parent" : "parent_level", v,
                             fmt::format("the parent of vertex {}, {}, is {} and should be {}", v,
                                         is_source[v] ? "a source" : "which is unreached", parent, wanted));
    }
    if (parent >= vertex_count(graph)) {
      return at_vertex("parent_out_of_range", v,
                       fmt::format("the parent of vertex {} is {}, which is not a vertex", v, parent));
    }
    if (levels[parent] == unreached || levels[parent] + 1 != levels[v]) {
      return at_vertex("parent_level", v,
                       fmt::format("vertex {} has level {}, and its parent {} is {}", v, levels[v], parent,
                                   level_text(levels[parent])));
    }
    if (!std::ranges::binary_search(graph.out.row(parent), v)) {
      return at_edge(
          "parent_not_adjacent", parent, v,
          fmt::format("the parent of vertex {} is {}, and there is no edge between them", v, parent));
    }
    return {};
  });
}

Found check_ranks(const Graph& graph, std::span<const float> ranks, const PageRankOptions& options) {
  if (Found found = wrong_length(graph, "ranks", ranks)) {
    return found;
  }
  const std::uint32_t n = vertex_count(graph);
  const Rows& in = *in_rows(graph);
  const double least = (1 - options.damping) / n;
  double sum = 0, idle = 0;
  for (Vertex v = 0; v < n; ++v) {
    if (!(ranks[v] >= least - rank_rounding(0, least, n)) || !std::isfinite(ranks[v])) {
      return at_vertex(
          "rank_range", v,
          fmt::format("the rank of vertex {} is {}, and all have at least {}", v, ranks[v], least));
    }
    sum += ranks[v];
    idle += graph.out.degree(v) == 0 ? double{ranks[v]} : 0.0;
  }
  const double allowed = allowed_rank_change(graph, ranks, options);
  if (n != 0 && std::abs(sum - 1) > allowed / (1 - options.damping)) {
    return Violation{.rule = "rank_sum",
                     .message = fmt::format("the ranks have the sum {} and should have 1", sum)};
  }
  double change = 0;
  const auto* const shares = options.by_shares ? std::get_if<std::vector<float>>(&in.weights) : nullptr;
  if (Found found = first_at_vertices(graph, [&](Vertex v) -> Found {
        double received = idle / n;
        for (std::uint64_t e = in.offsets[v]; e < in.offsets[v + std::size_t{1}]; ++e) {
          const Vertex u = in.neighbours[e];
          received += double{ranks[u]} * (shares != nullptr ? double{(*shares)[e]}
                                                            : 1 / static_cast<double>(graph.out.degree(u)));
        }
        const double next = least + options.damping * received;
        const double difference = std::abs(next - ranks[v]);
        change += difference;
        if (difference <= options.tolerance + rank_rounding(in.degree(v), ranks[v], n)) {
          return {};
        }
        return at_vertex("residual", v,
                         fmt::format("the rank of vertex {} is {}, and one more iteration makes it {}", v,
                                     ranks[v], next));
      })) {
    return found;
  }
  if (change > allowed) {
    return Violation{.rule = "residual",
                     .message = fmt::format("one more iteration changes the ranks by {}, and {} is allowed",
                                            change, allowed)};
  }
  return {};
}

double allowed_rank_change(const Graph& graph, std::span<const float> ranks, const PageRankOptions& options) {
  const Rows& in = *in_rows(graph);
  double allowed = options.tolerance;
  for (Vertex v = 0; v < vertex_count(graph); ++v) {
    allowed += rank_rounding(in.degree(v), ranks[v], vertex_count(graph));
  }
  return allowed;
}

Found check_rank_distance(std::span<const double> expected, std::span<const float> ranks, double change,
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
  if (distance <= allowed) {
    return {};
  }
  return at_vertex(
      "result_differs", static_cast<Vertex>(worst),
      fmt::format(
          "the ranks are off by {} in sum, and {} is allowed; that of vertex {} is {} and should be {}",
          distance, allowed, worst, ranks[worst], expected[worst]));
}

Found first_difference(std::string_view what, std::span<const std::uint32_t> expected,
                       std::span<const std::uint32_t> got) {
  return difference(what, expected, got);
}

Found first_difference(std::string_view what, std::span<const std::uint64_t> expected,
                       std::span<const std::uint32_t> got) {
  std::vector<std::uint64_t> wide(got.begin(), got.end());
  std::ranges::replace(wide, std::uint64_t{unreached}, far_away);
  return difference(what, expected, std::span<const std::uint64_t>(wide));
}

Found first_difference(std::string_view what, std::span<const std::uint64_t> expected,
                       std::span<const std::uint64_t> got) {
  return difference(what, expected, got);
}

Found first_difference(std::string_view what, std::span<const float> expected, std::span<const float> got) {
  return difference(what, expected, got);
}

Error to_error(const Violation& violation) {
  return {.code = ErrorCode::outputs_differ,
          .message = fmt::format("{}: {}", violation.rule, violation.message),
          .fix = "run it again with another topology; if it stays wrong, report the program",
          .field = std::string(violation.rule)};
}

} // namespace tidegate::graphs
