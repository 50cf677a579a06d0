#include <tidegate/core/try.hpp>
#include <tidegate/graphs/format.hpp>

namespace tidegate::graphs {

Result<FileHeader> read_edge_list_header(HeaderLines& lines) {
  FileHeader header{.format = FileFormat::edge_list, .rules = {.comments = "#%"}};
  std::string_view word;
  LineWords words;
  while (word.empty() || word[0] == '#' || word[0] == '%') {
    TIDEGATE_TRY(const std::optional<std::string_view> line, lines.next());
    if (!line) {
      return header; // a graph without edges
    }
    words = {*line};
    word = words.next();
  }
  words.next();
  if (const std::string_view weight = words.next(); !weight.empty()) {
    header.rules.values =
        weight.find_first_of(".eEnN") == std::string_view::npos ? ValueColumn::integer : ValueColumn::real;
  }
  lines.back(); // an edge like all others
  return header;
}

} // namespace tidegate::graphs
