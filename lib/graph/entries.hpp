// Reads the body of a graph file: lines with two vertices and perhaps a value, or with the neighbours of a vertex,
// scanned by several threads.
//
// The formats differ in their headers and in a few rules: a header yields EntryRules, and one scanner reads
// the entries by them. After a faulty line the other threads still finish their earlier blocks, so the
// reported error is always the first in the file.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>

namespace tidegate::graphs {

inline bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') <= 9;
}

// The rules of a format, which its header yields.
struct EntryRules {
  char keyword = '\0';           // the word that begins an entry; '\0' for none
  std::string_view comments;     // characters that begin a comment line
  char separator = '\0';         // between the parts of an entry, perhaps with spaces; '\0' for blanks
  bool rows = false;             // a line for each vertex, with its neighbours
  std::uint64_t row_numbers = 0; // numbers before the neighbours of a row, which are skipped
  std::array<std::string_view, 2> ends{"source", "target"}; // the format's names of the two vertices
  std::uint64_t first_vertex = 0;                           // the number of the first vertex
  std::uint64_t last_vertex = most_vertices - 1;            // the greatest number of a vertex
  bool may_compact = false; // a list of edges, whose vertices may be numbered anew
  bool compact = false;     // they are: Entries::ids
  ValueColumn values = ValueColumn::none;
  bool by_first = false;                 // the first value alone says that they are integers
  std::string value_type = "an integer"; // names the integers between least_value and greatest_value
  std::int64_t least_value = std::numeric_limits<std::int64_t>::min();
  std::int64_t greatest_value = std::numeric_limits<std::int64_t>::max();
  bool skew = false;                     // the opposite edge has the negated weight
  WeightType weights = WeightType::none; // stored type; an edge without a value gets the weight 1
  std::uint64_t most_entries = std::numeric_limits<std::uint64_t>::max(); // scanning stops above this count
};

struct Entries {
  std::vector<EdgeChunk> chunks; // in file order
  std::uint64_t count = 0;
  std::optional<Vertex> least_vertex; // in an entry, counted from 0; not with EntryRules::compact
  std::optional<Vertex> last_vertex;
  std::vector<std::uint64_t>
      ids; // with EntryRules::compact: that the file has for each vertex, in ascending order
  ValueRange values;
  std::uint64_t lines = 0; // lines of the whole file
  std::uint64_t rows = 0;  // lines that are not comments, with EntryRules::rows
  bool not_as_first =
      false; // with EntryRules::by_first: some value is not an integer, and nothing else is known
};

// Scans whole lines that come after `lines_before` other lines; a thread takes `block_bytes` of them at a time. Errors:
// bad_graph with line and column.
Result<Entries> read_entries(std::string_view text, std::uint64_t lines_before, const EntryRules& rules,
                             unsigned threads, std::size_t block_bytes);

} // namespace tidegate::graphs
