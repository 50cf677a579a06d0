// What a graph is like, in numbers.
#pragma once

#include <tidegate/graphs/graph.hpp>

#include <cstdint>

namespace tidegate::graphs {

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
