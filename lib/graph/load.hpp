// Loads a graph from its file: recognise the format, read the header, scan the entries, build the rows.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/format.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/rows.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::graphs {

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
  BuildOptions build;
  std::size_t block_bytes = TextBlocks::usual_block_bytes; // of text per thread at a time
};

struct FileFacts {
  FileFormat format = FileFormat::edge_list;
  bool compressed = false;
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;
  bool both_directions = false; // stated by the header
  ValueColumn values = ValueColumn::none;
  ValueRange value_range;
};

struct LoadedGraph {
  Graph graph;
  std::optional<FileFacts> facts; // absent for a generated graph
};

// "-" is standard input. Errors: cannot_read; bad_graph with its line; input_too_large.
Result<LoadedGraph> load_graph(const std::string& path, const LoadOptions& options);

// Returns the type that weights are stored as.
WeightType kept_weights(WeightUse use, ValueColumn given);

} // namespace tidegate::graphs
