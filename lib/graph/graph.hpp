// A directed graph as compressed sparse rows: the neighbours of vertex v are neighbours[offsets[v]] to
// neighbours[offsets[v + 1] - 1].
//
//   edges 0→1 0→2 2→1     offsets    0 2 2 3
//                         neighbours 1 2 1
//
// Vertices have 32 bits and edge indices 64, so a graph may have more than 2^32 edges. Each row is sorted by neighbour,
// then by weight (or as RowOrder says), in any order of the input. Self-loops, repeated edges and isolated vertices are
// kept. An undirected edge is in two rows, an undirected loop in one.
#pragma once
#include <tidegate/core/text.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tidegate::graphs {

using Vertex = std::uint32_t;

inline constexpr Vertex no_vertex = 0xffffffff;
// Kernels step through vertices by up to as many: the sum fits 32 bits.
inline constexpr std::uint64_t most_vertices = std::uint64_t{1} << 31U;

enum class WeightType : std::uint8_t { none, u32, f32 };

struct Rows {
  std::vector<std::uint64_t> offsets{0}; // one element more than vertices
  std::vector<Vertex> neighbours;
  WeightType weight_type = WeightType::none;
  std::vector<std::uint32_t> weights; // as bits, in the order of `neighbours`; finite and not negative

  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
  [[nodiscard]] std::uint64_t edges() const { return offsets.back(); }
  [[nodiscard]] std::uint64_t degree(Vertex v) const { return offsets[v + std::size_t{1}] - offsets[v]; }
  [[nodiscard]] std::span<const Vertex> row(Vertex v) const {
    return std::span(neighbours).subspan(offsets[v], degree(v));
  }
};

// A graph cut for several processes: the first vertex of each, and the end of the last.
using VertexCut = std::vector<Vertex>;

struct Graph {
  Rows out;
  std::optional<Rows> in; // the transpose, if requested and different from `out`
  bool symmetric = false; // every edge has its opposite: `out` equals its transpose
};

inline std::uint32_t vertex_count(const Graph& graph) {
  return graph.out.vertices();
}
inline std::uint64_t edge_count(const Graph& graph) {
  return graph.out.edges();
}
// Returns the weight of an edge; 1 if edges have none.
inline double weight_of(const Rows& rows, std::uint64_t edge) {
  if (rows.weight_type == WeightType::f32) {
    return std::bit_cast<float>(rows.weights[edge]);
  }
  return rows.weights.empty() ? 1U : rows.weights[edge];
}

// Returns the rows of incoming edges, or nullptr if they were not requested.
inline const Rows* in_rows(const Graph& graph) {
  return graph.symmetric ? &graph.out : graph.in ? &*graph.in : nullptr;
}

// A graph as a list of edges in chunks that threads make independently: readers and generators return it, and
// build_graph() makes rows of it.

struct Edge {
  Vertex source = 0;
  Vertex target = 0;
};

struct EdgeChunk {
  std::vector<Edge> edges;
  std::vector<std::uint32_t> weights; // bits of the edges' weights; empty if edges have none
};

struct EdgeChunks {
  std::uint64_t vertices = 0; // at most most_vertices
  std::vector<EdgeChunk> chunks;
  WeightType weights = WeightType::none;
  bool both_directions = false; // each edge, unless a loop, also counts as its opposite of the same weight
};

// Bits of the weight 1, for edges without weights.
inline std::uint32_t unit_weight(WeightType type) {
  return type == WeightType::f32 ? std::bit_cast<std::uint32_t>(1.0F) : 1U;
}

// Type of the value that a line of a file has for its edge.
enum class ValueColumn : std::uint8_t { none, integer, real };
inline constexpr std::array<std::string_view, 3> value_column_names{"none", "integer", "real"};

// Range of all values in the file, including those that are not stored.
struct ValueRange {
  std::optional<Number> least, greatest;
};

} // namespace tidegate::graphs
