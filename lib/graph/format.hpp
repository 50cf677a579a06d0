// Reads the headers of graph files, one function per format; entries.hpp reads the body of every format.
//
//   Matrix Market  %%MatrixMarket matrix coordinate real general / 3 3 2 / 1 2 0.5 / …   vertices from 1
//   DIMACS .gr     p sp 3 2 / a 1 2 7 / …                                                vertices from 1
//   edge list      # comment / 0 1 / 1 2 / …                                             vertices from 0
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/entries.hpp>
#include <tidegate/graph/text_blocks.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::graphs {

// Reads a file line by line until the header ends; the threads read the rest.

class HeaderLines {
public:
  explicit HeaderLines(TextBlocks& blocks) : blocks_(&blocks) {}

  // Returns the next line without its newline, or nothing at the end of the file. Valid until the next call.
  Result<std::optional<std::string_view>> next();

  // Makes next() return the last line again.
  void back();

  // Number of lines read so far, which is the number of the last one.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Returns the unread lines of the current block; the following blocks continue from there.
  [[nodiscard]] std::string_view rest() const { return block_.text().substr(at_); }

private:
  TextBlocks* blocks_;
  TextBlock block_;
  std::size_t at_ = 0, last_ = 0; // offsets in the block of the next line and of the last one
  std::uint64_t number_ = 0;
};

// The words of a line, separated by blanks.
struct LineWords {
  std::string_view rest;

  // Returns the next word, or an empty one at the end.
  std::string_view next();
};

// Returns the column of a word in its line, counted in characters from 1.
std::uint64_t column_of(std::string_view line, std::string_view word);

enum class FileFormat : std::uint8_t { matrix_market, dimacs, edge_list };
inline constexpr std::array<std::string_view, 3> file_format_names{"matrix_market", "dimacs", "edge_list"};

struct FileHeader {
  FileFormat format = FileFormat::edge_list;
  EntryRules rules;
  std::optional<std::uint64_t> vertices; // if stated; otherwise the greatest vertex plus one
  std::optional<std::uint64_t> entries;  // if stated
  std::uint64_t stated_at = 0;           // the line that states the counts
  bool both_directions = false;          // each entry is an edge in both directions
};

// Matrix Market coordinate matrices, read as adjacency matrices: entry (i, j) is an edge from i to j. Reads
// the fields pattern, integer and real, and the symmetries general, symmetric and skew-symmetric; an entry 0
// is an edge. Entries of a symmetric matrix may be on either side of the diagonal. A second line "%%GraphBLAS
// type T" narrows the range of values. Refuses array, complex, Hermitian and non-square matrices. Sources:
// Boisvert, Pozo, Remington, The Matrix Market Exchange Formats (NISTIR 5935, 1996); the type line:
// SuiteSparse:GraphBLAS.
Result<FileHeader> read_matrix_market_header(HeaderLines& lines);

// Arcs with integer weights of the 9th DIMACS implementation challenge (shortest paths): "p sp VERTICES
// ARCS", then lines "a TAIL HEAD WEIGHT"; comment lines begin with c.
Result<FileHeader> read_dimacs_header(HeaderLines& lines);

// Edge lists as in the SNAP collection: two vertices on each line, or two and a weight; comment lines begin
// with # or %. The first edge determines whether there are weights and whether they are integers.
Result<FileHeader> read_edge_list_header(HeaderLines& lines);

// Recognises the format by the first line that is not blank, or by the file name extension (before .gz).
// Consumes no line. Errors: bad_graph for an unknown format.
Result<FileFormat> recognise_format(HeaderLines& lines, const std::string& path);

} // namespace tidegate::graphs
