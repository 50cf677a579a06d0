// The first lines of a file, one by one, until its header is read; the threads take what follows.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/graphs/text_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidegate::graphs {

class HeaderLines {
public:
  explicit HeaderLines(TextBlocks& blocks) : blocks_(&blocks) {}

  // The next line without its end; nothing at the end of the file. It lasts until the next call.
  Result<std::optional<std::string_view>> next();

  // Puts the last line back.
  void back();

  // Lines read so far, which is the number of the last one.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Those lines of the present block that were not read; the blocks go on behind them.
  [[nodiscard]] std::string_view rest() const { return block_.text().substr(at_); }

private:
  TextBlocks* blocks_;
  TextBlock block_;
  std::size_t at_ = 0, last_ = 0; // the next line, and the one before it, in the block
  std::uint64_t number_ = 0;
};

// The words of a line, apart by blanks.
struct LineWords {
  std::string_view rest;

  // The next word; an empty one at the end.
  std::string_view next();
};

// Words with their place in a line, for errors.
std::uint64_t column_of(std::string_view line, std::string_view word);

} // namespace tidegate::graphs
