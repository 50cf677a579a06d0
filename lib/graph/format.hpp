// The file formats of graphs, each by its header; what follows the header, all share (entries.hpp).
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

// The first lines of a file, one by one, until its header is read; the threads take what follows.

class HeaderLines {
public:
  explicit HeaderLines(TextBlocks& blocks) : blocks_(&blocks) {}

  // The next line without its end; nothing at the end of the file. It lasts until the next call.
  Result<std::optional<std::string_view>> next();

  // Puts the last line back.
  void back();

  // Lines read so far, which is the number of the last one.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Those lines of the present block that were not read; the blocks go on behind them.
  [[nodiscard]] std::string_view rest() const { return block_.text().substr(at_); }

private:
  TextBlocks* blocks_;
  TextBlock block_;
  std::size_t at_ = 0, last_ = 0; // the next line, and the one before it, in the block
  std::uint64_t number_ = 0;
};

// The words of a line, apart by blanks.
struct LineWords {
  std::string_view rest;

  // The next word; an empty one at the end.
  std::string_view next();
};

// Words with their place in a line, for errors.
std::uint64_t column_of(std::string_view line, std::string_view word);

enum class FileFormat : std::uint8_t { matrix_market, dimacs, edge_list };
inline constexpr std::array<std::string_view, 3> file_format_names{"matrix_market", "dimacs", "edge_list"};

struct FileHeader {
  FileFormat format = FileFormat::edge_list;
  EntryRules rules;
  std::optional<std::uint64_t> vertices; // stated; else one more than the greatest that is named
  std::optional<std::uint64_t> entries;  // stated
  std::uint64_t stated_at = 0;           // the line that states them
  bool both_directions = false;          // each entry stands for its opposite as well
};

// Matrix Market coordinate matrices, the adjacency of a graph: entry (i, j) is an edge from i to j. All of
// pattern, integer and real, and of general, symmetric and skew-symmetric, are read; entries that are 0 are
// edges, as their author wrote them down. Entries of a symmetric matrix may stand on either side of the
// diagonal. A second line "%%GraphBLAS type T" narrows what values there may be. Array, complex and Hermitian
// matrices and those that are not square are refused. Source: Boisvert, Pozo, Remington, The Matrix Market
// Exchange Formats (NISTIR 5935, 1996); the type line, from SuiteSparse:GraphBLAS.
Result<FileHeader> read_matrix_market_header(HeaderLines& lines);

// Arcs with whole weights of the 9th DIMACS implementation challenge (shortest paths): "p sp VERTICES ARCS",
// then "a TAIL HEAD WEIGHT"; comments are lines that begin with c.
Result<FileHeader> read_dimacs_header(HeaderLines& lines);

// Two vertices on each line, as in the SNAP collection, or two and a weight; lines that begin with # or % are
// comments. The first edge says whether there are weights, and whether they are whole numbers.
Result<FileHeader> read_edge_list_header(HeaderLines& lines);

// By the first line that is not blank, and by the ending of the path (before .gz) where that does not tell.
// bad_graph for anything else. The lines are as they were.
Result<FileFormat> recognise_format(HeaderLines& lines, const std::string& path);

} // namespace tidegate::graphs
