// Text tables for terminals. Cells and headlines may hold names from anywhere: what no terminal should get is
// escaped here.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// The rows with columns aligned and two spaces apart. The last column is wrapped between words so that no
// line is longer than `width` characters where that is possible. Rows end with a newline.
std::string render_table(std::vector<std::vector<std::string>> rows, std::size_t width = 110);

// Pads the cells of some columns on the left, for numbers.
void align_right(std::vector<std::vector<std::string>>& rows, std::initializer_list<std::size_t> columns);

// `text` in bold when `colour` is set.
std::string bold(std::string_view text, bool colour);

} // namespace tidegate
