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
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

// A graph as the list of its edges, in pieces that threads make on their own: what readers and generators
// give, and rows are built from.

struct Edge {
  Vertex source = 0;
  Vertex target = 0;
};

struct EdgeChunk {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> weights; // the bits of the edges' weights; empty where edges have none
};

struct EdgeChunks {
  std::uint64_t vertices = 0; // at most most_vertices
  std::vector<EdgeChunk> chunks;
  WeightType weights = WeightType::none;
  bool both_directions = false; // each edge that is no loop also stands for its opposite, of the same weight
};

// A weight of 1, for edges that have none of their own.
inline std::uint32_t unit_weight(WeightType type) {
  return type == WeightType::f32 ? std::bit_cast<std::uint32_t>(1.0F) : 1U;
}

// Which vertices are connected, as edges are looked at one after the other. Source: Tarjan, van Leeuwen,
// Worst-Case Analysis of Set Union Algorithms (1984), with path halving.

// Weakly connected components as trees, each vertex below another one or a root.
class DisjointSets {
public:
  explicit DisjointSets(std::uint32_t vertices) : above_(vertices) {
    std::iota(above_.begin(), above_.end(), 0U);
  }

  Vertex root(Vertex v) {
    while (above_[v] != v) {
      above_[v] = above_[above_[v]];
      v = above_[v];
    }
    return v;
  }

  // The smaller root stays one, and so is the smallest vertex of its tree.
  void join(Vertex a, Vertex b) {
    const auto [low, high] = std::minmax({root(a), root(b)});
    above_[high] = low;
  }

private:
  std::vector<Vertex> above_;
};

} // namespace tidegate::graphs
