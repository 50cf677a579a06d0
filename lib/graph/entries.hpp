// The body of every graph file: lines of two vertices and perhaps a value, read by several threads.
//
// The formats differ in their headers and in a few rules; a header gives the rules, and one scanner reads the
// entries. The threads note what is wrong with a line and go on to the end of the file's earlier blocks, so
// the error that comes back is the first of the file, whichever thread found one first.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/text_blocks.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::graphs {

// What stands behind the two vertices of a line.
enum class ValueColumn : std::uint8_t { none, integer, real };
inline constexpr std::array<std::string_view, 3> value_column_names{"none", "integer", "real"};

struct EntryRules {
  char keyword = '\0';                                      // the word before an entry; none
  std::string_view comments;                                // characters that begin a line without an entry
  std::array<std::string_view, 2> ends{"source", "target"}; // what the format calls the two vertices
  std::uint64_t first_vertex = 0;                           // the number of the first vertex
  std::uint64_t last_vertex = most_vertices - 1;            // the greatest number
  ValueColumn values = ValueColumn::none;
  std::string_view value_type = "an integer"; // of integers, and their range
  std::int64_t least_value = std::numeric_limits<std::int64_t>::min();
  std::int64_t greatest_value = std::numeric_limits<std::int64_t>::max();
  bool skew = false;                     // the opposite of an edge has its weight with the other sign
  WeightType weights = WeightType::none; // what values are kept as; those without one weigh 1
  std::uint64_t most_entries = std::numeric_limits<std::uint64_t>::max(); // reading ends once there are more
};

// Of all values in the file, kept or not.
struct ValueRange {
  std::optional<Number> least, greatest;
  std::uint64_t negative = 0; // how many are below 0
};

struct Entries {
  std::vector<EdgeChunk> chunks; // in the order of the file
  std::uint64_t count = 0;
  std::optional<Vertex> last_vertex; // the greatest one that an entry names, counted from 0
  ValueRange values;
  std::uint64_t lines = 0; // of the file
};

// Reads `first`, whole lines of a block (so they are padded) behind `lines_before` others, and then the
// blocks to their end. bad_graph with line and column, and the errors of the blocks.
Result<Entries> read_entries(TextBlocks& blocks, std::string_view first, std::uint64_t lines_before,
                             const EntryRules& rules, unsigned threads);

} // namespace tidegate::graphs
