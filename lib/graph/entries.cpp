// Scans blocks of entries in parallel; faults become errors only after the loop over the lines.
#include "graph/entries.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tidegate::graphs {

namespace {

// A fault in one line of a graph file. The scanning loop records it; to_error() puts it into words.

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

struct EntryFault {
  enum class Kind : std::uint8_t {
    keyword,      // the word before an entry is missing
    vertex,       // not a number
    vertex_range, // not the number of a vertex
    gap,          // no blank after a part of the entry, or the line ends before its next part
    integer,      // not an integer
    not_as_first, // a number, but no integer, which the first value is
    integer_range,
    real, // not a number
    not_finite,
    line_end,    // text after the entry
    row_number,  // not a number before the neighbours of a row
    row_loop,    // a vertex in its own row
    row_surplus, // a row after that of the last vertex
    on_diagonal, // an entry on the diagonal of a skew-symmetric matrix
    negative,    // a weight below 0
    opposite_negative,
    not_whole, // a weight that u32 cannot represent
    beyond_u32,
    beyond_f32,
  };

  Kind kind = Kind::line_end;
  const char* at = nullptr; // first character of the faulty part
  std::size_t part = 0;     // 0 source, 1 target, 2 value
  Edge edge;                // set for faults of weights
};

// Returns the characters up to the next blank.
std::string_view word_at(const char* at) {
  const char* end = at;
  while (!is_blank(*end) && *end != '\n') {
    ++end;
  }
  return {at, static_cast<std::size_t>(end - at)};
}

struct Wording {
  std::string message;
  std::string fix;
};

Wording expected(std::string_view what, std::string_view word, const EntryRules& rules) {
  const bool commas = word.find(',') != std::string_view::npos;
  return {fmt::format("expected {}, got {}", what, word.empty() ? "the end of the line" : in_quotes(word)),
          word.find('"') != std::string_view::npos ? "write numbers without quotes"
          : rules.rows ? "give each vertex a line with its neighbours, as the header says"
          : commas && rules.separator == '\0' ? "write blanks where the commas are"
          : rules.ends == EntryRules().ends // a list of edges, without a header
              ? "give an edge on each line, with the columns of the first one"
              : "give an edge on each line, as the header says"};
}

std::string_view name_of_separator(char separator) {
  switch (separator) {
  case ',': return "a comma";
  case ';': return "a semicolon";
  case '\t': return "a tab";
  default: return "a blank";
  }
}

std::string_view part_name(const EntryFault& fault, const EntryRules& rules) {
  return fault.part < rules.ends.size() ? rules.ends[fault.part] : "value";
}

Wording in_words(const EntryFault& fault, const EntryRules& rules) {
  using Kind = EntryFault::Kind;
  const std::string_view word = word_at(fault.at);
  const std::string number = shortened(word);
  const std::string_view part = part_name(fault, rules);
  const std::uint64_t from = fault.edge.source + rules.first_vertex;
  const std::uint64_t to = fault.edge.target + rules.first_vertex;
  constexpr std::string_view correct_range = "correct it, or the size that the file states";
  constexpr std::string_view other_weights =
      "shift the weights, or choose an algorithm that does not use them";
  switch (fault.kind) {
  case Kind::keyword:
    return expected(fmt::format("\"{}\" and an edge, or a comment", rules.keyword), word, rules);
  case Kind::vertex: return expected(fmt::format("the {}, a whole number", part), word, rules);
  case Kind::vertex_range:
    if (rules.last_vertex < rules.first_vertex) {
      return {fmt::format("the {} is {}, and there are no vertices", part, number),
              std::string(correct_range)};
    }
    return {fmt::format("the {} is {}, and vertices are {} to {}", part, number, rules.first_vertex,
                        rules.last_vertex),
            std::string(correct_range)};
  case Kind::gap:
    return expected(word.empty() ? fmt::format("the {}", part)
                                 : fmt::format("{} and the {}", name_of_separator(rules.separator), part),
                    word, rules);
  case Kind::integer: return expected("an integer", word, rules);
  case Kind::not_as_first:
    return {fmt::format("the value {} is not an integer, and the first one is", number),
            "write the first one with a decimal point, or read from a file"};
  case Kind::integer_range:
    return {fmt::format("the value {} is not {}: {} to {}", number, rules.value_type, rules.least_value,
                        rules.greatest_value),
            "correct it, or the type that the file states"};
  case Kind::real: return expected("a number", word, rules);
  case Kind::not_finite:
    return {fmt::format("the value {} is not a finite number of 64 bits", number), "correct it"};
  case Kind::line_end: return expected("the end of the line", word, rules);
  case Kind::row_number: return expected("a weight or the size of the vertex, a whole number", word, rules);
  case Kind::row_loop:
    return {fmt::format("the row of vertex {} lists the vertex itself", number), "leave loops out"};
  case Kind::row_surplus:
    return {fmt::format("a row after that of the last vertex, {}", rules.last_vertex),
            "correct the number of vertices that the file states"};
  case Kind::on_diagonal: return {"a skew-symmetric matrix has no entries on its diagonal", "leave it out"};
  case Kind::negative:
    return {fmt::format("the edge from {} to {} has the weight {}; weights must not be negative", from, to,
                        number),
            std::string(other_weights)};
  case Kind::opposite_negative:
    return {
        fmt::format(
            "the edge from {} to {}, opposite in a skew-symmetric matrix, has the weight -{}; weights must not "
            "be negative",
            to, from, number),
        std::string(other_weights)};
  case Kind::not_whole:
    return {fmt::format("the weight {} is not a whole number", number), "take the weights as f32"};
  case Kind::beyond_u32:
    return {fmt::format("the weight {} is above {}", number, std::numeric_limits<std::uint32_t>::max()),
            "scale the weights down, or take them as f32"};
  case Kind::beyond_f32:
    return {fmt::format("the weight {} does not fit 32 bits", number), "scale the weights down"};
  }
  return {};
}

// Returns bad_graph with the fault's line and column; its line begins at `line` and has the number
// `line_number`.
Error to_error(const EntryFault& fault, const EntryRules& rules, const char* line,
               std::uint64_t line_number) {
  auto [message, fix] = in_words(fault, rules);
  return {.code = ErrorCode::bad_graph,
          .message = std::move(message),
          .fix = std::move(fix),
          .line = line_number,
          .column = character_count({line, static_cast<std::size_t>(fault.at - line)}) + 1};
}

struct BlockEntries {
  std::uint64_t index = 0;
  std::uint64_t begin = 0; // TextBlock::begin
  std::uint64_t lines = 0;
  EdgeChunk chunk;
  std::optional<Vertex> last_vertex;
  ValueRange values;
  std::optional<Error> error; // its line counts from the start of the block
  bool not_as_first = false;  // the error is EntryFault::Kind::not_as_first
};

constexpr std::ptrdiff_t most_digits = 19; // the longest number that always fits 64 bits

// Reads one or more digits into `number` and returns the position after them; with more than most_digits the
// number is meaningless. Converts eight digits at a time without a branch on their count, because numbers of
// varying length would mispredict it.
[[gnu::always_inline]] inline const char* take_digits(const char* at, std::uint64_t& number) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t pairs = 0x000000ff000000ff;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes); // may read past the text into the padding
  bytes ^= ones * '0';
  // Sets the high bit of the lowest byte above 9; carries only reach the bytes above it.
  const std::uint64_t others = ((bytes + ones * 0x76) | bytes) & (ones * 0x80);
  const auto bits = static_cast<unsigned>(std::countr_zero(others)) & ~7U; // bits before the first non-digit
  at += bits / 8;
  bytes <<= 64U - bits; // leading zeros
  // Combines digits into pairs, pairs into fours, fours into the number.
  bytes = bytes * 10 + (bytes >> 8U);
  number = ((bytes & pairs) * (100 + (std::uint64_t{1000000} << 32U)) +
            (bytes >> 16U & pairs) * (1 + (std::uint64_t{10000} << 32U))) >>
           32U;
  if (others == 0) {
    while (is_digit(*at)) {
      number = number * 10 + static_cast<std::uint64_t>(*at++ - '0');
    }
  }
  return at;
}

// Reads a decimal number of at most 15 digits that a blank or the end of the line follows; nullptr for any
// other number. Its digits and the power of ten are exact as doubles, so their quotient is correctly rounded.
// Source: Clinger, How to Read Floating Point Numbers Accurately (PLDI 1990).
inline const char* take_short_decimal(const char* at, double& value) {
  constexpr std::ptrdiff_t exact_digits = 15;
  constexpr std::array<double, exact_digits + 1> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = *at == '-';
  const char* const digits = at + (negative ? 1 : 0);
  if (!is_digit(*digits)) {
    return nullptr;
  }
  std::uint64_t whole = 0, fraction = 0;
  const char* const point = take_digits(digits, whole);
  const bool has_fraction = *point == '.' && is_digit(point[1]);
  const char* const end = has_fraction ? take_digits(point + 1, fraction) : point;
  const std::ptrdiff_t decimals = has_fraction ? end - point - 1 : 0;
  if (end - digits > exact_digits || (!is_blank(*end) && *end != '\n')) {
    return nullptr;
  }
  const auto power = powers[static_cast<std::size_t>(decimals)];
  const double magnitude = (static_cast<double>(whole) * power + static_cast<double>(fraction)) / power;
  value = negative ? -magnitude : magnitude;
  return end;
}

// Scans the entries of whole lines, which padding follows. Every line ends with a newline, so no step checks
// for the end of the text. Each step takes a position and returns the one after what it has read; on a fault
// it records the fault and returns nullptr.
template <ValueColumn column>
class BlockScanner {
public:
  BlockScanner(std::string_view text, const EntryRules& rules) : text_(text), rules_(rules) {}

  // Scans entries, or rows from that of vertex `row` on, counted from 0.
  BlockEntries scan(std::uint64_t row) {
    if (rules_.rows) {
      scan_rows(row);
    } else {
      scan_entries();
    }
    if (!block_.chunk.edges.empty()) {
      block_.last_vertex = last_vertex_;
    }
    if (column != ValueColumn::none && least_ <= greatest_) {
      block_.values.least = number(least_);
      block_.values.greatest = number(greatest_);
    }
    return std::move(block_);
  }

private:
  using Value = std::conditional_t<column == ValueColumn::real, double, std::int64_t>;
  using Kind = EntryFault::Kind;

  void scan_entries() {
    reserve();
    const char* const end = text_.data() + text_.size();
    const char usual = rules_.keyword; // or a digit
    for (const char* at = text_.data(); at != end; ++block_.lines) {
      const char* const line = at;
      at = skip_blanks(at);
      if (*at != usual && !is_digit(*at) &&
          (*at == '\n' || rules_.comments.find(*at) != std::string_view::npos)) {
        at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
        continue;
      }
      at = entry(keyword(at));
      if (at == nullptr) {
        block_.error = to_error(fault_, rules_, line, block_.lines + 1);
        block_.not_as_first = fault_.kind == Kind::not_as_first;
        return;
      }
    }
  }

  // A blank line is the row of a vertex without neighbours.
  void scan_rows(std::uint64_t row) {
    const char* const end = text_.data() + text_.size();
    for (const char* at = text_.data(); at != end; ++block_.lines) {
      const char* const line = at;
      at = skip_blanks(at);
      if (rules_.comments.find(*at) != std::string_view::npos) {
        at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
        continue;
      }
      if (row < rules_.last_vertex) {
        at = neighbours(at, static_cast<Vertex>(row++));
      } else {
        at = *at == '\n' ? at + 1 : fault(Kind::row_surplus, at);
      }
      if (at == nullptr) {
        block_.error = to_error(fault_, rules_, line, block_.lines + 1);
        return;
      }
    }
  }

  static Number number(Value value) {
    if constexpr (column == ValueColumn::real) {
      return value;
    } else {
      return value < 0 ? Number(value) : Number(static_cast<std::uint64_t>(value));
    }
  }

  // Reserves an entry per line, estimated from the length of the first lines.
  void reserve() {
    constexpr std::size_t looked_at = 4096;
    const std::string_view sample = text_.substr(0, looked_at);
    const auto lines = static_cast<std::size_t>(std::ranges::count(sample, '\n')) + 1;
    const std::size_t entries = text_.size() / (sample.size() / lines + 1) + lines;
    block_.chunk.edges.reserve(entries);
    block_.chunk.weights.reserve(rules_.weights == WeightType::none ? 0 : entries);
  }

  static const char* skip_blanks(const char* at) {
    while (is_blank(*at)) {
      ++at;
    }
    return at;
  }

  const char* keyword(const char* at) {
    if (rules_.keyword == '\0') {
      return at;
    }
    return *at == rules_.keyword && is_blank(at[1]) ? skip_blanks(at + 1) : fault(Kind::keyword, at);
  }

  const char* entry(const char* at) {
    Edge edge;
    if (at == nullptr || (at = vertex(at, 0, edge.source)) == nullptr || (at = gap(at, 1)) == nullptr ||
        (at = vertex(at, 1, edge.target)) == nullptr) {
      return nullptr;
    }
    if (rules_.skew && edge.source == edge.target) {
      return fault(Kind::on_diagonal, at);
    }
    std::uint32_t weight = unit_weight(rules_.weights);
    if constexpr (column != ValueColumn::none) {
      constexpr std::size_t value_part = 2;
      if ((at = gap(at, value_part)) == nullptr || (at = value_of(at, edge, weight)) == nullptr) {
        return nullptr;
      }
    }
    at = skip_blanks(at);
    if (*at != '\n') {
      return fault(Kind::line_end, at);
    }
    last_vertex_ = std::max({last_vertex_, edge.source, edge.target});
    block_.chunk.edges.push_back(edge);
    if (rules_.weights != WeightType::none) {
      block_.chunk.weights.push_back(weight);
    }
    return at + 1;
  }

  // Reads the rest of a line: the row of `source`.
  const char* neighbours(const char* at, Vertex source) {
    for (std::uint64_t i = 0; i < rules_.row_numbers; ++i) {
      std::uint64_t skipped = 0;
      const char* const end = is_digit(*at) ? take_digits(at, skipped) : nullptr;
      if (end == nullptr || (!is_blank(*end) && *end != '\n')) {
        return fault(Kind::row_number, at);
      }
      at = skip_blanks(end);
    }
    while (*at != '\n') {
      const char* const begin = at;
      Edge edge{.source = source, .target = 0};
      std::uint32_t weight = unit_weight(rules_.weights);
      if ((at = vertex(at, 1, edge.target)) == nullptr) {
        return nullptr;
      }
      if (!is_blank(*at) && *at != '\n') {
        return fault(Kind::vertex, begin, 1);
      }
      if (edge.target == source) {
        return fault(Kind::row_loop, begin);
      }
      if constexpr (column != ValueColumn::none) {
        constexpr std::size_t value_part = 2;
        if ((at = gap(at, value_part)) == nullptr || (at = value_of(at, edge, weight)) == nullptr) {
          return nullptr;
        }
      }
      block_.chunk.edges.push_back(edge);
      if (rules_.weights != WeightType::none) {
        block_.chunk.weights.push_back(weight);
      }
      at = skip_blanks(at);
    }
    return at + 1;
  }

  // Skips the blanks, or the separator, between two parts of an entry.
  const char* gap(const char* at, std::size_t next) {
    if (rules_.separator == '\0') {
      return is_blank(*at) ? skip_blanks(at + 1) : fault(Kind::gap, at, next);
    }
    const auto skip_spaces = [](const char* from) {
      while (*from == ' ') {
        ++from;
      }
      return from;
    };
    at = skip_spaces(at);
    return *at == rules_.separator ? skip_spaces(at + 1) : fault(Kind::gap, skip_blanks(at), next);
  }

  [[gnu::always_inline]] const char* vertex(const char* at, std::size_t part, Vertex& vertex) {
    if (!is_digit(*at)) {
      return fault(Kind::vertex, at, part);
    }
    std::uint64_t number = 0;
    const char* const end = take_digits(at, number);
    if (number < rules_.first_vertex || number > rules_.last_vertex || end - at > most_digits) {
      return fault(Kind::vertex_range, at, part);
    }
    vertex = static_cast<Vertex>(number - rules_.first_vertex);
    return end;
  }

  const char* value_of(const char* at, const Edge& edge, std::uint32_t& weight) {
    Value value{};
    const char* const end = read_value(at, value);
    if (end == nullptr) {
      return nullptr;
    }
    least_ = std::min(least_, value);
    greatest_ = std::max(greatest_, value);
    block_.values.negative += value < 0 ? 1U : 0U;
    if (rules_.weights == WeightType::none) {
      return end;
    }
    fault_.edge = edge;
    if (value < 0 || (rules_.skew && value != 0)) {
      return fault(value < 0 ? Kind::negative : Kind::opposite_negative, at);
    }
    if (rules_.weights == WeightType::f32) {
      const auto narrow = static_cast<float>(value);        // rounds to nearest
      weight = std::bit_cast<std::uint32_t>(narrow + 0.0F); // turns -0 into 0
      return std::isfinite(narrow) ? end : fault(Kind::beyond_f32, at);
    }
    if constexpr (column == ValueColumn::real) {
      if (value != std::trunc(value)) {
        return fault(Kind::not_whole, at);
      }
    }
    if (value > static_cast<Value>(std::numeric_limits<std::uint32_t>::max())) {
      return fault(Kind::beyond_u32, at);
    }
    weight = static_cast<std::uint32_t>(value);
    return end;
  }

  const char* read_value(const char* at, std::int64_t& value) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const bool negative = *at == '-';
    const char* const digits = at + (negative || *at == '+' ? 1 : 0);
    std::uint64_t magnitude = 0;
    const char* const end = is_digit(*digits) ? take_digits(digits, magnitude) : digits;
    if (end == digits || (!is_blank(*end) && *end != '\n')) {
      double real = 0;
      return fault(rules_.by_first && read_value(at, real) != nullptr ? Kind::not_as_first : Kind::integer,
                   at);
    }
    value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
    if (end - digits > most_digits || magnitude > most + (negative ? 1 : 0) || value < rules_.least_value ||
        value > rules_.greatest_value) {
      return fault(Kind::integer_range, at);
    }
    return end;
  }

  const char* read_value(const char* at, double& value) {
    const char* const begin = at + (*at == '+' && at[1] != '-' ? 1 : 0);
    if (const char* const end = take_short_decimal(begin, value); end != nullptr) {
      return end;
    }
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code == std::errc::invalid_argument || (!is_blank(*end) && *end != '\n')) {
      return fault(Kind::real, at);
    }
    return code == std::errc() && std::isfinite(value) ? end : fault(Kind::not_finite, at);
  }

  const char* fault(Kind kind, const char* at, std::size_t part = 0) {
    fault_.kind = kind;
    fault_.at = at;
    fault_.part = part;
    return nullptr;
  }

  std::string_view text_;
  const EntryRules& rules_;
  BlockEntries block_;
  Vertex last_vertex_ = 0;
  Value least_ = std::numeric_limits<Value>::max(), greatest_ = std::numeric_limits<Value>::lowest();
  EntryFault fault_;
};

BlockEntries scan(std::string_view text, const EntryRules& rules, std::uint64_t row) {
  switch (rules.values) {
  case ValueColumn::integer: return BlockScanner<ValueColumn::integer>(text, rules).scan(row);
  case ValueColumn::real: return BlockScanner<ValueColumn::real>(text, rules).scan(row);
  case ValueColumn::none: break;
  }
  return BlockScanner<ValueColumn::none>(text, rules).scan(row);
}

// Lines that are not comments; 0 unless they are rows.
std::uint64_t count_rows(std::string_view text, const EntryRules& rules) {
  std::uint64_t rows = 0;
  while (rules.rows && !text.empty()) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    rows += rules.comments.find(text[first]) == std::string_view::npos ? 1 : 0;
    text.remove_prefix(text.find('\n', first) + 1);
  }
  return rows;
}

// Collects the blocks that the threads have scanned, and stops the threads after an error.
class ScannedBlocks {
public:
  explicit ScannedBlocks(std::uint64_t most_entries) : most_entries_(most_entries) {}

  void add(BlockEntries block) {
    const std::lock_guard lock(mutex_);
    entries_ += block.chunk.edges.size();
    stopped_ = stopped_ || block.error || entries_ > most_entries_;
    blocks_.push_back(std::move(block));
  }

  [[nodiscard]] bool stopped() const { return stopped_; }

  // Returns the blocks in file order.
  std::vector<BlockEntries> take() {
    std::ranges::sort(blocks_, {}, &BlockEntries::index);
    return std::move(blocks_);
  }

private:
  std::mutex mutex_;
  std::vector<BlockEntries> blocks_;
  std::uint64_t entries_ = 0;
  std::uint64_t most_entries_;
  std::atomic<bool> stopped_ = false;
};

// Exact: the values of a file are all 64-bit integers or all doubles.
bool below(const Number& a, const Number& b) {
  return std::visit([](auto x, auto y) { return static_cast<long double>(x) < static_cast<long double>(y); },
                    a, b);
}

void merge(ValueRange& all, const ValueRange& more) {
  if (more.least) {
    all.least = all.least ? std::min(*all.least, *more.least, below) : more.least;
    all.greatest = all.greatest ? std::max(*all.greatest, *more.greatest, below) : more.greatest;
  }
  all.negative += more.negative;
}

// Adds what other processes have found in their parts of the file; `lines` are in the own part alone.
Result<void> add_other_parts(Entries& entries, std::uint64_t lines, const BuildOptions& options) {
  struct Found {
    std::uint64_t lines, count, vertices, real;
    ValueRange values;
  };
  static_assert(std::is_trivially_copyable_v<Found> && sizeof(Found) % sizeof(std::uint32_t) == 0);
  const Found own{.lines = lines,
                  .count = entries.count,
                  .vertices = entries.last_vertex ? std::uint64_t{*entries.last_vertex} + 1 : 0,
                  .real = entries.real ? 1U : 0U,
                  .values = entries.values};
  std::vector<std::uint32_t> words(sizeof own / sizeof(std::uint32_t));
  std::memcpy(words.data(), &own, sizeof own);
  TIDEGATE_TRY(const auto all, options.exchange->exchange(PartExchange::Parcels(options.parts, words)));
  for (std::uint32_t part = 0; part < options.parts; ++part) {
    if (part == options.part) {
      continue;
    }
    Found found{};
    std::memcpy(static_cast<void*>(&found), all[part].data(), sizeof found);
    entries.lines += found.lines;
    entries.count += found.count;
    if (found.vertices != 0) {
      entries.last_vertex =
          std::max(entries.last_vertex, std::optional(static_cast<Vertex>(found.vertices - 1)));
    }
    merge(entries.values, found.values);
    if (found.real != 0 && !entries.real) {
      entries.real = {
          .code = ErrorCode::bad_graph, .message = "a value is not an integer", .fix = "see above"};
    }
  }
  return {};
}

} // namespace

Result<Entries> read_entries(TextBlocks& blocks, std::string_view first, std::uint64_t lines_before,
                             const EntryRules& rules, const BuildOptions& options) {
  // Rows and their vertices are counted from the begin of the file.
  const bool own_part = options.parts > 1 && !rules.rows && blocks.take_part(options.part, options.parts);
  ScannedBlocks scanned(rules.most_entries);
  const auto scanned_if_taken = [&](std::string_view text, std::uint64_t row, std::uint64_t index) {
    BlockEntries block;
    if (takes_chunk(options, index)) {
      block = scan(text, rules, row);
    } else if (!own_part) {
      block.lines = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    }
    block.index = index;
    return block;
  };
  std::mutex mutex;                              // of `rows`
  std::uint64_t rows = count_rows(first, rules); // of the blocks so far
  on_threads(blocks.ended() ? 1 : thread_count(options.threads), [&](unsigned thread) {
    if (thread == 0) {
      scanned.add(scanned_if_taken(first, 0, 0));
    }
    TextBlock block;
    while (!scanned.stopped()) {
      std::unique_lock counting(mutex, std::defer_lock);
      if (rules.rows) { // a row's vertex follows from the blocks before
        counting.lock();
      }
      const auto more = blocks.next(block);
      const std::uint64_t row = rules.rows ? rows : 0;
      if (rules.rows && more && *more) {
        rows += count_rows(block.text(), rules);
        counting.unlock();
      }
      BlockEntries found{.index = block.index, .begin = block.begin}; // above 0, the index of `first`
      if (!more) {
        found.error = more.error();
        if (found.error->code == ErrorCode::bad_graph) {
          found.error->line = 1; // the line after all scanned ones
        }
      } else if (*more) {
        found = scanned_if_taken(block.text(), row, block.index);
        found.begin = block.begin;
      } else {
        return;
      }
      scanned.add(std::move(found));
    }
  });
  Entries entries{.lines = lines_before, .rows = rows};
  for (BlockEntries& block : scanned.take()) {
    if (block.error) {
      if (block.error->line) {
        if (own_part && block.index != 0) {
          TIDEGATE_TRY(entries.lines, blocks.lines_before(block.begin));
        }
        *block.error->line += entries.lines;
      }
      if (block.not_as_first) {
        entries = {.real = std::move(block.error)};
        break;
      }
      return tl::unexpected(std::move(*block.error));
    }
    entries.lines += block.lines;
    entries.count += block.chunk.edges.size();
    entries.last_vertex = std::max(entries.last_vertex, block.last_vertex);
    merge(entries.values, block.values);
    entries.chunks.push_back(std::move(block.chunk));
  }
  if (options.parts > 1) {
    TIDEGATE_CHECK(add_other_parts(entries, own_part ? entries.lines - lines_before : 0, options));
  }
  return entries;
}

} // namespace tidegate::graphs
