// Compares results with those of serial algorithms; checks parents and ranks, of which several are right.
#include "core/prelude.hpp"
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/verify.hpp>

namespace tidegate::graphs {
namespace {

using Found = std::optional<Error>;

Error violated(std::string_view rule, std::string_view message) {
  return {.code = ErrorCode::outputs_differ,
          .message = fmt::format("{}: {}", rule, message),
          .fix = "run it again with another topology; if it stays wrong, report the program",
          .field = std::string(rule)};
}

Found wrong_length(const Graph& graph, std::string_view what, std::size_t values) {
  if (values == vertex_count(graph)) {
    return {};
  }
  return violated("wrong_length",
                  fmt::format("there are {} {} of {} vertices", values, what, vertex_count(graph)));
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

// Upper bound on the rounding error of an f32 rank after one iteration over `edges` incoming edges.
double rank_rounding(std::uint64_t edges, double rank, std::uint32_t vertices) {
  constexpr double half_unit = 0x1p-24;
  constexpr double of_formula = 16; // half units: three divisions of 5 each, and the rest
  return (static_cast<double>(edges) + of_formula) * half_unit * (rank + 1.0 / vertices);
}

} // namespace

Found check_parents(const Graph& graph, std::span<const Vertex> sources,
                    std::span<const std::uint32_t> levels, std::span<const Vertex> parents) {
  if (Found found = wrong_length(graph, "parents", parents.size())) {
    return found;
  }
  const std::vector<bool> is_source = marked(graph, sources);
  return first_at_vertices(graph, [&](Vertex v) -> Found {
    const Vertex parent = parents[v];
    if (is_source[v] || levels[v] == unreached) {
      const Vertex wanted = is_source[v] ? v : no_vertex;
      return parent == wanted
                 ? Found()
                 : violated(is_source[v] ? "source_parent" : "parent_level",
                            fmt::format("the parent of vertex {}, {}, is {} and should be {}", v,
                                        is_source[v] ? "a source" : "which is unreached", parent, wanted));
    }
    if (parent >= vertex_count(graph)) {
      return violated("parent_out_of_range",
                      fmt::format("the parent of vertex {} is {}, which is not a vertex", v, parent));
    }
    if (levels[parent] == unreached || levels[parent] + 1 != levels[v]) {
      return violated("parent_level", fmt::format("vertex {} has level {}, and its parent {} is {}", v,
                                                  levels[v], parent, level_text(levels[parent])));
    }
    if (!std::ranges::binary_search(graph.out.row(parent), v)) {
      return violated(
          "parent_not_adjacent",
          fmt::format("the parent of vertex {} is {}, and there is no edge between them", v, parent));
    }
    return {};
  });
}

Found check_ranks(const Graph& graph, std::span<const float> ranks, const PageRankOptions& options) {
  if (Found found = wrong_length(graph, "ranks", ranks.size())) {
    return found;
  }
  const std::uint32_t n = vertex_count(graph);
  const Rows& in = *in_rows(graph);
  const double least = (1 - options.damping) / n;
  double sum = 0, idle = 0;
  for (Vertex v = 0; v < n; ++v) {
    if (!(ranks[v] >= least - rank_rounding(0, least, n)) || !std::isfinite(ranks[v])) {
      return violated("rank_range", fmt::format("the rank of vertex {} is {}, and all have at least {}", v,
                                                ranks[v], least));
    }
    sum += ranks[v];
    idle += graph.out.degree(v) == 0 ? double{ranks[v]} : 0.0;
  }
  const double allowed = allowed_rank_change(graph, ranks, options);
  if (n != 0 && std::abs(sum - 1) > allowed / (1 - options.damping)) {
    return violated("rank_sum", fmt::format("the ranks have the sum {} and should have 1", sum));
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
        return violated("residual",
                        fmt::format("the rank of vertex {} is {}, and one more iteration makes it {}", v,
                                    ranks[v], next));
      })) {
    return found;
  }
  if (change > allowed) {
    return violated("residual", fmt::format("one more iteration changes the ranks by {}, and {} is allowed",
                                            change, allowed));
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
  return violated(
      "result_differs",
      fmt::format(
          "the ranks are off by {} in sum, and {} is allowed; that of vertex {} is {} and should be {}",
          distance, allowed, worst, ranks[worst], expected[worst]));
}

template <class Value>
Found first_difference(std::string_view what, const std::vector<Value>& expected,
                       const std::vector<Value>& got) {
  if (expected.size() != got.size()) {
    return violated("wrong_length",
                    fmt::format("there are {} {} and should be {}", got.size(), what, expected.size()));
  }
  const auto [at, other] = std::ranges::mismatch(expected, got);
  if (at == expected.end()) {
    return {};
  }
  return violated("result_differs", fmt::format("the {} differ at vertex {}: {} instead of {}", what,
                                                at - expected.begin(), *other, *at));
}
template Found first_difference(std::string_view, const std::vector<std::uint32_t>&,
                                const std::vector<std::uint32_t>&);
template Found first_difference(std::string_view, const std::vector<std::uint64_t>&,
                                const std::vector<std::uint64_t>&);
template Found first_difference(std::string_view, const std::vector<float>&, const std::vector<float>&);

std::vector<std::uint64_t> widened(std::span<const std::uint32_t> distances) {
  std::vector<std::uint64_t> wide(distances.begin(), distances.end());
  std::ranges::replace(wide, std::uint64_t{unreached}, far_away);
  return wide;
}

} // namespace tidegate::graphs
