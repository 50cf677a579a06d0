// Text tables for terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

// The rows with columns aligned and two spaces apart. The last column is wrapped between words so that no
// line is longer than `width` characters where that is possible. Rows end with a newline.
std::string render_table(const std::vector<std::vector<std::string>>& rows, std::size_t width = 110);

// `text` in bold when `colour` is set.
std::string bold(std::string_view text, bool colour);

} // namespace tidegate
