// A graph from its file: recognise, header, entries, rows.
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

// What weights a graph gets. Edges of a file without values weigh 1. Negative weights are refused wherever
// weights are taken: no algorithm here has a use for them.
enum class WeightUse : std::uint8_t {
  ignored,
  as_given, // whole numbers as u32, others as f32
  u32,      // values that are not whole numbers below 2^32 are refused
  f32,      // rounded to nearest
};

struct LoadOptions {
  WeightUse weights = WeightUse::ignored;
  bool undirected = false; // each edge of the file stands for its opposite as well
  BuildOptions build;
  std::size_t block_bytes = TextBlocks::usual_block_bytes; // of text, that a thread works on at a time
};

struct FileFacts {
  FileFormat format = FileFormat::edge_list;
  bool compressed = false;
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;
  bool both_directions = false; // by its header
  ValueColumn values = ValueColumn::none;
  ValueRange value_range;
};

struct LoadedGraph {
  Graph graph;
  std::optional<FileFacts> facts; // nothing for a generated graph
};

// "-" is standard input. cannot_read; bad_graph with its line; input_too_large.
Result<LoadedGraph> load_graph(const std::string& path, const LoadOptions& options);

// The type that weights are kept as.
WeightType kept_weights(WeightUse use, ValueColumn given);

} // namespace tidegate::graphs
