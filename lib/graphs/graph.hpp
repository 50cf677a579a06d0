// A directed graph as compressed sparse rows: the neighbours of vertex v are neighbours[offsets[v]] to
// neighbours[offsets[v + 1] - 1].
//
//   edges 0→1 0→2 2→1     offsets    0 2 2 3
//                         neighbours 1 2 1
//
// Vertices are 32 bits and places among the edges 64, so a graph may have more than 2^32 edges. A row is in
// ascending order of neighbour and then of weight, whatever order the edges came in. Self-loops, repeated
// edges and vertices without edges are part of a graph and stay in it. An undirected edge stands in two rows,
// a loop in one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace tidegate::graphs {

using Vertex = std::uint32_t;

inline constexpr Vertex no_vertex = 0xffffffff;
inline constexpr std::uint64_t most_vertices = 0xffffffff; // so that no_vertex is none

enum class WeightType : std::uint8_t { none, u32, f32 }; // in the order of the alternatives of Weights
using Weights = std::variant<std::monostate, std::vector<std::uint32_t>, std::vector<float>>;

struct Rows {
  std::vector<std::uint64_t> offsets{0}; // one more than there are vertices
  std::vector<Vertex> neighbours;
  Weights weights; // of the edges, in the order of `neighbours`; from 0 on and finite

  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  [[nodiscard]] std::uint64_t edges() const { return offsets.back(); }
  [[nodiscard]] std::uint64_t degree(Vertex v) const { return offsets[v + std::size_t{1}] - offsets[v]; }
  [[nodiscard]] std::span<const Vertex> row(Vertex v) const {
    return std::span(neighbours).subspan(offsets[v], degree(v));
  }
};

struct Graph {
  Rows out;
  std::optional<Rows> in; // the transpose, where it was asked for and is not the same as `out`
  bool symmetric = false; // known to have each edge in both directions: `out` is its own transpose
};

inline std::uint32_t vertex_count(const Graph& graph) {
  return graph.out.vertices();
}
inline std::uint64_t edge_count(const Graph& graph) {
  return graph.out.edges();
}
inline WeightType weight_type(const Rows& rows) {
  return static_cast<WeightType>(rows.weights.index());
}

// The rows of the edges that lead to a vertex; nullptr where they were not asked for.
inline const Rows* in_rows(const Graph& graph) {
  return graph.symmetric ? &graph.out : graph.in ? &*graph.in : nullptr;
}

} // namespace tidegate::graphs
