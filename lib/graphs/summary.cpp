#include <tidegate/graphs/disjoint_sets.hpp>
#include <tidegate/graphs/summary.hpp>

#include <algorithm>
#include <vector>

namespace tidegate::graphs {
namespace {

DegreeRange degree_range(const Rows& rows) {
  if (rows.vertices() == 0) {
    return {};
  }
  std::vector<std::uint64_t> degrees(rows.vertices());
  for (Vertex v = 0; v < rows.vertices(); ++v) {
    degrees[v] = rows.degree(v);
  }
  const auto middle = degrees.begin() + (rows.vertices() - 1) / 2;
  std::ranges::nth_element(degrees, middle);
  return {.min = *std::min_element(degrees.begin(), middle + 1),
          .median = *middle,
          .max = *std::max_element(middle, degrees.end())};
}

// Loops and repetitions of a row, whose neighbours are in order.
void count_edges(const Rows& rows, Vertex v, GraphSummary& summary) {
  const auto row = rows.row(v);
  for (std::size_t i = 0; i < row.size(); ++i) {
    summary.self_loops += row[i] == v ? 1U : 0U;
    summary.repeated_edges += i != 0 && row[i] == row[i - 1] ? 1U : 0U;
  }
}

} // namespace

GraphSummary summarise(const Graph& graph) {
  const Rows& out = graph.out;
  const Rows& in = *in_rows(graph);
  GraphSummary summary{.vertices = vertex_count(graph),
                       .edges = edge_count(graph),
                       .symmetric = out.offsets == in.offsets && out.neighbours == in.neighbours,
                       .out_degree = degree_range(out),
                       .in_degree = degree_range(in)};
  DisjointSets sets(vertex_count(graph));
  for (Vertex v = 0; v < vertex_count(graph); ++v) {
    count_edges(out, v, summary);
    for (const Vertex w : out.row(v)) {
      sets.join(v, w);
    }
  }
  std::vector<std::uint32_t> sizes(vertex_count(graph));
  for (Vertex v = 0; v < vertex_count(graph); ++v) {
    ++sizes[sets.root(v)];
  }
  for (const std::uint32_t size : sizes) {
    summary.components += size != 0 ? 1U : 0U;
    summary.isolated_vertices += size == 1 ? 1U : 0U;
    summary.largest_component = std::max<std::uint64_t>(summary.largest_component, size);
  }
  return summary;
}

} // namespace tidegate::graphs
