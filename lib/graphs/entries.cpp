#include <tidegate/core/text.hpp>
#include <tidegate/graphs/entries.hpp>
#include <tidegate/graphs/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <mutex>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tidegate::graphs {
namespace {

struct BlockEntries {
  std::uint64_t index = 0;
  std::uint64_t lines = 0;
  EdgeChunk chunk;
  std::optional<Vertex> last_vertex;
  ValueRange values;
  std::optional<Error> error; // with the line in the block
};

bool is_digit(char c) {
  return static_cast<unsigned char>(c - '0') <= 9;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// The entries of whole lines. Every scan ends at the newline at the latest, so none looks for the text's end.
template <ValueColumn column>
class BlockScanner {
public:
  BlockScanner(std::string_view text, const EntryRules& rules) : text_(text), rules_(rules) {}

  BlockEntries scan() {
    reserve();
    const char* const end = text_.data() + text_.size();
    for (at_ = text_.data(); at_ != end; ++block_.lines) {
      line_ = at_;
      skip_blanks();
      if (!is_digit(*at_) && skip_line_without_entry()) {
        continue;
      }
      if (!keyword() || !entry()) {
        break;
      }
    }
    if (!block_.chunk.edges.empty()) {
      block_.last_vertex = last_vertex_;
    }
    if (column != ValueColumn::none && !block_.chunk.edges.empty()) {
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

  // Room for as many entries as there are lines, by the length of the first ones.
  void reserve() {
    constexpr std::size_t looked_at = 4096;
    const std::string_view sample = text_.substr(0, looked_at);
    const auto lines = static_cast<std::size_t>(std::ranges::count(sample, '\n')) + 1;
    const std::size_t entries = text_.size() / (sample.size() / lines + 1) + lines;
    block_.chunk.edges.reserve(entries);
    block_.chunk.weights.reserve(rules_.weights == WeightType::none ? 0 : entries);
  }

  void skip_blanks() {
    while (is_blank(*at_)) {
      ++at_;
    }
  }

  bool skip_line_without_entry() {
    if (*at_ != '\n' && rules_.comments.find(*at_) == std::string_view::npos) {
      return false;
    }
    const char* const end = text_.data() + text_.size();
    at_ = static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end - at_))) + 1;
    return true;
  }

  bool keyword() {
    if (rules_.keyword == '\0') {
      return true;
    }
    if (*at_ != rules_.keyword || !is_blank(at_[1])) {
      return expected(fmt::format("\"{}\" and an entry, or a comment", rules_.keyword));
    }
    ++at_;
    skip_blanks();
    return true;
  }

  bool entry() {
    Edge edge;
    if (!vertex(rules_.ends[0], edge.source) || !gap(rules_.ends[1]) ||
        !vertex(rules_.ends[1], edge.target)) {
      return false;
    }
    if (rules_.skew && edge.source == edge.target) {
      return fail("a skew-symmetric matrix has no entries on its diagonal", "leave it out");
    }
    std::uint32_t weight = unit_weight(rules_.weights);
    if constexpr (column != ValueColumn::none) {
      if (!gap("value") || !value_of(edge, weight)) {
        return false;
      }
    }
    skip_blanks();
    if (*at_ != '\n') {
      return expected("the end of the line");
    }
    ++at_;
    last_vertex_ = std::max({last_vertex_, edge.source, edge.target});
    block_.chunk.edges.push_back(edge);
    if (rules_.weights != WeightType::none) {
      block_.chunk.weights.push_back(weight);
    }
    return true;
  }

  bool gap(std::string_view next) {
    if (!is_blank(*at_)) {
      return expected(*at_ == '\n' ? fmt::format("the {}", next) : fmt::format("a blank and the {}", next));
    }
    skip_blanks();
    return true;
  }

  // The digits at this place as a number; nothing past 19 of them.
  std::optional<std::uint64_t> digits() {
    constexpr std::ptrdiff_t most_digits = 19; // that always fit 64 bits
    const char* const begin = at_;
    std::uint64_t value = 0;
    while (is_digit(*at_)) {
      value = value * 10 + static_cast<std::uint64_t>(*at_++ - '0');
    }
    return at_ - begin <= most_digits ? std::optional(value) : std::nullopt;
  }

  bool vertex(std::string_view end, Vertex& vertex) {
    const char* const begin = at_;
    if (!is_digit(*begin)) {
      return expected(fmt::format("the {}, a whole number", end));
    }
    const auto number = digits();
    if (!number || *number < rules_.first_vertex || *number > rules_.last_vertex) {
      at_ = begin;
      return rules_.last_vertex < rules_.first_vertex
                 ? fail(fmt::format("the {} is {}, and there are no vertices", end, word()),
                        "correct it, or the size that the file states")
                 : fail(fmt::format("the {} is {}, and vertices are {} to {}", end, word(),
                                    rules_.first_vertex, rules_.last_vertex),
                        "correct it, or the size that the file states");
    }
    vertex = static_cast<Vertex>(*number - rules_.first_vertex);
    return true;
  }

  bool value_of(const Edge& edge, std::uint32_t& weight) {
    const char* const begin = at_;
    Value value{};
    if (!read_value(value)) {
      return false;
    }
    const bool first = block_.chunk.edges.empty();
    least_ = first ? value : std::min(least_, value);
    greatest_ = first ? value : std::max(greatest_, value);
    block_.values.negative += value < 0 ? 1U : 0U;
    if (rules_.weights == WeightType::none) {
      return true;
    }
    const char* const behind = std::exchange(at_, begin);
    if (value < 0 || (rules_.skew && value != 0)) {
      return fail(value < 0
                      ? fmt::format("the edge from {} to {} weighs {}, and weights are from 0 on",
                                    named(edge.source), named(edge.target), word())
                      : fmt::format("the edge from {} to {}, opposite in a skew-symmetric matrix, weighs "
                                    "-{}, and weights are from 0 on",
                                    named(edge.target), named(edge.source), word()),
                  "shift the weights, or choose an algorithm that does not look at them");
    }
    if (!to_weight(value, weight)) {
      return false;
    }
    at_ = behind;
    return true;
  }

  std::uint64_t named(Vertex v) const { return v + rules_.first_vertex; }

  bool read_value(std::int64_t& value) {
    const char* const begin = at_;
    const bool negative = *at_ == '-';
    at_ += *at_ == '-' || *at_ == '+' ? 1 : 0;
    if (!is_digit(*at_)) {
      at_ = begin;
      return expected("an integer");
    }
    const auto magnitude = digits();
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const bool fits = magnitude && *magnitude <= most + (negative ? 1 : 0);
    value = !fits ? 0 : static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
    if (!is_blank(*at_) && *at_ != '\n') {
      at_ = begin;
      return expected("an integer");
    }
    if (!fits || value < rules_.least_value || value > rules_.greatest_value) {
      at_ = begin;
      return fail(fmt::format("the value {} is not {}: {} to {}", word(), rules_.value_type,
                              rules_.least_value, rules_.greatest_value),
                  "correct it, or the type that the file states");
    }
    return true;
  }

  bool read_value(double& value) {
    const char* const begin = at_;
    at_ += *at_ == '+' ? 1 : 0;
    const auto [end, code] = std::from_chars(at_, text_.data() + text_.size(), value);
    if (code == std::errc::invalid_argument || (*begin == '+' && *at_ == '-') ||
        (!is_blank(*end) && *end != '\n')) {
      at_ = begin;
      return expected("a number");
    }
    if (code != std::errc() || !std::isfinite(value)) {
      at_ = begin;
      return fail(fmt::format("the value {} is not a finite number of 64 bits", word()), "correct it");
    }
    at_ = end;
    return true;
  }

  bool to_weight(Value value, std::uint32_t& weight) {
    if (rules_.weights == WeightType::f32) {
      const auto narrow = static_cast<float>(value);        // nearest to the 64 bits
      weight = std::bit_cast<std::uint32_t>(narrow + 0.0F); // -0 is 0
      return std::isfinite(narrow) ||
             fail(fmt::format("the weight {} does not fit 32 bits", word()), "scale the weights down");
    }
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    if constexpr (column == ValueColumn::real) {
      if (value != std::trunc(value)) {
        return fail(fmt::format("the weight {} is no whole number", word()), "take the weights as f32");
      }
    }
    if (value > static_cast<Value>(most)) {
      return fail(fmt::format("the weight {} is above {}", word(), most),
                  "scale the weights down, or take them as f32");
    }
    weight = static_cast<std::uint32_t>(value);
    return true;
  }

  // What stands here, up to a blank.
  [[nodiscard]] std::string_view word() const {
    const char* end = at_;
    while (!is_blank(*end) && *end != '\n') {
      ++end;
    }
    return {at_, static_cast<std::size_t>(end - at_)};
  }

  bool expected(const std::string& what) {
    return fail(
        fmt::format("expected {}, got {}", what, word().empty() ? "the end of the line" : in_quotes(word())),
        "give an edge on each line, as the header says");
  }

  // Notes what is wrong here; false, for what calls it.
  bool fail(std::string message, std::string fix) {
    block_.error = Error{.code = ErrorCode::bad_graph,
                         .message = std::move(message),
                         .fix = std::move(fix),
                         .line = block_.lines + 1,
                         .column = character_count({line_, static_cast<std::size_t>(at_ - line_)}) + 1};
    return false;
  }

  std::string_view text_;
  const EntryRules& rules_;
  const char* at_ = nullptr;
  const char* line_ = nullptr;
  BlockEntries block_;
  Vertex last_vertex_ = 0;
  Value least_{}, greatest_{};
};

BlockEntries scan(std::string_view text, const EntryRules& rules) {
  switch (rules.values) {
  case ValueColumn::integer: return BlockScanner<ValueColumn::integer>(text, rules).scan();
  case ValueColumn::real: return BlockScanner<ValueColumn::real>(text, rules).scan();
  case ValueColumn::none: break;
  }
  return BlockScanner<ValueColumn::none>(text, rules).scan();
}

// What the threads have found, and whether they may stop.
class Findings {
public:
  explicit Findings(std::uint64_t most_entries) : most_entries_(most_entries) {}

  void add(BlockEntries block) {
    const std::lock_guard lock(mutex_);
    entries_ += block.chunk.edges.size();
    stopped_ = stopped_ || block.error || entries_ > most_entries_;
    blocks_.push_back(std::move(block));
  }

  [[nodiscard]] bool stopped() const { return stopped_; }

  // In the order of the file.
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

// Exact, as the values of a file are all 64-bit integers or all of them doubles.
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

} // namespace

Result<Entries> read_entries(TextBlocks& blocks, std::string_view first, std::uint64_t lines_before,
                             const EntryRules& rules, unsigned threads) {
  Findings findings(rules.most_entries);
  on_threads(thread_count(threads), [&](unsigned thread) {
    if (thread == 0) {
      findings.add(scan(first, rules));
    }
    TextBlock block;
    while (!findings.stopped()) {
      const auto more = blocks.next(block);
      BlockEntries found;
      if (!more) {
        found.error = more.error();
        if (found.error->code == ErrorCode::bad_graph) {
          found.error->line = 1; // behind what was read
        }
      } else if (*more) {
        found = scan(block.text(), rules);
      } else {
        return;
      }
      found.index = block.index + 1; // behind `first`
      findings.add(std::move(found));
    }
  });
  Entries entries{.chunks = {}, .count = 0, .last_vertex = {}, .values = {}, .lines = lines_before};
  for (BlockEntries& block : findings.take()) {
    if (block.error) {
      if (block.error->line) {
        *block.error->line += entries.lines;
      }
      return tl::unexpected(std::move(*block.error));
    }
    entries.lines += block.lines;
    entries.count += block.chunk.edges.size();
    entries.last_vertex = std::max(entries.last_vertex, block.last_vertex);
    merge(entries.values, block.values);
    entries.chunks.push_back(std::move(block.chunk));
  }
  return entries;
}

} // namespace tidegate::graphs
