#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/graphs/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <system_error>

namespace tidegate::graphs {
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

// One place of the banner: the words that are read there, and those that the format knows beside them.
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

// The four words behind %%MatrixMarket, in lower case.
Result<std::array<std::string, 4>> read_banner(HeaderLines& lines) {
  TIDEGATE_TRY(const std::optional<std::string_view> line, lines.next());
  LineWords words{*line}; // the format was recognised by it
  if (lower_case(words.next()) != "%%matrixmarket") {
    return tl::unexpected(error_at(
        lines,
        fmt::format("a Matrix Market file begins with its banner, and this one with {}", in_quotes(*line)),
        banner_fix));
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
                 : known      ? fmt::format("a matrix of {} {} is not read as a graph", what, in_quotes(word))
                              : fmt::format("there is no {} {}", what, in_quotes(word)),
                 known ? fmt::format("write it with {} {}", what, one_of(read)) : std::string(banner_fix)));
  }
  if (const std::string_view word = words.next(); !word.empty()) {
    return tl::unexpected(
        error_at(lines, *line, word, fmt::format("the banner goes on with {}", in_quotes(word)), banner_fix));
  }
  if (banner[2] == "pattern" && banner[3] == "skew-symmetric") {
    return tl::unexpected(error_at(lines,
                                   "a pattern has no values whose sign could change, so none is "
                                   "skew-symmetric",
                                   "make it symmetric, or give values"));
  }
  return banner;
}

// The types of SuiteSparse:GraphBLAS that are read, and the values of those that are integers.
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

// "%%GraphBLAS type T" says more than the banner: integers of fewer bits, or integers where that says real.
Result<void> take_type_line(const HeaderLines& lines, std::string_view line, EntryRules& rules) {
  LineWords words{line};
  words.next();
  if (const std::string_view word = words.next(); word != "type") {
    return {}; // a comment after all
  }
  const std::string_view name = words.next();
  const auto* const type = std::ranges::find(value_types, name, &ValueType::name);
  if (type == value_types.end()) {
    return tl::unexpected(
        error_at(lines, line, name, fmt::format("there is no value type {}", in_quotes(name)),
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

// The next line that is no comment: "ROWS COLUMNS ENTRIES".
Result<void> read_size(HeaderLines& lines, FileHeader& header) {
  constexpr std::string_view fix = "write ROWS COLUMNS ENTRIES behind the comments";
  std::string_view line, word;
  LineWords words;
  while (word.empty() || word.starts_with('%')) {
    TIDEGATE_TRY(const std::optional<std::string_view> next, lines.next());
    if (!next) {
      return tl::unexpected(error_at(lines, "the file ends before the line with its size", fix));
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
                   word.empty() ? fmt::format("the line with the size has {} of 3 numbers", i)
                                : fmt::format("expected a whole number of 64 bits, got {}", in_quotes(word)),
                   fix));
    }
  }
  if (!word.empty()) {
    return tl::unexpected(error_at(
        lines, line, word, fmt::format("the line with the size goes on with {}", in_quotes(word)), fix));
  }
  if (sizes[0] != sizes[1]) {
    return tl::unexpected(
        error_at(lines,
                 fmt::format("the matrix has {} and {}; that of a graph is square", plural(sizes[0], "row"),
                             plural(sizes[1], "column")),
                 "pad it with empty rows or columns; of a bipartite graph number both sides on"));
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
