// Recognises formats and parses their headers.
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <system_error>

namespace tidegate::graphs {

Result<std::optional<std::string_view>> HeaderLines::next() {
  if (at_ == block_.size) {
    at_ = last_ = 0;
    TIDEGATE_TRY(const bool more, blocks_->next(block_));
    if (!more) {
      return std::nullopt;
    }
  }
  last_ = at_;
  std::string_view line = block_.text().substr(at_);
  line = line.substr(0, line.find('\n')); // every line of a block ends with one
  at_ += line.size() + 1;
  ++number_;
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

void HeaderLines::back() {
  at_ = last_;
  --number_;
}

std::string_view LineWords::next() {
  constexpr std::string_view blanks = " \t\r";
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

std::uint64_t column_of(std::string_view line, std::string_view word) {
  return character_count(line.substr(0, static_cast<std::size_t>(word.data() - line.data()))) + 1;
}

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
  return tl::unexpected(
      Error{.code = ErrorCode::bad_graph,
            .message = fmt::format("unknown graph format; the first line is {}", in_quotes(line)),
            .fix = "give a Matrix Market file, a DIMACS .gr file or a list of edges (two "
                   "numbers a line, a blank between "
                   "them), plain or compressed by gzip",
            .line = lines.number() + 1});
}

namespace {

Error error_at(const HeaderLines& lines, std::string_view line, std::string_view word, std::string message) {
  return {.code = ErrorCode::bad_graph,
          .message = std::move(message),
          .fix = "write \"p sp VERTICES ARCS\" before the arcs, and begin comment lines with c",
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
        fmt::format("the problem type {} is not supported; use sp (shortest paths)", in_quotes(problem))));
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
    return tl::unexpected(error_at(lines, line, surplus,
                                   fmt::format("unexpected {} after the problem line", in_quotes(surplus))));
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

Result<FileHeader> read_edge_list_header(HeaderLines& lines) {
  FileHeader header{.format = FileFormat::edge_list, .rules = {.comments = "#%"}};
  std::string_view word;
  LineWords words;
  while (word.empty() || word[0] == '#' || word[0] == '%') {
    TIDEGATE_TRY(const std::optional<std::string_view> line, lines.next());
    if (!line) {
      return header; // no edges
    }
    words = {*line};
    word = words.next();
  }
  words.next();
  if (const std::string_view weight = words.next(); !weight.empty()) {
    header.rules.values =
        weight.find_first_of(".eEnN") == std::string_view::npos ? ValueColumn::integer : ValueColumn::real;
  }
  lines.back(); // the first edge belongs to the body
  return header;
}

namespace {

constexpr std::string_view banner_fix =
    "begin with \"%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric|skew-symmetric\"";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

Error error_at(const HeaderLines& lines, std::string message, std::string_view fix) {
  return {.code = ErrorCode::bad_graph,
          .message = std::move(message),
          .fix = std::string(fix),
          .line = lines.number()};
}

Error error_at(const HeaderLines& lines, std::string_view line, std::string_view word, std::string message,
               std::string_view fix) {
  Error error = error_at(lines, std::move(message), fix);
  error.column = column_of(line, word);
  return error;
}

// One word of the banner: the supported values, and those that the format defines but we do not support.
struct BannerWord {
  std::string_view what;
  std::span<const std::string_view> read;
  std::span<const std::string_view> other;
};

constexpr std::array<std::string_view, 1> objects{"matrix"}, storages{"coordinate"}, dense{"array"},
    other_objects{"vector"}, other_fields{"complex"}, other_symmetries{"hermitian"};
constexpr std::array<std::string_view, 4> fields{"pattern", "integer", "real", "double"};
constexpr std::array<std::string_view, 3> symmetries{"general", "symmetric", "skew-symmetric"};
constexpr std::array<BannerWord, 4> banner_words{
    BannerWord{"object", objects, other_objects}, BannerWord{"format", storages, dense},
    BannerWord{"field", fields, other_fields}, BannerWord{"symmetry", symmetries, other_symmetries}};

// Returns the four words after %%MatrixMarket in lower case.
Result<std::array<std::string, 4>> read_banner(HeaderLines& lines) {
  TIDEGATE_TRY(const std::optional<std::string_view> line, lines.next());
  LineWords words{*line}; // exists: recognise_format() has seen it
  if (lower_case(words.next()) != "%%matrixmarket") {
    return tl::unexpected(error_at(
        lines, fmt::format("expected the banner %%MatrixMarket, got {}", in_quotes(*line)), banner_fix));
  }
  std::array<std::string, 4> banner;
  for (std::size_t i = 0; i < banner.size(); ++i) {
    const auto& [what, read, other] = banner_words[i];
    const std::string_view word = words.next();
    banner[i] = lower_case(word);
    if (std::ranges::find(read, banner[i]) != read.end()) {
      continue;
    }
    const bool known = std::ranges::find(other, banner[i]) != other.end();
    return tl::unexpected(
        error_at(lines, *line, word,
                 word.empty() ? fmt::format("the banner ends before its {}", what)
                 : known      ? fmt::format("the {} {} is not supported", what, in_quotes(word))
                              : fmt::format("unknown {} {}", what, in_quotes(word)),
                 known ? fmt::format("write it with {} {}", what, one_of(read)) : std::string(banner_fix)));
  }
  if (const std::string_view word = words.next(); !word.empty()) {
    return tl::unexpected(error_at(
        lines, *line, word, fmt::format("unexpected {} after the banner", in_quotes(word)), banner_fix));
  }
  if (banner[2] == "pattern" && banner[3] == "skew-symmetric") {
    return tl::unexpected(error_at(lines,
                                   "a pattern matrix has no values, so it cannot be "
                                   "skew-symmetric",
                                   "make it symmetric, or give values"));
  }
  return banner;
}

// Value types of SuiteSparse:GraphBLAS, with the range of the integer types.
struct ValueType {
  std::string_view name;
  std::string_view meaning;
  ValueColumn column;
  std::int64_t least = 0, greatest = 0;
};

template <class T>
constexpr ValueType integer_type(std::string_view name, std::string_view meaning) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return {
      name, meaning, ValueColumn::integer, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
      static_cast<std::int64_t>(std::min(static_cast<std::uint64_t>(std::numeric_limits<T>::max()), most))};
}

constexpr std::array value_types{
    integer_type<bool>("bool", "a bool"),
    integer_type<std::int8_t>("int8_t", "an int8_t"),
    integer_type<std::int16_t>("int16_t", "an int16_t"),
    integer_type<std::int32_t>("int32_t", "an int32_t"),
    integer_type<std::int64_t>("int64_t", "an int64_t"),
    integer_type<std::uint8_t>("uint8_t", "a uint8_t"),
    integer_type<std::uint16_t>("uint16_t", "a uint16_t"),
    integer_type<std::uint32_t>("uint32_t", "a uint32_t"),
    integer_type<std::uint64_t>("uint64_t", "a uint64_t below 2^63"),
    ValueType{"float", "a float", ValueColumn::real},
    ValueType{"double", "a double", ValueColumn::real},
};

// Applies "%%GraphBLAS type T", which narrows the banner's field: fewer bits, or integers instead of reals.
Result<void> take_type_line(const HeaderLines& lines, std::string_view line, EntryRules& rules) {
  LineWords words{line};
  words.next();
  if (const std::string_view word = words.next(); word != "type") {
    return {}; // an ordinary comment
  }
  const std::string_view name = words.next();
  const auto* const type = std::ranges::find(value_types, name, &ValueType::name);
  if (type == value_types.end()) {
    return tl::unexpected(
        error_at(lines, line, name, fmt::format("unknown value type {}", in_quotes(name)),
                 "give one of bool, int8_t to int64_t, uint8_t to uint64_t, float and double, "
                 "or leave the line out"));
  }
  if (rules.values != ValueColumn::none && type->column == ValueColumn::integer) {
    rules.values = ValueColumn::integer;
    rules.value_type = type->meaning;
    rules.least_value = type->least;
    rules.greatest_value = type->greatest;
  }
  return {};
}

// Reads "ROWS COLUMNS ENTRIES", the first line after the comments.
Result<void> read_size(HeaderLines& lines, FileHeader& header) {
  constexpr std::string_view fix = "write ROWS COLUMNS ENTRIES after the comments";
  std::string_view line, word;
  LineWords words;
  while (word.empty() || word.starts_with('%')) {
    TIDEGATE_TRY(const std::optional<std::string_view> next, lines.next());
    if (!next) {
      return tl::unexpected(error_at(lines, "the file ends before the size line", fix));
    }
    line = *next;
    words = {line};
    word = words.next();
    if (word == "%%GraphBLAS") {
      TIDEGATE_CHECK(take_type_line(lines, line, header.rules));
    }
  }
  std::array<std::uint64_t, 3> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i, word = words.next()) {
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), sizes[i]);
    if (word.empty() || code != std::errc() || end != word.data() + word.size()) {
      return tl::unexpected(
          error_at(lines, line, word,
                   word.empty() ? fmt::format("the size line has {} of 3 numbers", i)
                                : fmt::format("expected a whole number of 64 bits, got {}", in_quotes(word)),
                   fix));
    }
  }
  if (!word.empty()) {
    return tl::unexpected(
        error_at(lines, line, word, fmt::format("unexpected {} after the size line", in_quotes(word)), fix));
  }
  if (sizes[0] != sizes[1]) {
    return tl::unexpected(error_at(
        lines,
        fmt::format("the matrix has {} and {}; an adjacency matrix is square", plural(sizes[0], "row"),
                    plural(sizes[1], "column")),
        "pad it with empty rows or columns; in a bipartite graph, number the second side after the first"));
  }
  if (sizes[0] > most_vertices) {
    return tl::unexpected(
        error_at(lines, fmt::format("the graph has {} vertices, more than {}", sizes[0], most_vertices),
                 "vertices are numbers of 32 bits"));
  }
  header.vertices = sizes[0];
  header.rules.last_vertex = sizes[0];
  header.entries = sizes[2];
  header.stated_at = lines.number();
  return {};
}

} // namespace

Result<FileHeader> read_matrix_market_header(HeaderLines& lines) {
  TIDEGATE_TRY(const auto banner, read_banner(lines));
  FileHeader header{.format = FileFormat::matrix_market,
                    .rules = {.comments = "%", .ends = {"row", "column"}, .first_vertex = 1}};
  header.rules.values = banner[2] == "pattern"   ? ValueColumn::none
                        : banner[2] == "integer" ? ValueColumn::integer
                                                 : ValueColumn::real;
  header.both_directions = banner[3] != "general";
  header.rules.skew = banner[3] == "skew-symmetric";
  TIDEGATE_CHECK(read_size(lines, header));
  return header;
}

} // namespace tidegate::graphs
