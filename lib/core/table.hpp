// Text tables for terminals. Cells and headlines may contain untrusted names, so all of them are escaped
// here.
#pragma once
#include "core/prelude.hpp"

namespace tidegate {

using TableRows = std::vector<std::vector<std::string>>; // of cells

// Adds a row of a name, indented by two, and a text.
template <class... Values>
void add_row(TableRows& rows, std::string_view name, fmt::format_string<Values...> text, Values&&... values) {
  rows.push_back(
      {name.empty() ? "" : fmt::format("  {}", name), fmt::format(text, std::forward<Values>(values)...)});
}

// Returns the width of text for standard output, or another descriptor: that of the terminal, but at most `most`; `most` if
// there is no terminal.
std::size_t text_width(std::size_t most, int descriptor = 1);

// Aligns the columns two spaces apart. Wraps cells between words to keep lines within `width` characters where
// possible: first the last cell of each row, then the widest of the other columns. Each row ends with a newline.
std::string render_table(TableRows rows, std::size_t width = text_width(110));

// Right-aligns the cells of some columns, for numbers.
void align_right(TableRows& rows, std::initializer_list<std::size_t> columns);

// Returns `text` escaped, in bold if `colour`: a headline.
std::string bold(std::string_view text, bool colour);

} // namespace tidegate
