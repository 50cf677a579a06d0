// Text tables for terminals. Cells and headlines may contain untrusted names, so all of them are escaped
// here.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// Returns the width of text for standard output: that of the terminal, but at most `most`; `most` if there is no
// terminal.
std::size_t text_width(std::size_t most);

// Aligns the columns two spaces apart. Wraps cells between words to keep lines within `width` characters where
// possible: first the last cell of each row, then the widest of the other columns. Each row ends with a newline.
std::string render_table(std::vector<std::vector<std::string>> rows, std::size_t width = text_width(110));

// Right-aligns the cells of some columns, for numbers.
void align_right(std::vector<std::vector<std::string>>& rows, std::initializer_list<std::size_t> columns);

// Returns `text` escaped, in bold if `colour`: a headline.
std::string bold(std::string_view text, bool colour);

} // namespace tidegate
