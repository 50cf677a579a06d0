#include <tidegate/core/text.hpp>
#include <tidegate/core/try.hpp>
#include <tidegate/graphs/header_lines.hpp>

#include <algorithm>

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
  line = line.substr(0, line.find('\n')); // each line of a block has one
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

} // namespace tidegate::graphs
