// What may be wrong with a line of a graph file, as the loop over the lines notes it, and in words.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/graphs/edges.hpp>
#include <tidegate/graphs/entries.hpp>

#include <cstddef>
#include <cstdint>

namespace tidegate::graphs {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

struct EntryFlaw {
  enum class Kind : std::uint8_t {
    keyword,      // the word before an entry is missing
    vertex,       // no number where a vertex belongs
    vertex_range, // a number that is no vertex
    gap,          // no blank behind a part of the entry, or the line ends before its next part
    integer,      // no integer where one belongs
    integer_range,
    real, // no number where a value belongs
    not_finite,
    line_end,    // something behind the entry
    on_diagonal, // of a skew-symmetric matrix
    negative,    // a weight below 0
    opposite_negative,
    not_whole, // a weight that u32 does not hold
    beyond_u32,
    beyond_f32,
  };

  Kind kind = Kind::line_end;
  const char* at = nullptr; // in the text
  std::size_t part = 0;     // 0 and 1, the vertices; 2, the value
  Edge edge;                // of weights
};

// bad_graph at the place of the flaw, whose line begins at `line` and has the number `line_number`.
Error to_error(const EntryFlaw& flaw, const EntryRules& rules, const char* line, std::uint64_t line_number);

} // namespace tidegate::graphs
