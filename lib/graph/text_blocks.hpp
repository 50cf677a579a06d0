// A text file, plain or gzip, as blocks of whole lines that threads take in turn.
//
// Reading and inflating happen under a lock, by whichever thread asks for the next block, while the others
// work on theirs; so a file is read in parallel whether or not one can seek in it, and never lies in memory
// as a whole.
#pragma once
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tidegate::graphs {

struct TextBlock {
  static constexpr std::size_t padding = 8; // bytes behind the text that may be looked at

  std::uint64_t index = 0; // blocks are counted in the order of the file
  std::size_t size = 0;
  std::size_t capacity = 0; // without the padding
  std::unique_ptr<char[]> buffer;

  // Whole lines: it ends with a newline, also where the file does not. Empty at the end of the file.
  [[nodiscard]] std::string_view text() const { return {buffer.get(), size}; }
};

class TextBlocks {
public:
  static constexpr std::size_t usual_block_bytes = std::size_t{1} << 20U;
  static constexpr std::size_t longest_line = std::size_t{1} << 20U;

  // "-" is standard input. cannot_read.
  static Result<TextBlocks> open(const std::string& path, std::size_t block_bytes = usual_block_bytes);

  TextBlocks(TextBlocks&&) noexcept;
  TextBlocks& operator=(TextBlocks&&) noexcept;
  ~TextBlocks();

  [[nodiscard]] bool compressed() const;

  // Whether all of the file is in the blocks that were given.
  [[nodiscard]] bool ended() const;

  // Gives the next lines; false at the end of the file. Any thread may call it. cannot_read, or bad_graph for
  // damaged gzip data and for a line that is too long.
  Result<bool> next(TextBlock& block);

private:
  struct State;
  explicit TextBlocks(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace tidegate::graphs
