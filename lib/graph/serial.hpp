// Serial reference versions of the graph algorithms, written straight from their definitions; the results of
// devices are compared with these. Sources must be vertices of the graph.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/rows.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::graphs {

inline constexpr std::uint32_t unreached = 0xffffffff;       // an integer distance or level of 32 bits
inline constexpr std::uint64_t far_away = ~std::uint64_t{0}; // an integer distance of 64 bits

// Number of edges from the nearest source to each vertex, and its parent on such a path. The parent is the
// smallest candidate; that of a source is itself, that of an unreached vertex no_vertex.
struct BreadthFirstTree {
  std::vector<std::uint32_t> levels;
  std::vector<Vertex> parents;
};
BreadthFirstTree breadth_first(const Graph& graph, std::span<const Vertex> sources);

// Bit i of a vertex's word: source i reaches it. A source reaches itself. At most 32 sources.
std::vector<std::uint32_t> reached_from(const Graph& graph, std::span<const Vertex> sources);

// The least sum of weights on a path from any source (Dijkstra). Integer sums have 64 bits, which hold 2^32
// weights of 32 bits. Float sums are rounded after each edge, starting at the source; rounding is monotonic,
// so there is one least sum, and every relaxation order reaches it. Unreached vertices are at far_away or
// infinity. Without weights, each edge weighs 1.
std::vector<std::uint64_t> shortest_distances_u32(const Graph& graph, std::span<const Vertex> sources);
std::vector<float> shortest_distances_f32(const Graph& graph, std::span<const Vertex> sources);

// The smallest vertex of each vertex's weakly connected component. Requires in rows.
std::vector<Vertex> components(const Graph& graph);

// Makes each edge's weight its part of the weights that leave its vertex, as f32. Edges of weight 0 are removed.
// Requires in rows.
void use_shares(Graph& graph);

// Ranks with the sum 1: each vertex passes `damping` of its rank along its edges (repeated edges count), evenly or by
// the shares that use_shares() has made of weights, a vertex without edges passes it to all vertices, and all vertices
// share the remainder evenly. Iterates until the ranks change by less than `tolerance` in total, at most max_iterations
// times. Requires in rows. Source: Page, Brin, Motwani, Winograd, The PageRank Citation Ranking (1999).
struct PageRankOptions {
  double damping = 0.85;
  double tolerance = 1e-6;
  std::uint32_t max_iterations = 1000;
  bool by_shares = false; // weights are those of use_shares()
};
struct PageRanks {
  std::vector<double> ranks;
  std::uint32_t iterations = 0;
  double change = 0; // of the last iteration: sum of absolute differences
};
PageRanks page_ranks(const Graph& graph, const PageRankOptions& options,
                     std::vector<double> start = {}); // empty: all alike

} // namespace tidegate::graphs
