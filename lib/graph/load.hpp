// Loads graphs from files in five formats, or generates them.
//
//   Matrix Market  %%MatrixMarket matrix coordinate real general / 3 3 2 / 1 2 0.5 / …   vertices from 1
//   DIMACS .gr     p sp 3 2 / a 1 2 7 / …                                                vertices from 1
//   METIS          3 2 001 / 2 7 / 1 7 3 9 / 2 9                                         vertices from 1
//   edge list      # comment / 0 1 / 1 2 / …                                             vertices from 0
//   CSV            source,target,weight / 0,1,0.5 / …                                    vertices from 0
//
// Matrix Market files are read as adjacency matrices: entry (i, j) is an edge from i to j. The fields are
// pattern, integer and real, the symmetries general, symmetric and skew-symmetric; an entry 0 is an edge, and
// entries of a symmetric matrix may be on either side of the diagonal. A second line "%%GraphBLAS type T"
// narrows the range of values. Array, complex, Hermitian and non-square matrices are refused. Sources:
// Boisvert, Pozo, Remington, The Matrix Market Exchange Formats (NISTIR 5935, 1996); the type line:
// SuiteSparse:GraphBLAS.
//
// DIMACS files have the arcs with integer weights of the 9th implementation challenge (shortest paths): "p sp
// VERTICES ARCS", then lines "a TAIL HEAD WEIGHT"; comment lines begin with c.
//
// METIS files (named .graph or .metis): "VERTICES EDGES [FORMAT [CONSTRAINTS]]", then a line for each vertex with its
// neighbours, so that each edge is in two of them. The digits of the format say whether a row begins with the size of
// its vertex (100) and its weights (10), which are skipped, and whether each neighbour has a weight (1). Comment lines
// begin with %. Rows that do not match each other are refused. Source: METIS 5.1 manual, 4.1.1.
//
// Edge lists are those of the SNAP collection: two vertices on each line, or two and a weight; comment lines
// begin with # or %. The first edge determines whether there are weights. They are integers if all of them are.
//
// CSV files are edge lists with commas, semicolons or tabs. The first line may name the columns; names that
// are known (source, from, weight, …) have to be in their place.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::graphs {

enum class FileFormat : std::uint8_t { matrix_market, dimacs, edge_list, metis, csv };
inline constexpr std::array<std::string_view, 5> file_format_names{"matrix_market", "dimacs", "edge_list",
                                                                   "metis", "csv"};

// Weights of the loaded graph. Edges of a file without values get the weight 1. Negative weights are refused
// unless weights are ignored: no algorithm here supports them.
enum class WeightUse : std::uint8_t {
  ignored,
  as_given, // integers as u32, other values as f32
  u32,      // refuses values that are not integers below 2^32
  f32,      // rounded to nearest
};

struct LoadOptions {
  WeightUse weights = WeightUse::ignored;
  bool undirected = false; // each edge of the file also counts as its opposite
  bool compact = false;    // number the vertices that occur in a list of edges, in the order of their ids
  BuildOptions build;
  std::size_t block_bytes = std::size_t{1} << 20U; // of text per thread at a time
};

struct FileFacts {
  FileFormat format = FileFormat::edge_list;
  std::uint64_t first_vertex = 0; // the number of the first vertex
  std::uint64_t entries = 0;
  bool both_directions = false; // stated by the header
  ValueColumn values = ValueColumn::none;
  ValueRange value_range;
  std::optional<Vertex> least_vertex; // in an edge of a list; not with LoadOptions::compact
};

// The numbers that users have for vertices: consecutive ones, or the ids of a file.
struct VertexNumbers {
  std::uint64_t vertices = 0;
  std::uint64_t first = 0;
  std::span<const std::uint64_t> ids{}; // ascending; if empty, vertices are numbered from `first`

  [[nodiscard]] std::uint64_t of(std::uint64_t vertex) const {
    return ids.empty() ? first + vertex : ids[vertex];
  }
  // Returns `vertices` for a number that no vertex has.
  [[nodiscard]] std::uint64_t position(std::uint64_t number) const;
};

struct LoadedGraph {
  Graph graph;
  std::optional<FileFacts> facts;   // absent for a generated graph
  std::vector<std::uint64_t> ids{}; // with LoadOptions::compact: of each vertex, ascending
};

// "-" is standard input. Errors: cannot_read; bad_graph with its line; input_too_large; invalid_program for ids that
// cannot be compacted.
Result<LoadedGraph> load_graph(const std::string& path, const LoadOptions& options);

// Returns the type that weights are stored as.
WeightType kept_weights(WeightUse use, ValueColumn given);

// Generators compute each edge from its number and the seed, so a graph is the same on every machine and with
// any number of threads.

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
