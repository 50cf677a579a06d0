#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/graphs/format.hpp>

#include <fmt/format.h>

namespace tidegate::graphs {
namespace {

bool ends_with(std::string_view path, std::string_view ending) {
  if (path.ends_with(".gz")) {
    path.remove_suffix(3);
  }
  return path.ends_with(ending);
}

bool begins_edge_list(std::string_view word) {
  return word[0] == '#' || word[0] == '%' || (word[0] >= '0' && word[0] <= '9');
}

} // namespace

Result<FileFormat> recognise_format(HeaderLines& lines, const std::string& path) {
  std::string_view line, word;
  while (word.empty()) {
    TIDEGATE_TRY(const std::optional<std::string_view> next, lines.next());
    if (!next) {
      return tl::unexpected(Error{.code = ErrorCode::bad_graph,
                                  .message = "the file is empty",
                                  .fix = "give a Matrix Market file, a DIMACS .gr file or a list of edges"});
    }
    line = *next;
    word = LineWords{line}.next();
  }
  lines.back();
  if (word.starts_with("%%MatrixMarket") || ends_with(path, ".mtx")) {
    return FileFormat::matrix_market;
  }
  if (word == "c" || word == "p" || ends_with(path, ".gr")) {
    return FileFormat::dimacs;
  }
  if (begins_edge_list(word)) {
    return FileFormat::edge_list;
  }
  return tl::unexpected(Error{.code = ErrorCode::bad_graph,
                              .message = fmt::format("this begins like no graph: {}", in_quotes(line)),
                              .fix = "give a Matrix Market file, a DIMACS .gr file or a list of edges (two "
                                     "numbers a line, a blank between "
                                     "them), plain or compressed by gzip",
                              .line = lines.number() + 1});
}

} // namespace tidegate::graphs
