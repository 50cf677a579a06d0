// What the algorithms of frontier programs compute, one vertex after the other and straight from the
// definitions: what runs on devices is held against these. Sources are vertices of the graph.
#pragma once
#include <tidegate/graph/graph.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::graphs {

inline constexpr std::uint32_t unreached = 0xffffffff;       // as a level or a distance of whole numbers
inline constexpr std::uint64_t far_away = ~std::uint64_t{0}; // as a distance of 64 bits

// Edges from the nearest source to each vertex, and a neighbour before it on such a way: of a source, itself;
// of what is not reached, no_vertex. Of several the smallest parent.
struct BreadthFirstTree {
  std::vector<std::uint32_t> levels;
  std::vector<Vertex> parents;
};
BreadthFirstTree breadth_first(const Graph& graph, std::span<const Vertex> sources);

// Bit i of a vertex's word: source i reaches it, as it does itself. At most 32 sources.
std::vector<std::uint32_t> reached_from(const Graph& graph, std::span<const Vertex> sources);

// The least sum of weights on a way from any source (Dijkstra). Sums of whole numbers have 64 bits, which
// hold 2^32 weights of 32. Sums of floats are rounded after each edge, from the source on, and unreached is
// infinity; as rounding keeps the order, there is one least such sum, and every relaxation ends at it. A
// graph without weights has weights of 1.
std::vector<std::uint64_t> shortest_distances_u32(const Graph& graph, std::span<const Vertex> sources);
std::vector<float> shortest_distances_f32(const Graph& graph, std::span<const Vertex> sources);

// The smallest vertex of each vertex's component, where edges count in both directions (weakly connected).
// The graph has in rows.
std::vector<Vertex> components(const Graph& graph);

// Ranks with the sum 1: each vertex passes `damping` of its rank on along its edges (repeated ones count),
// what has no edges passes it to all, and all get the rest evenly. Iterated until the ranks change by less
// than `tolerance` in sum, and at most so often. The graph has in rows. Source: Page, Brin, Motwani,
// Winograd, The PageRank Citation Ranking (1999).
struct PageRankOptions {
  double damping = 0.85;
  double tolerance = 1e-6;
  std::uint32_t max_iterations = 1000;
};
struct PageRanks {
  std::vector<double> ranks;
  std::uint32_t iterations = 0;
  double change = 0; // of the last iteration, summed over the vertices
};
PageRanks page_ranks(const Graph& graph, const PageRankOptions& options);

// What a graph is like, in numbers.

struct DegreeRange {
  std::uint64_t min = 0;
  std::uint64_t median = 0; // of an even number of vertices the lower one
  std::uint64_t max = 0;
};

struct GraphSummary {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0; // directed ones
  bool symmetric = false;  // each edge has its opposite, as often
  DegreeRange out_degree, in_degree;
  std::uint64_t isolated_vertices = 0; // without an edge to or from another vertex
  std::uint64_t self_loops = 0;
  std::uint64_t repeated_edges = 0;    // beyond the first between their vertices
  std::uint64_t components = 0;        // weakly connected, isolated vertices among them
  std::uint64_t largest_component = 0; // its vertices
};

// The graph has in rows.
GraphSummary summarise(const Graph& graph);

} // namespace tidegate::graphs
