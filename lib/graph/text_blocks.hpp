// Reads a text file, plain or gzip, as blocks of whole lines that threads take in turn.
//
// The thread that requests the next block reads and inflates it under a lock while the others process theirs.
// So any file is read in parallel, seekable or not, and is never in memory as a whole.
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
  static constexpr std::size_t padding = 8; // readable bytes after the text

  std::uint64_t index = 0; // in file order
  std::size_t size = 0;
  std::size_t capacity = 0; // without the padding
  std::unique_ptr<char[]> buffer;

  // Whole lines, the last one always with a newline. Empty at the end of the file.
  [[nodiscard]] std::string_view text() const { return {buffer.get(), size}; }
};

class TextBlocks {
public:
  static constexpr std::size_t usual_block_bytes = std::size_t{1} << 20U;
  static constexpr std::size_t longest_line = std::size_t{1} << 20U;

  // "-" is standard input. Errors: cannot_read.
  static Result<TextBlocks> open(const std::string& path, std::size_t block_bytes = usual_block_bytes);

  TextBlocks(TextBlocks&&) noexcept;
  TextBlocks& operator=(TextBlocks&&) noexcept;
  ~TextBlocks();

  [[nodiscard]] bool compressed() const;

  // Returns true once the whole file has been handed out.
  [[nodiscard]] bool ended() const;

  // Reads the next lines into `block`; false at the end of the file. Thread-safe. Errors: cannot_read;
  // bad_graph for damaged gzip data and for a line that is too long.
  Result<bool> next(TextBlock& block);

private:
  struct State;
  explicit TextBlocks(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace tidegate::graphs
