// Reads graph files: the text, the headers of the formats, one function each, and the body of every format by the rules that its
// header yields. Stated sizes are checked before memory is allocated for them.
#include "core/files.hpp"
#include "graph/entries.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/load.hpp>

#include <zlib.h>

namespace tidegate::graphs {
namespace {

// Inflates gzip members that follow each other, perhaps with zeros after them. zlib's gzread() would ignore everything after a
// damaged header of a later member.
Result<std::string> inflated(std::string packed, std::uint64_t most) {
  z_stream stream{};
  constexpr int gzip_windows = 15 + 16; // zlib's code for the gzip format
  if (::inflateInit2(&stream, gzip_windows) != Z_OK) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<z_stream, decltype(&::inflateEnd)> ended(&stream, ::inflateEnd);
  std::string text(4 * packed.size(), '\0');
  std::size_t at = 0, size = 0; // bytes that were read and written
  for (int code = Z_OK; code != Z_STREAM_END || at != packed.size();) {
    if (size == text.size()) {
      text.resize(2 * size);
    }
    const auto room = [](std::size_t bytes) {
      return static_cast<uInt>(std::min<std::size_t>(bytes, UINT_MAX));
    };
    const uInt given = room(packed.size() - at), most_made = room(text.size() - size);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data() + at);
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + size);
    stream.avail_out = most_made;
    code = ::inflate(&stream, Z_NO_FLUSH);
    at += given - stream.avail_in;
    size += most_made - stream.avail_out;
    const bool cut_off = code != Z_STREAM_END && at == packed.size() && stream.avail_out != 0;
    if (cut_off || (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)) {
      const std::string how =
          code == Z_OK || code == Z_BUF_ERROR
              ? "end early"
              : fmt::format("are damaged: {}", stream.msg != nullptr ? stream.msg : ::zError(code));
      const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n');
      return tl::unexpected(Error{.code = ErrorCode::bad_graph,
                                  .message = "the gzip data " + how,
                                  .fix = "compress or download the file again; `gzip -t` tests it",
                                  .line = static_cast<std::uint64_t>(lines) + 1});
    }
    if (size > most) {
      return failure(ErrorCode::input_too_large,
                     fmt::format("the inflated text is larger than {} bytes", most), "split it");
    }
    if (code == Z_STREAM_END) {
      at = std::min(packed.find_first_not_of('\0', at), packed.size());
      ::inflateReset(&stream);
    }
  }
  text.resize(size);
  return text;
}

// Reads a file, or standard input for "-", and inflates what begins with the gzip magic. The text ends with a newline unless it is
// empty. Errors: cannot_read; input_too_large for more than `most` bytes; bad_graph for damaged gzip data.
Result<std::string> read_text(const std::string& path, std::uint64_t most) {
  TIDEGATE_TRY(std::string text, read_all(path, most));
  if (text.starts_with("\x1f\x8b")) {
    TIDEGATE_TRY(text, inflated(std::move(text), most));
  }
  if (!text.empty() && text.back() != '\n') {
    text += '\n';
  }
  return text;
}

// Refuses files that are not text, with their format if it is known.
Result<void> check_text(std::string_view text) {
  struct Magic {
    std::size_t at;
    std::string_view bytes, name, unpack;
  };
  using namespace std::string_view_literals;
  static constexpr std::array known{Magic{0, "\xfd\x37zXZ\0"sv, "compressed by xz", "xz -d"},
                                    Magic{0, "BZh", "compressed by bzip2", "bunzip2"},
                                    Magic{0, "\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -d"},
                                    Magic{0, "\x04\x22\x4d\x18", "compressed by lz4", "lz4 -d"},
                                    Magic{0, "PK\x03\x04", "a zip archive", "unzip"},
                                    Magic{0, "7z\xbc\xaf", "a 7z archive", "7z x"},
                                    Magic{257, "ustar", "a tar archive", "tar -x"},
                                    Magic{0, "\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"},
                                    Magic{0, "\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8"}};
  const auto* const found = std::ranges::find_if(known, [text](const Magic& magic) {
    return text.substr(std::min(magic.at, text.size())).starts_with(magic.bytes);
  });
  if (found != known.end()) {
    return failure(ErrorCode::bad_graph, fmt::format("the file is {}", found->name),
                   fmt::format("unpack it first (`{}`), or compress the graph by gzip", found->unpack));
  }
  constexpr std::size_t looked_at = 4096;
  return text.substr(0, looked_at).find('\0') == std::string_view::npos
             ? Result<void>()
             : failure(ErrorCode::bad_graph, "the file is not text",
                       "give a graph as text, plain or compressed by gzip");
}

std::string too_many(std::uint64_t vertices) {
  return fmt::format("the graph has {} vertices, more than {}", vertices, most_vertices);
}

// Returns the parts of a line: words between blanks for '\0', else what is between separators, without spaces around it.
std::vector<std::string_view> split(std::string_view line, char separator) {
  constexpr std::string_view blanks = " \t\r";
  const std::string_view ends = separator == '\0' ? blanks : std::string_view(&separator, 1);
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(ends, at), line.size());
    std::string_view part = line.substr(at, end - at);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    part = part.substr(0, part.find_last_not_of(' ') + 1);
    if (separator != '\0' || !part.empty()) {
      parts.push_back(part);
    }
    at = end + 1;
  }
  return parts;
}

// A line of a header. At the end of the text it is empty, with the number of the last one.
struct HeaderLine {
  std::string_view text;    // without its end
  std::string_view rest;    // the lines after it
  std::uint64_t number = 0; // counted from 1
  std::vector<std::string_view> words{};

  // Returns the next line that is not blank and does not begin with a character of `comments`.
  [[nodiscard]] HeaderLine next(std::string_view comments) const {
    HeaderLine line{.text = {}, .rest = rest, .number = number};
    while (!line.rest.empty()) {
      line.text = line.rest.substr(0, line.rest.find('\n')); // every line ends with one
      line.rest.remove_prefix(line.text.size() + 1);
      line.text.remove_suffix(line.text.ends_with('\r') ? 1 : 0);
      ++line.number;
      line.words = split(line.text, '\0');
      if (!line.words.empty() && comments.find(line.words[0][0]) == std::string_view::npos) {
        return line;
      }
    }
    return {.text = {}, .rest = {}, .number = line.number};
  }

  // Returns an empty word at the end of the line if it has fewer.
  [[nodiscard]] std::string_view word(std::size_t index) const {
    return index < words.size() ? words[index] : text.substr(text.size());
  }

  // Returns a word as a number; `missing` is the message for an empty one.
  [[nodiscard]] Result<std::uint64_t> number_at(std::size_t index, std::string missing,
                                                std::string_view fix) const {
    const std::string_view digits = word(index);
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || code != std::errc() || end != digits.data() + digits.size()) {
      return refused_at(digits,
                        digits.empty()
                            ? std::move(missing)
                            : fmt::format("expected a whole number of 64 bits, got {}", in_quotes(digits)),
                        fix);
    }
    return value;
  }

  // Returns the numbers from a word on, the first of them the vertices; `missing` has how many there are in place of {}.
  [[nodiscard]] Result<std::vector<std::uint64_t>>
  sizes(std::size_t first, std::size_t count, std::string_view missing, std::string_view fix) const {
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < count; ++i) {
      TIDEGATE_TRY(const std::uint64_t size,
                   number_at(first + i, fmt::format(fmt::runtime(missing), i), fix));
      all.push_back(size);
      if (all.front() > most_vertices) {
        return refused_at(word(first + i), too_many(all.front()), "vertices are numbers of 32 bits");
      }
    }
    return all;
  }

  // Refuses words from `count` on; errors name the line.
  [[nodiscard]] Result<void> check_end(std::size_t count, std::string_view name, std::string_view fix) const {
    return words.size() <= count
               ? Result<void>()
               : refused_at(words[count],
                            fmt::format("unexpected {} after the {}", in_quotes(words[count]), name), fix);
  }

  // Makes an error of the line, or of a word in it.
  [[nodiscard]] tl::unexpected<Error> refused(std::string message, std::string_view fix) const {
    return tl::unexpected(Error{.code = ErrorCode::bad_graph,
                                .message = std::move(message),
                                .fix = std::string(fix),
                                .line = number});
  }
  [[nodiscard]] tl::unexpected<Error> refused_at(std::string_view at, std::string message,
                                                 std::string_view fix) const {
    auto error = refused(std::move(message), fix);
    error.value().column =
        character_count(text.substr(0, static_cast<std::size_t>(at.data() - text.data()))) + 1;
    return error;
  }
};

struct FileHeader {
  FileFormat format = FileFormat::edge_list;
  EntryRules rules;
  std::optional<std::uint64_t> vertices; // if stated; otherwise the greatest vertex plus one
  std::optional<std::uint64_t> entries;  // if stated
  bool both_directions = false;          // each entry is an edge in both directions
  HeaderLine last{};                     // which states the counts; the body comes after it
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

bool has_extension(std::string_view path, std::string_view extension) {
  if (path.ends_with(".gz")) {
    path.remove_suffix(3);
  }
  return path.ends_with(extension);
}

// Recognises the format by the first line that is not blank, or by the file name extension.
Result<FileFormat> recognise_format(const HeaderLine& begin, const std::string& path) {
  TIDEGATE_CHECK(check_text(begin.rest));
  const HeaderLine first = begin.next("");
  const std::string_view word = first.word(0);
  if (word.empty()) {
    return failure(ErrorCode::bad_graph, "the file is empty",
                   "give a Matrix Market, DIMACS .gr, METIS or CSV file or a list of edges");
  }
  if (lower_case(word).starts_with("%%matrixmarket") || has_extension(path, ".mtx")) {
    return FileFormat::matrix_market;
  }
  if (word == "c" || word == "p" || has_extension(path, ".gr")) {
    return FileFormat::dimacs;
  }
  if (has_extension(path, ".graph") || has_extension(path, ".metis")) {
    return FileFormat::metis;
  }
  if (has_extension(path, ".csv") || has_extension(path, ".tsv")) {
    return FileFormat::csv;
  }
  if (word[0] == '#' || word[0] == '%' || is_digit(word[0])) {
    return FileFormat::edge_list;
  }
  return first.refused(fmt::format("unknown graph format; the first line is {}", in_quotes(first.text)),
                       "give a Matrix Market, DIMACS .gr, METIS .graph or .csv file or a list of edges (two "
                       "numbers a line), plain or compressed by gzip");
}

Result<FileHeader> read_dimacs_header(const HeaderLine& begin) {
  constexpr std::string_view fix =
      "write \"p sp VERTICES ARCS\" before the arcs, and begin comment lines with c";
  const HeaderLine line = begin.next("c");
  if (line.word(0) != "p") {
    return line.refused_at(line.word(0),
                           line.words.empty()
                               ? "the file ends before the problem line"
                               : fmt::format("expected the problem line, got {}", in_quotes(line.text)),
                           fix);
  }
  if (line.word(1) != "sp") {
    return line.refused_at(
        line.word(1),
        fmt::format("the problem type {} is not supported; use sp (shortest paths)", in_quotes(line.word(1))),
        fix);
  }
  TIDEGATE_TRY(const auto sizes, line.sizes(2, 2, "the problem line has no vertices or no arcs", fix));
  TIDEGATE_CHECK(line.check_end(4, "problem line", fix));
  return FileHeader{.format = FileFormat::dimacs,
                    .rules = {.keyword = 'a',
                              .comments = "c",
                              .ends = {"tail", "head"},
                              .first_vertex = 1,
                              .last_vertex = sizes[0],
                              .values = ValueColumn::integer},
                    .vertices = sizes[0],
                    .entries = sizes[1],
                    .last = line};
}

// Returns what separates the two vertices of the first edge, or the names of its columns; '\0' for blanks.
char separator_of(std::string_view line, bool is_csv) {
  constexpr std::string_view separators = ",;\t";
  std::size_t at = is_csv ? line.find_first_of(separators) : line.find_first_not_of(" \t0123456789");
  if (at == std::string_view::npos || separators.find(line[at]) == std::string_view::npos) {
    return '\0';
  }
  return line[at];
}

// Checks the first line of a CSV file, which names its columns: two, or three with a weight.
Result<void> check_column_names(const HeaderLine& line, const std::vector<std::string_view>& names) {
  constexpr std::string_view fix = "give the columns source, target and perhaps weight, in this order";
  constexpr std::array<std::array<std::string_view, 4>, 3> known{
      {{"source", "src", "from", "tail"}, {"target", "dst", "to", "head"}, {"weight", "cost"}}};
  if (names.size() < 2 || names.size() > 3) {
    return line.refused(fmt::format("the first line names {}", plural(names.size(), "column")), fix);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = lower_case(names[i]);
    std::erase(name, '"');
    if (name.find_first_not_of("+-.0123456789e") == std::string::npos &&
        name.find_first_of("0123456789") != std::string::npos) {
      return line.refused_at(names[i], fmt::format("expected a number or a name, got {}", names[i]),
                             "write numbers without quotes");
    }
    if (name.empty()) { // of row numbers, for example, which are not vertices
      return line.refused_at(names[i], fmt::format("column {} has no name", i + 1), fix);
    }
    const auto* const found = std::ranges::find_if(
        known, [&name](const auto& column) { return std::ranges::find(column, name) != column.end(); });
    if (const auto column = static_cast<std::size_t>(found - known.begin());
        found != known.end() && column != i) {
      return line.refused_at(
          names[i], fmt::format("{} is column {}, and should be column {}", names[i], i + 1, column + 1),
          fix);
    }
  }
  return {};
}

// Reads what comes before the first edge of a list of edges, with blanks or separators between their parts.
Result<FileHeader> read_list_header(const HeaderLine& begin, bool is_csv) {
  FileHeader found{.format = is_csv ? FileFormat::csv : FileFormat::edge_list,
                   .rules = {.comments = "#%", .may_compact = true},
                   .last = begin};
  HeaderLine line = begin.next(found.rules.comments);
  const char separator = separator_of(line.text, is_csv);
  std::vector<std::string_view> names;
  if (separator != '\0') {
    found.format = FileFormat::csv;
    found.rules.separator = separator;
    if (!is_digit(line.words[0][0])) {
      names = split(line.text, separator);
      TIDEGATE_CHECK(check_column_names(line, names));
      found.last = line;
      line = line.next(found.rules.comments);
    }
  }
  const auto fields = split(line.text, separator); // of the first edge, if there is one
  if (!line.words.empty() && (names.empty() ? fields : names).size() > 2) {
    found.rules.by_first = fields.size() < 3 || fields[2].find_first_of(".eEnN") == std::string_view::npos;
    found.rules.values = found.rules.by_first ? ValueColumn::integer : ValueColumn::real;
  }
  return found;
}

Result<FileHeader> read_metis_header(const HeaderLine& begin) {
  constexpr std::string_view fix = "begin with VERTICES EDGES, and perhaps FORMAT and CONSTRAINTS";
  const HeaderLine line = begin.next("%");
  if (line.words.empty()) {
    return line.refused_at(line.text, "the file ends before the numbers of vertices and edges", fix);
  }
  TIDEGATE_TRY(const auto stated, line.sizes(0, 2, "the first line has no vertices or no edges", fix));
  const std::string_view format = line.word(2);
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos) {
    return line.refused_at(
        format, fmt::format("the format is {}", in_quotes(format)),
        "give three digits, 0 or 1: sizes of vertices, weights of vertices, weights of edges");
  }
  const auto flag = [format](std::size_t from_the_end) {
    return format.size() >= from_the_end && format[format.size() - from_the_end] == '1';
  };
  const bool edge_weights = flag(1), vertex_weights = flag(2), sizes = flag(3);
  std::uint64_t constraints = 1;
  if (line.words.size() > 3) {
    TIDEGATE_TRY(constraints, line.number_at(3, "", fix));
  }
  TIDEGATE_CHECK(line.check_end(4, "first line", fix));
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return FileHeader{.format = FileFormat::metis,
                    .rules = {.comments = "%",
                              .rows = true,
                              .row_numbers = (sizes ? 1U : 0U) + (vertex_weights ? constraints : 0),
                              .ends = {"vertex", "neighbour"},
                              .first_vertex = 1,
                              .last_vertex = stated[0],
                              .values = edge_weights ? ValueColumn::integer : ValueColumn::none},
                    .vertices = stated[0],
                    .entries = stated[1] > most / 2 ? most : 2 * stated[1], // each is in two rows
                    .last = line};
}

constexpr std::string_view banner_fix =
    "begin with \"%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric|skew-symmetric\"";

// A word of the banner: what it is, the values that we read, and those that the format has, too.
struct BannerWord {
  std::string_view what;
  std::vector<std::string_view> read, other;
};

// Returns the four words after %%MatrixMarket in lower case.
Result<std::array<std::string, 4>> read_banner(const HeaderLine& line) {
  const std::array<BannerWord, 4> words{
      {{"object", {"matrix"}, {"vector"}},
       {"format", {"coordinate"}, {"array"}},
       {"field", {"pattern", "integer", "real", "double"}, {"complex"}},
       {"symmetry", {"general", "symmetric", "skew-symmetric"}, {"hermitian"}}}};
  if (lower_case(line.word(0)) != "%%matrixmarket") {
    return line.refused(fmt::format("expected the banner %%MatrixMarket, got {}", in_quotes(line.text)),
                        banner_fix);
  }
  std::array<std::string, 4> banner;
  for (std::size_t i = 0; i < banner.size(); ++i) {
    const auto& [what, read, other] = words[i];
    const std::string_view word = line.word(i + 1);
    banner[i] = lower_case(word);
    if (std::ranges::find(read, banner[i]) == read.end()) {
      const bool known = std::ranges::find(other, banner[i]) != other.end();
      return line.refused_at(word,
                             word.empty() ? fmt::format("the banner ends before its {}", what)
                             : known      ? fmt::format("the {} {} is not supported", what, in_quotes(word))
                                          : fmt::format("unknown {} {}", what, in_quotes(word)),
                             known ? fmt::format("write it with {} {}", what, one_of(read))
                                   : std::string(banner_fix));
    }
  }
  TIDEGATE_CHECK(line.check_end(5, "banner", banner_fix));
  if (banner[2] == "pattern" && banner[3] == "skew-symmetric") {
    return line.refused("a pattern matrix has no values, so it cannot be skew-symmetric",
                        "make it symmetric, or give values");
  }
  return banner;
}

// Value types of SuiteSparse:GraphBLAS, with the range of the integer types: those of real numbers have none.
struct ValueType {
  std::string_view name;
  std::int64_t least = 0, greatest = 0;
};
constexpr std::array value_types{ValueType{"bool", 0, 1},
                                 ValueType{"int8_t", INT8_MIN, INT8_MAX},
                                 ValueType{"int16_t", INT16_MIN, INT16_MAX},
                                 ValueType{"int32_t", INT32_MIN, INT32_MAX},
                                 ValueType{"int64_t", INT64_MIN, INT64_MAX},
                                 ValueType{"uint8_t", 0, UINT8_MAX},
                                 ValueType{"uint16_t", 0, UINT16_MAX},
                                 ValueType{"uint32_t", 0, UINT32_MAX},
                                 ValueType{"uint64_t", 0, INT64_MAX},
                                 ValueType{"float"},
                                 ValueType{"double"}};

// Applies the rest of "%%GraphBLAS type T", which narrows the banner's field: fewer bits, or integers instead of
// reals.
Result<void> take_type_line(const HeaderLine& line, EntryRules& rules) {
  if (line.word(1) != "type") {
    return {}; // an ordinary comment
  }
  const std::string_view name = line.word(2);
  const auto* const type = std::ranges::find(value_types, name, &ValueType::name);
  if (type == value_types.end()) {
    return line.refused_at(
        name, fmt::format("unknown value type {}", in_quotes(name)),
        "give one of bool, int8_t to int64_t, uint8_t to uint64_t, float and double, or leave the line out");
  }
  if (rules.values != ValueColumn::none && type->greatest != 0) {
    rules.values = ValueColumn::integer;
    rules.value_type =
        fmt::format("a{} {}{}", name[0] == 'i' ? "n" : "", name, name == "uint64_t" ? " below 2^63" : "");
    rules.least_value = type->least;
    rules.greatest_value = type->greatest;
  }
  return {};
}

Result<FileHeader> read_matrix_market_header(const HeaderLine& begin) {
  constexpr std::string_view fix = "write ROWS COLUMNS ENTRIES after the comments";
  HeaderLine line = begin.next("");
  TIDEGATE_TRY(const auto banner, read_banner(line));
  FileHeader found{.format = FileFormat::matrix_market,
                   .rules = {.comments = "%", .ends = {"row", "column"}, .first_vertex = 1}};
  found.rules.values = banner[2] == "pattern"   ? ValueColumn::none
                       : banner[2] == "integer" ? ValueColumn::integer
                                                : ValueColumn::real;
  found.both_directions = banner[3] != "general";
  found.rules.skew = banner[3] == "skew-symmetric";
  do { // the first line after the comments states the size
    line = line.next("");
    if (line.word(0) == "%%GraphBLAS") {
      TIDEGATE_CHECK(take_type_line(line, found.rules));
    }
  } while (line.word(0).starts_with('%'));
  if (line.words.empty()) {
    return line.refused("the file ends before the size line", fix);
  }
  TIDEGATE_TRY(const auto sizes, line.sizes(0, 3, "the size line has {} of 3 numbers", fix));
  TIDEGATE_CHECK(line.check_end(3, "size line", fix));
  if (sizes[0] != sizes[1]) {
    return line.refused(
        fmt::format("the matrix has {} and {}; an adjacency matrix is square", plural(sizes[0], "row"),
                    plural(sizes[1], "column")),
        "pad it with empty rows or columns; in a bipartite graph, number the second side after the first");
  }
  found.vertices = found.rules.last_vertex = sizes[0];
  found.entries = sizes[2];
  found.last = std::move(line);
  return found;
}

Result<FileHeader> read_header(std::string_view text, const std::string& path) {
  const HeaderLine begin{.text = {}, .rest = without_byte_order_mark(text)};
  TIDEGATE_TRY(const FileFormat format, recognise_format(begin, path));
  switch (format) {
  case FileFormat::matrix_market: return read_matrix_market_header(begin);
  case FileFormat::dimacs: return read_dimacs_header(begin);
  case FileFormat::metis: return read_metis_header(begin);
  case FileFormat::csv:
  case FileFormat::edge_list: break;
  }
  return read_list_header(begin, format == FileFormat::csv);
}

Result<void> check_count(const FileHeader& header, const Entries& entries) {
  const auto refuse = [&](std::string message, std::string_view fix, bool cut_off) {
    return tl::unexpected(Error{.code = ErrorCode::bad_graph,
                                .message = fmt::format("line {} states {}", header.last.number, message),
                                .fix = std::string(fix),
                                .line = cut_off ? entries.lines : header.last.number});
  };
  if (header.rules.rows && entries.rows < *header.vertices) {
    return refuse(
        fmt::format("{} vertices, and the file has {}", *header.vertices, plural(entries.rows, "row")),
        "the file may be cut off; a vertex without neighbours has an empty row", true);
  }
  const std::uint64_t stated = header.entries.value_or(entries.count);
  if (stated == entries.count) {
    return {};
  }
  if (header.rules.rows) {
    return refuse(fmt::format("{}, and the rows list {} instead of twice as many", plural(stated / 2, "edge"),
                              plural(entries.count, "neighbour")),
                  "list each edge in the rows of both its vertices, and count it once", false);
  }
  const bool fewer = entries.count < stated;
  return refuse(fmt::format("{}, and the file has {}",
                            stated == 1 ? "1 entry" : fmt::format("{} entries", stated), entries.count),
                fewer ? "the file may be cut off: download it again, or correct the number"
                      : "correct the number, or remove the surplus entries",
                fewer);
}

// Checks that each edge is in the rows of both its vertices, with one weight: that rows of these vertices are as
// transposed.
Result<void> check_rows_match(const Rows& rows, const Rows& other) {
  for (Vertex v = 0; v < rows.vertices(); ++v) {
    std::vector<Vertex> listed(rows.row(v).begin(), rows.row(v).end());
    std::vector<Vertex> lists(other.row(v).begin(), other.row(v).end());
    std::ranges::sort(listed);
    std::ranges::sort(lists);
    if (listed == lists) {
      continue;
    }
    std::vector<Vertex> odd;
    std::ranges::set_symmetric_difference(listed, lists, std::back_inserter(odd));
    const Vertex w = odd.front(); // in one list more often than in the other
    const bool lacks = std::ranges::count(lists, w) < std::ranges::count(listed, w);
    return failure(ErrorCode::bad_graph,
                   fmt::format("the row of vertex {} lists {}, and the row of {} does not list {} back",
                               (lacks ? v : w) + 1, (lacks ? w : v) + 1, (lacks ? w : v) + 1,
                               (lacks ? v : w) + 1),
                   "list each edge in the rows of both its vertices");
  }
  if (rows.weights != other.weights) {
    return failure(ErrorCode::bad_graph, "an edge has different weights in the rows of its vertices",
                   "give both the same weight");
  }
  return {};
}

Result<LoadedGraph> read_graph(const std::string& path, const LoadOptions& options) {
  TIDEGATE_TRY(std::string text, read_text(path, memory_limit(options.build)));
  TIDEGATE_TRY(FileHeader header, read_header(text, path));
  EntryRules& rules = header.rules;
  if (options.compact) {
    if (!rules.may_compact) {
      return failure(
          ErrorCode::invalid_program,
          fmt::format("\"ids\": \"compact\" is for lists of edges, and this {} file states its vertices",
                      file_format_names[static_cast<std::size_t>(header.format)]),
          "leave it out", "/graph/ids");
    }
    rules.compact = true;
    rules.last_vertex = std::numeric_limits<std::int64_t>::max();
  }
  rules.weights = kept_weights(options.weights, rules.values);
  const bool both_directions = header.both_directions || (options.undirected && !rules.rows);
  // Refuses a stated size that cannot fit before allocating anything for it.
  TIDEGATE_CHECK(
      check_memory(header.vertices.value_or(0), header.entries.value_or(0), rules.weights, options.build));
  // Scanning stops at a count that cannot fit.
  rules.most_entries = memory_limit(options.build) / sizeof(Edge);
  const auto read = [&] {
    return read_entries(header.last.rest, header.last.number, rules, thread_count(options.build.threads),
                        options.block_bytes);
  };
  TIDEGATE_TRY(Entries entries, read());
  if (entries.not_as_first) {
    rules.by_first = false;
    rules.values = ValueColumn::real;
    rules.weights = kept_weights(options.weights, rules.values);
    TIDEGATE_TRY(entries, read());
  }
  text = {};
  if (entries.ids.size() > most_vertices) {
    return failure(ErrorCode::input_too_large, too_many(entries.ids.size()),
                   "vertices are numbers of 32 bits");
  }
  const std::uint64_t vertices =
      header.vertices.value_or(entries.last_vertex ? std::uint64_t{*entries.last_vertex} + 1 : 0);
  TIDEGATE_CHECK(check_count(header, entries));

  LoadedGraph loaded{.graph = {},
                     .facts =
                         FileFacts{.format = header.format,
                                   .first_vertex = rules.first_vertex,
                                   .entries = entries.count,
                                   .both_directions = header.both_directions,
                                   .values = rules.values,
                                   .value_range = entries.values,
                                   .least_vertex = rules.may_compact ? entries.least_vertex : std::nullopt},
                     .ids = std::move(entries.ids)};
  BuildOptions build = options.build;
  build.in_rows = build.in_rows && !rules.rows; // rows are their own transpose
  TIDEGATE_TRY(loaded.graph, build_graph({.vertices = vertices,
                                          .chunks = std::move(entries.chunks),
                                          .weights = rules.weights,
                                          .both_directions = both_directions},
                                         build));
  if (rules.rows) {
    const Rows& rows = loaded.graph.out;
    TIDEGATE_CHECK(check_rows_match(rows, transposed(rows, build.threads, build.order)));
    loaded.graph.symmetric = true;
  }
  return loaded;
}

} // namespace

std::uint64_t VertexNumbers::position(std::uint64_t number) const {
  if (ids.empty()) {
    return number >= first ? std::min(number - first, vertices) : vertices;
  }
  const auto found = std::ranges::lower_bound(ids, number);
  return found != ids.end() && *found == number ? static_cast<std::uint64_t>(found - ids.begin()) : vertices;
}

WeightType kept_weights(WeightUse use, ValueColumn given) {
  switch (use) {
  case WeightUse::ignored: return WeightType::none;
  case WeightUse::u32: return WeightType::u32;
  case WeightUse::f32: return WeightType::f32;
  case WeightUse::as_given: break;
  }
  return given == ValueColumn::real ? WeightType::f32 : WeightType::u32;
}

Result<LoadedGraph> load_graph(const std::string& path, const LoadOptions& options) {
  auto loaded = read_graph(path, options);
  if (!loaded) {
    loaded.error().source = display_name(path);
  }
  return loaded;
}

} // namespace tidegate::graphs
