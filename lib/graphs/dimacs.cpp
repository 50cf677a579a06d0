#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/graphs/format.hpp>

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace tidegate::graphs {
namespace {

Error error_at(const HeaderLines& lines, std::string_view line, std::string_view word, std::string message) {
  return {.code = ErrorCode::bad_graph,
          .message = std::move(message),
          .fix = "write \"p sp VERTICES ARCS\" before the arcs, and comments behind c",
          .line = lines.number(),
          .column = column_of(line, word)};
}

Result<std::uint64_t> read_count(const HeaderLines& lines, std::string_view line, std::string_view word) {
  std::uint64_t count = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (word.empty() || code != std::errc() || end != word.data() + word.size()) {
    return tl::unexpected(
        error_at(lines, line, word,
                 word.empty() ? "the problem line has no vertices or no arcs"
                              : fmt::format("expected a whole number of 64 bits, got {}", in_quotes(word))));
  }
  return count;
}

} // namespace

Result<FileHeader> read_dimacs_header(HeaderLines& lines) {
  std::string_view line, word;
  LineWords words;
  while (word.empty() || word[0] == 'c') {
    TIDEGATE_TRY(const std::optional<std::string_view> next, lines.next());
    if (!next) {
      return tl::unexpected(error_at(lines, {}, {}, "the file ends before the problem line"));
    }
    line = *next;
    words = {line};
    word = words.next();
  }
  if (word != "p") {
    return tl::unexpected(
        error_at(lines, line, word, fmt::format("expected the problem line, got {}", in_quotes(line))));
  }
  if (const std::string_view problem = words.next(); problem != "sp") {
    return tl::unexpected(error_at(
        lines, line, problem,
        fmt::format("the problem is {}, and graphs of shortest paths, sp, are read", in_quotes(problem))));
  }
  const std::string_view vertices_word = words.next();
  TIDEGATE_TRY(const std::uint64_t vertices, read_count(lines, line, vertices_word));
  if (vertices > most_vertices) {
    return tl::unexpected(
        error_at(lines, line, vertices_word,
                 fmt::format("the graph has {} vertices, more than {}", vertices, most_vertices)));
  }
  TIDEGATE_TRY(const std::uint64_t arcs, read_count(lines, line, words.next()));
  if (const std::string_view surplus = words.next(); !surplus.empty()) {
    return tl::unexpected(
        error_at(lines, line, surplus, fmt::format("the problem line goes on with {}", in_quotes(surplus))));
  }
  return FileHeader{.format = FileFormat::dimacs,
                    .rules = {.keyword = 'a',
                              .comments = "c",
                              .ends = {"tail", "head"},
                              .first_vertex = 1,
                              .last_vertex = vertices,
                              .values = ValueColumn::integer},
                    .vertices = vertices,
                    .entries = arcs,
                    .stated_at = lines.number()};
}

} // namespace tidegate::graphs
