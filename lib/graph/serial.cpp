// The serial reference algorithms and the statistics of graphs.
#include "core/prelude.hpp"
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/serial.hpp>

namespace tidegate::graphs {
namespace {

template <class Distance, class Weight>
std::vector<Distance> dijkstra(const Graph& graph, std::span<const Vertex> sources, Distance far) {
  const Rows& rows = graph.out;
  std::vector<Distance> distances(rows.vertices(), far);
  using Visit = std::pair<Distance, Vertex>;
  std::priority_queue<Visit, std::vector<Visit>, std::greater<>> queue;
  for (const Vertex source : sources) {
    distances[source] = 0;
    queue.emplace(Distance{0}, source);
  }
  while (!queue.empty()) {
    const auto [distance, v] = queue.top();
    queue.pop();
    if (distance != distances[v]) {
      continue; // outdated: a shorter path was found
    }
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + std::size_t{1}]; ++e) {
      const Vertex w = rows.neighbours[e];
      const Distance through =
          distance + (rows.weights.empty() ? Weight{1} : std::bit_cast<Weight>(rows.weights[e]));
      if (through < distances[w]) {
        distances[w] = through;
        queue.emplace(through, w);
      }
    }
  }
  return distances;
}

} // namespace

BreadthFirstTree breadth_first(const Graph& graph, std::span<const Vertex> sources) {
  BreadthFirstTree tree{.levels = std::vector(vertex_count(graph), unreached),
                        .parents = std::vector(vertex_count(graph), no_vertex)};
  std::vector<Vertex> frontier;
  for (const Vertex source : sources) {
    if (tree.levels[source] != 0) {
      tree.levels[source] = 0;
      tree.parents[source] = source;
      frontier.push_back(source);
    }
  }
  for (std::uint32_t level = 1; !frontier.empty(); ++level) {
    std::vector<Vertex> next;
    for (const Vertex v : frontier) {
      for (const Vertex w : graph.out.row(v)) {
        if (tree.levels[w] == unreached) {
          tree.levels[w] = level;
          next.push_back(w);
        }
        if (tree.levels[w] == level) {
          tree.parents[w] = std::min(tree.parents[w], v);
        }
      }
    }
    frontier = std::move(next);
  }
  return tree;
}

std::vector<std::uint32_t> reached_from(const Graph& graph, std::span<const Vertex> sources) {
  std::vector<std::uint32_t> words(vertex_count(graph), 0);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    std::vector<Vertex> stack{sources[i]};
    words[sources[i]] |= bit;
    while (!stack.empty()) {
      const Vertex v = stack.back();
      stack.pop_back();
      for (const Vertex w : graph.out.row(v)) {
        if ((words[w] & bit) == 0) {
          words[w] |= bit;
          stack.push_back(w);
        }
      }
    }
  }
  return words;
}

std::vector<std::uint64_t> shortest_distances_u32(const Graph& graph, std::span<const Vertex> sources) {
  return dijkstra<std::uint64_t, std::uint32_t>(graph, sources, far_away);
}

std::vector<float> shortest_distances_f32(const Graph& graph, std::span<const Vertex> sources) {
  return dijkstra<float, float>(graph, sources, std::numeric_limits<float>::infinity());
}

std::vector<Vertex> components(const Graph& graph) {
  std::vector<Vertex> labels(vertex_count(graph), no_vertex);
  std::vector<Vertex> stack;
  const auto visit = [&](const Rows& rows, Vertex v) {
    for (const Vertex w : rows.row(v)) {
      if (labels[w] == no_vertex) {
        labels[w] = labels[v];
        stack.push_back(w);
      }
    }
  };
  for (Vertex first = 0; first < vertex_count(graph); ++first) {
    if (labels[first] != no_vertex) {
      continue;
    }
    labels[first] = first;
    stack.push_back(first);
    while (!stack.empty()) {
      const Vertex v = stack.back();
      stack.pop_back();
      visit(graph.out, v);
      visit(*in_rows(graph), v);
    }
  }
  return labels;
}

namespace {

// The same rows with shares of `sums`, by the vertex that an edge leaves: the row's, or its neighbour in rows of
// incoming edges.
Rows with_shares(const Rows& rows, std::span<const double> sums, bool incoming) {
  Rows result{.weight_type = WeightType::f32};
  for (Vertex v = 0; v < rows.vertices(); ++v) {
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + std::size_t{1}]; ++e) {
      const double weight = weight_of(rows, e);
      if (weight != 0) {
        const double share = weight / sums[incoming ? rows.neighbours[e] : v];
        result.neighbours.push_back(rows.neighbours[e]);
        result.weights.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(share)));
      }
    }
    result.offsets.push_back(result.neighbours.size());
  }
  return result;
}

} // namespace

void use_shares(Graph& graph) {
  std::vector<double> sums(vertex_count(graph));
  for (Vertex v = 0; v < vertex_count(graph); ++v) {
    for (std::uint64_t e = graph.out.offsets[v]; e < graph.out.offsets[v + std::size_t{1}]; ++e) {
      sums[v] += weight_of(graph.out, e);
    }
  }
  Rows in_shares = with_shares(*in_rows(graph), sums, true);
  graph.out = with_shares(graph.out, sums, false);
  graph.in = std::move(in_shares);
  graph.symmetric = false; // opposite edges have other shares
}

PageRanks page_ranks(const Graph& graph, const PageRankOptions& options, std::vector<double> start) {
  const std::uint32_t n = vertex_count(graph);
  PageRanks result{.ranks = std::move(start), .iterations = 0, .change = 0};
  result.ranks.resize(n, 1.0 / n);
  const Rows& in = *in_rows(graph);
  std::vector<double> passed(n); // by a vertex along each of its edges, or in all
  std::vector<double> next(n);
  do {
    double idle = 0; // total rank of vertices without edges
    for (Vertex v = 0; v < n; ++v) {
      const std::uint64_t degree = graph.out.degree(v);
      passed[v] = degree == 0 ? 0 : result.ranks[v] / (options.by_shares ? 1 : static_cast<double>(degree));
      idle += degree == 0 ? result.ranks[v] : 0;
    }
    result.change = 0;
    for (Vertex v = 0; v < n; ++v) {
      double received = idle / n;
      for (std::uint64_t e = in.offsets[v]; e < in.offsets[v + std::size_t{1}]; ++e) {
        received += passed[in.neighbours[e]] * (options.by_shares ? weight_of(in, e) : 1);
      }
      next[v] = (1 - options.damping) / n + options.damping * received;
      result.change += std::abs(next[v] - result.ranks[v]);
    }
    result.ranks.swap(next);
    ++result.iterations;
  } while (result.change >= options.tolerance && result.iterations < options.max_iterations);
  return result;
}

} // namespace tidegate::graphs
