// Generates graphs from a formula. Edge i is an integer function of i and the seed, so the graph is the same
// on every machine and with any number of threads.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/load.hpp>

#include <cstdint>
#include <optional>

namespace tidegate::graphs {

// R-MAT: 2^scale vertices and edge_factor times as many directed edges. Each edge picks a quadrant of the
// adjacency matrix with the probabilities a, b, c and 1-a-b-c, recursively, until one entry remains; then a
// permutation renumbers the vertices, so that numbers do not correlate with degrees. The defaults are
// Graph500's. Source: Chakrabarti, Zhan, Faloutsos, R-MAT: A Recursive Model for Graph Mining (SDM 2004).
struct RmatSpec {
  std::uint32_t scale = 0; // at most 31
  std::uint32_t edge_factor = 16;
  double a = 0.57, b = 0.19, c = 0.19; // rounded down to multiples of 2^-32
  std::uint64_t seed = 0;
  std::uint32_t max_weight = 0; // weights are uniform from 1 to this; 0: no weights
};

// A grid: vertex y * width + x has edges to and from each of its four neighbours.
struct GridSpec {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint64_t seed = 0; // of the weights, which are equal in both directions
  std::uint32_t max_weight = 0;
};

// Edges with independent, uniformly distributed ends (Erdős–Rényi with repetition).
struct UniformSpec {
  std::uint32_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t seed = 0;
  std::uint32_t max_weight = 0;
};

// Exactly one member is set.
struct GeneratorSpec {
  std::optional<RmatSpec> rmat;
  std::optional<GridSpec> grid;
  std::optional<UniformSpec> uniform;
};

// Returns the number of vertices and edges, before opposite edges are added. Errors: invalid_program with the
// JSON pointer below the specification.
struct GeneratedSize {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
};
Result<GeneratedSize> generated_size(const GeneratorSpec& spec);

// Errors: invalid_program, input_too_large. Ignores options.block_bytes.
Result<Graph> generate_graph(const GeneratorSpec& spec, const LoadOptions& options);

} // namespace tidegate::graphs
