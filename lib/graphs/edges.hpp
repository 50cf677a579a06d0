// A graph as the list of its edges, in pieces that threads make on their own: what readers and generators
// give, and rows are built from.
#pragma once

#include <tidegate/graphs/graph.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace tidegate::graphs {

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

} // namespace tidegate::graphs
