// Scans blocks of entries in parallel.
#include "graph/entries.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/rows.hpp>

namespace tidegate::graphs {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool ends_word(char c) {
  return is_blank(c) || c == '\n';
}

const char* skip_blanks(const char* at) {
  while (is_blank(*at)) {
    ++at;
  }
  return at;
}

const char* skip_spaces(const char* at) {
  while (*at == ' ') {
    ++at;
  }
  return at;
}

// Returns the characters up to the next blank.
std::string_view word_at(const char* at) {
  const char* end = at;
  while (!ends_word(*end)) {
    ++end;
  }
  return {at, static_cast<std::size_t>(end - at)};
}

std::string_view name_of_separator(char separator) {
  return separator == ','    ? "a comma"
         : separator == ';'  ? "a semicolon"
         : separator == '\t' ? "a tab"
                             : "a blank";
}

struct BlockEntries {
  std::uint64_t lines = 0;
  EdgeChunk chunk;
  std::vector<std::uint64_t> ids; // of the ends of the edges, with EntryRules::compact
  Vertex least_vertex = no_vertex, last_vertex = 0;
  ValueRange values;
  std::optional<Error> error; // its line counts from the start of the block
  bool not_as_first = false;  // the error is a value that is a number, and not an integer as the first one
};

// Scans the entries of whole lines. Every line ends with a newline, so no step checks for the end of the text. Each step
// takes a position and returns the one after what it has read, or throws an Error.
template <ValueColumn column>
class BlockScanner {
public:
  BlockScanner(std::string_view text, const EntryRules& rules) : text_(text), rules_(rules) {}

  // Scans entries, or rows from that of vertex `row` on, counted from 0.
  BlockEntries scan(std::uint64_t row) {
    if (!rules_.rows) {
      reserve();
    }
    const char* const end = text_.data() + text_.size();
    try {
      for (const char* at = text_.data(); at != end; ++block_.lines) {
        line_ = at;
        at = skip_blanks(at);
        // A blank line is the row of a vertex without neighbours, if there is one.
        const bool skipped = *at == '\n' ? !rules_.rows || row >= rules_.last_vertex
                                         : rules_.comments.find(*at) != std::string_view::npos;
        at = skipped ? static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)))
             : rules_.rows ? neighbours(at, row++)
                           : entry(at);
        ++at;
      }
    } catch (Error& error) {
      block_.error = std::move(error);
    }
    if (column != ValueColumn::none && least_ <= greatest_) {
      block_.values.least = number(least_);
      block_.values.greatest = number(greatest_);
    }
    return std::move(block_);
  }

private:
  using Value = std::conditional_t<column == ValueColumn::real, double, std::int64_t>;

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
    block_.chunk.edges.reserve(rules_.compact ? 0 : entries);
    block_.ids.reserve(rules_.compact ? 2 * entries : 0);
    block_.chunk.weights.reserve(rules_.weights == WeightType::none ? 0 : entries);
  }

  // Reads a line with an edge, up to its end.
  const char* entry(const char* at) {
    if (rules_.keyword != '\0') {
      if (*at != rules_.keyword || !is_blank(at[1])) {
        expected(at, fmt::format("\"{}\" and an edge, or a comment", rules_.keyword));
      }
      at = skip_blanks(at + 1);
    }
    at = vertex(gap(vertex(at, 0), rules_.ends[1]), 1);
    if (rules_.skew && ends_[0] == ends_[1]) {
      fault(at, "a skew-symmetric matrix has no entries on its diagonal", "leave it out");
    }
    at = skip_blanks(add(at));
    if (*at != '\n') {
      expected(at, "the end of the line");
    }
    return at;
  }

  // Reads the rest of a line: the row of a vertex.
  const char* neighbours(const char* at, std::uint64_t row) {
    if (row >= rules_.last_vertex) {
      fault(at, fmt::format("a row after that of the last vertex, {}", rules_.last_vertex),
            "correct the number of vertices that the file states");
    }
    ends_[0] = row + rules_.first_vertex;
    for (std::uint64_t i = 0; i < rules_.row_numbers; ++i) {
      const std::string_view word = word_at(at);
      if (word.empty() || !std::ranges::all_of(word, is_digit)) {
        expected(at, "a weight or the size of the vertex, a whole number");
      }
      at = skip_blanks(word.data() + word.size());
    }
    while (*at != '\n') {
      const char* const begin = at;
      at = vertex(at, 1);
      if (!ends_word(*at)) {
        not_a_vertex(begin, 1);
      }
      if (ends_[0] == ends_[1]) {
        fault(begin, fmt::format("the row of vertex {} lists the vertex itself", ends_[0]),
              "leave loops out");
      }
      at = skip_blanks(add(at));
    }
    return at;
  }

  // Reads the value of an edge, if the format has them, and adds the edge.
  const char* add(const char* at) {
    std::uint32_t weight = unit_weight(rules_.weights);
    if constexpr (column != ValueColumn::none) {
      const char* const begin = gap(at, "value");
      Value value{};
      at = read_value(begin, value);
      least_ = std::min(least_, value);
      greatest_ = std::max(greatest_, value);
      weight = rules_.weights == WeightType::none ? weight : weight_of(begin, value);
    }
    if (rules_.compact) {
      block_.ids.insert(block_.ids.end(), ends_.begin(), ends_.end());
    } else {
      const Edge edge{static_cast<Vertex>(ends_[0] - rules_.first_vertex),
                      static_cast<Vertex>(ends_[1] - rules_.first_vertex)};
      block_.least_vertex = std::min({block_.least_vertex, edge.source, edge.target});
      block_.last_vertex = std::max({block_.last_vertex, edge.source, edge.target});
      block_.chunk.edges.push_back(edge);
    }
    if (rules_.weights != WeightType::none) {
      block_.chunk.weights.push_back(weight);
    }
    return at;
  }

  // Skips the blanks, or the separator, before the next part of an entry.
  const char* gap(const char* at, std::string_view next) {
    const bool blanks = rules_.separator == '\0';
    const char* const from = blanks ? at : skip_spaces(at);
    if (blanks ? is_blank(*from) : *from == rules_.separator) {
      return blanks ? skip_blanks(from + 1) : skip_spaces(from + 1);
    }
    const char* const found = blanks ? at : skip_blanks(from);
    expected(found, ends_word(*found)
                        ? fmt::format("the {}", next)
                        : fmt::format("{} and the {}", name_of_separator(rules_.separator), next));
  }

  const char* vertex(const char* at, std::size_t which) {
    const auto [end, code] = std::from_chars(at, text_.data() + text_.size(), ends_[which]);
    if (code == std::errc::invalid_argument) {
      not_a_vertex(at, which);
    }
    if (code == std::errc() && ends_[which] >= rules_.first_vertex && ends_[which] <= rules_.last_vertex) {
      return end;
    }
    constexpr std::string_view other_size = "correct it, or the size that the file states";
    const std::string is = fmt::format("the {} is {}, and ", rules_.ends[which], shortened(word_at(at)));
    if (rules_.last_vertex < rules_.first_vertex) {
      fault(at, is + "there are no vertices", other_size);
    }
    fault(at, fmt::format("{}vertices are {} to {}", is, rules_.first_vertex, rules_.last_vertex),
          rules_.compact       ? "correct it"
          : rules_.may_compact ? "correct it, or give the graph \"ids\": \"compact\", which numbers the "
                                 "vertices that occur"
                               : other_size);
  }

  // Returns the bits of a value at `at` as the weight of an edge.
  std::uint32_t weight_of(const char* at, Value value) {
    constexpr std::string_view other_weights =
        "shift the weights, or choose an algorithm that does not use them";
    const auto refuse = [&](std::string_view what, std::string_view fix) {
      fault(at, fmt::format("the weight {} {}", shortened(word_at(at)), what), fix);
    };
    if (value < 0) {
      fault(at,
            fmt::format("the edge from {} to {} has the weight {}; weights must not be negative", ends_[0],
                        ends_[1], shortened(word_at(at))),
            other_weights);
    }
    if (rules_.skew && value != 0) {
      fault(at,
            fmt::format("the edge from {} to {}, opposite in a skew-symmetric matrix, has the weight "
                        "-{}; weights must not be negative",
                        ends_[1], ends_[0], shortened(word_at(at))),
            other_weights);
    }
    if (rules_.weights == WeightType::f32) {
      // Sums of weights that are 0 or at least this keep all digits, also on devices that take smaller numbers as 0.
      constexpr float least = std::numeric_limits<float>::min();
      const auto narrow = static_cast<float>(value); // rounds to nearest
      if (value != 0 && narrow < least) {
        refuse(fmt::format("is below {}, the least of 32 bits that keeps all digits", least),
               "scale the weights up");
      }
      if (!std::isfinite(narrow)) {
        refuse("does not fit 32 bits", "scale the weights down");
      }
      return std::bit_cast<std::uint32_t>(narrow + 0.0F); // turns -0 into 0
    }
    if constexpr (column == ValueColumn::real) {
      if (value != std::trunc(value)) {
        refuse("is not a whole number", "take the weights as f32");
      }
    }
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    if (value > static_cast<Value>(most)) {
      refuse(fmt::format("is above {}", most), "scale the weights down, or take them as f32");
    }
    return static_cast<std::uint32_t>(value);
  }

  template <class Any>
  std::from_chars_result parse(const char* at, Any& value) {
    return std::from_chars(at + (*at == '+' && at[1] != '-' ? 1 : 0), text_.data() + text_.size(), value);
  }

  const char* read_value(const char* at, std::int64_t& value) {
    const auto [end, code] = parse(at, value);
    if (code == std::errc::invalid_argument || !ends_word(*end)) {
      double real = 0;
      const auto found = parse(at, real);
      block_.not_as_first = rules_.by_first && found.ec == std::errc() && ends_word(*found.ptr);
      expected(at, "an integer");
    }
    if (code != std::errc() || value < rules_.least_value || value > rules_.greatest_value) {
      fault(at,
            fmt::format("the value {} is not {}: {} to {}", shortened(word_at(at)), rules_.value_type,
                        rules_.least_value, rules_.greatest_value),
            "correct it, or the type that the file states");
    }
    return end;
  }

  const char* read_value(const char* at, double& value) {
    const auto [end, code] = parse(at, value);
    if (code == std::errc::invalid_argument || !ends_word(*end)) {
      expected(at, "a number");
    }
    if (code != std::errc() || !std::isfinite(value)) {
      fault(at, fmt::format("the value {} is not a finite number of 64 bits", shortened(word_at(at))),
            "correct it");
    }
    return end;
  }

  [[noreturn]] void not_a_vertex(const char* at, std::size_t which) {
    expected(at, fmt::format("the {}, a whole number", rules_.ends[which]));
  }

  [[noreturn]] void expected(const char* at, std::string_view what) {
    const std::string_view word = word_at(at);
    const bool commas = word.find(',') != std::string_view::npos;
    fault(at,
          fmt::format("expected {}, got {}", what, word.empty() ? "the end of the line" : in_quotes(word)),
          word.find('"') != std::string_view::npos ? "write numbers without quotes"
          : rules_.rows ? "give each vertex a line with its neighbours, as the header says"
          : commas && rules_.separator == '\0' ? "write blanks where the commas are"
          : rules_.ends == EntryRules().ends // a list of edges, without a header
              ? "give an edge on each line, with the columns of the first one"
              : "give an edge on each line, as the header says");
  }

  [[noreturn]] void fault(const char* at, std::string message, std::string_view fix) {
    throw Error{.code = ErrorCode::bad_graph,
                .message = std::move(message),
                .fix = std::string(fix),
                .line = block_.lines + 1,
                .column = character_count({line_, static_cast<std::size_t>(at - line_)}) + 1};
  }

  std::string_view text_;
  const EntryRules& rules_;
  BlockEntries block_;
  const char* line_ = nullptr;          // begin of the current one
  std::array<std::uint64_t, 2> ends_{}; // of the current edge, as the file numbers them
  Value least_ = std::numeric_limits<Value>::max(), greatest_ = std::numeric_limits<Value>::lowest();
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
}

// Numbers the vertices that occur from 0, in the order of their ids. Returns the ids.
std::vector<std::uint64_t> number_vertices(std::vector<BlockEntries>& blocks, unsigned threads) {
  std::vector<std::vector<std::uint64_t>> of_blocks(blocks.size() + 1);
  const auto sort_once = [&of_blocks](std::size_t i) {
    std::ranges::sort(of_blocks[i]);
    of_blocks[i].erase(std::unique(of_blocks[i].begin(), of_blocks[i].end()), of_blocks[i].end());
  };
  for_each_index(threads, blocks.size(), [&](std::size_t i) {
    of_blocks[i] = blocks[i].ids;
    sort_once(i);
  });
  std::vector<std::uint64_t>& ids = of_blocks.back();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ids.insert(ids.end(), of_blocks[i].begin(), of_blocks[i].end());
    of_blocks[i] = {};
  }
  sort_once(blocks.size());
  for_each_index(threads, blocks.size(), [&](std::size_t i) {
    const auto number = [&ids](std::uint64_t id) {
      return static_cast<Vertex>(std::ranges::lower_bound(ids, id) - ids.begin());
    };
    BlockEntries& block = blocks[i];
    for (std::size_t end = 0; end < block.ids.size(); end += 2) {
      block.chunk.edges.push_back({number(block.ids[end]), number(block.ids[end + 1])});
    }
    block.ids = {};
  });
  return std::move(ids);
}

} // namespace

Result<Entries> read_entries(std::string_view text, std::uint64_t lines_before, const EntryRules& rules,
                             unsigned threads, std::size_t block_bytes) {
  std::vector<std::string_view> blocks; // of whole lines
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(end)) {
    end = std::min(text.find('\n', std::min(block_bytes, text.size()) - 1), text.size() - 1) + 1;
    blocks.push_back(text.substr(0, end));
  }
  std::vector<std::uint64_t> rows(blocks.size() + 1); // before each block, and in all
  for_each_index(threads, blocks.size(), [&](std::size_t i) { rows[i] = count_rows(blocks[i], rules); });
  std::exclusive_scan(rows.begin(), rows.end(), rows.begin(), std::uint64_t{0});
  // Blocks after a faulty one are not begun; those before it are, so the first fault of the file is reported.
  std::vector<BlockEntries> scanned(blocks.size());
  std::atomic<std::uint64_t> count = 0;
  std::atomic<std::size_t> last = blocks.size(); // to scan
  for_each_index(threads, blocks.size(), [&](std::size_t i) {
    if (i <= last) {
      scanned[i] = scan(blocks[i], rules, rows[i]);
      count += std::max(scanned[i].chunk.edges.size(), scanned[i].ids.size() / 2);
      const bool stops = scanned[i].error.has_value() || count > rules.most_entries;
      for (std::size_t seen = last; stops && i < seen && !last.compare_exchange_weak(seen, i);) {
      }
    }
  });
  Entries entries{.lines = lines_before, .rows = rows.back()};
  for (BlockEntries& block : scanned) {
    if (block.error) {
      *block.error->line += entries.lines;
      entries.not_as_first = block.not_as_first;
      return block.not_as_first ? Result<Entries>(std::move(entries))
                                : tl::unexpected(std::move(*block.error));
    }
    entries.lines += block.lines;
  }
  if (rules.compact) {
    entries.ids = number_vertices(scanned, threads);
    if (!entries.ids.empty()) {
      entries.last_vertex = static_cast<Vertex>(std::min(entries.ids.size(), most_vertices) - 1);
    }
  }
  for (BlockEntries& block : scanned) {
    entries.count += block.chunk.edges.size();
    if (!rules.compact && !block.chunk.edges.empty()) {
      entries.least_vertex = std::min(entries.least_vertex.value_or(no_vertex), block.least_vertex);
      entries.last_vertex = std::max(entries.last_vertex.value_or(0), block.last_vertex);
    }
    merge(entries.values, block.values);
    entries.chunks.push_back(std::move(block.chunk));
  }
  return entries;
}

} // namespace tidegate::graphs
