// Graphs from a formula: the same on every machine and for any number of threads, as edge i of a seed is a
// function of the two, in integers.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/load.hpp>

#include <cstdint>
#include <optional>

namespace tidegate::graphs {

// 2^scale vertices and edge_factor times as many directed edges, each falling into a quadrant of the
// adjacency matrix with probability a, b, c or what is left, again and again until one entry remains; then
// the vertices are renumbered, so that a number says nothing of a degree. The standard values are Graph500's.
// Source: Chakrabarti, Zhan, Faloutsos, R-MAT: A Recursive Model for Graph Mining (SDM 2004).
struct RmatSpec {
  std::uint32_t scale = 0; // at most 31
  std::uint32_t edge_factor = 16;
  double a = 0.57, b = 0.19, c = 0.19; // taken in steps of 2^-32
  std::uint64_t seed = 0;
  std::uint32_t max_weight = 0; // weights are even from 1 to this; 0: edges have none
};

// Vertex y * width + x has an edge to each of its four neighbours, and one back.
struct GridSpec {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint64_t seed = 0; // of the weights, which are the same in both directions
  std::uint32_t max_weight = 0;
};

// Edges whose ends are even among all vertices, independent of each other (Erdős and Rényi's, with
// repetition).
struct UniformSpec {
  std::uint32_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t seed = 0;
  std::uint32_t max_weight = 0;
};

// Exactly one of them.
struct GeneratorSpec {
  std::optional<RmatSpec> rmat;
  std::optional<GridSpec> grid;
  std::optional<UniformSpec> uniform;
};

// How many vertices and edges (before any are made opposite) it gives. invalid_program, with the place in the
// specification, where that is not possible.
struct GeneratedSize {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
};
Result<GeneratedSize> generated_size(const GeneratorSpec& spec);

// invalid_program, input_too_large. The option block_bytes has no effect here.
Result<Graph> generate_graph(const GeneratorSpec& spec, const LoadOptions& options);

} // namespace tidegate::graphs
