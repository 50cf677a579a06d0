#include <tidegate/core/try.hpp>
#include <tidegate/graphs/file_bytes.hpp>
#include <tidegate/graphs/text_blocks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace tidegate::graphs {
namespace {

void grow(TextBlock& block, std::size_t capacity) {
  if (block.capacity >= capacity) {
    return;
  }
  auto larger = std::make_unique_for_overwrite<char[]>(capacity + TextBlock::padding);
  std::copy_n(block.buffer.get(), block.size, larger.get());
  block.buffer = std::move(larger);
  block.capacity = capacity;
}

} // namespace

struct TextBlocks::State {
  State(FileBytes file, std::size_t block) : bytes(std::move(file)), block_bytes(block) {}

  FileBytes bytes;
  std::size_t block_bytes;
  std::mutex mutex;
  std::string carried; // the beginning of a line whose end the next block has
  std::uint64_t blocks = 0;
  bool ended = false; // or failed

  Result<bool> next(TextBlock& block);
};

TextBlocks::TextBlocks(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextBlocks::TextBlocks(TextBlocks&&) noexcept = default;
TextBlocks& TextBlocks::operator=(TextBlocks&&) noexcept = default;
TextBlocks::~TextBlocks() = default;

Result<TextBlocks> TextBlocks::open(const std::string& path, std::size_t block_bytes) {
  TIDEGATE_TRY(FileBytes bytes, FileBytes::open(path));
  return TextBlocks(std::make_unique<State>(std::move(bytes), block_bytes));
}

bool TextBlocks::compressed() const {
  return state_->bytes.compressed();
}

bool TextBlocks::ended() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ended;
}

Result<bool> TextBlocks::next(TextBlock& block) {
  const std::lock_guard lock(state_->mutex);
  auto more = state_->next(block);
  state_->ended = state_->ended || !more;
  return more;
}

Result<bool> TextBlocks::State::next(TextBlock& block) {
  block.size = 0;
  block.index = blocks;
  grow(block, block_bytes + 1);
  std::size_t searched = 0;
  const auto append = [&block](std::string_view text) {
    grow(block, block.size + text.size() + 1);
    std::copy(text.begin(), text.end(), block.buffer.get() + block.size);
    block.size += text.size();
  };
  append(std::exchange(carried, {}));
  while (!ended) {
    if (block.size == block.capacity - 1) { // the last byte is kept for a newline at the end of the file
      const void* const newline = ::memrchr(block.buffer.get() + searched, '\n', block.size - searched);
      if (newline != nullptr) {
        const auto kept =
            static_cast<std::size_t>(static_cast<const char*>(newline) - block.buffer.get()) + 1;
        carried.assign(block.buffer.get() + kept, block.size - kept);
        block.size = kept;
        break;
      }
      if (block.size > longest_line) {
        return tl::unexpected(Error{.code = ErrorCode::bad_graph,
                                    .message = fmt::format("a line is longer than {} bytes", longest_line),
                                    .fix = "give a text file with an edge on each line"});
      }
      searched = block.size;
      grow(block, 2 * block.capacity);
    }
    TIDEGATE_TRY(const std::size_t got,
                 bytes.read(block.buffer.get() + block.size, block.capacity - 1 - block.size));
    block.size += got;
    ended = got == 0;
  }
  if (ended && block.size != 0 && block.buffer[block.size - 1] != '\n') {
    block.buffer[block.size++] = '\n';
  }
  ++blocks;
  return block.size != 0;
}

} // namespace tidegate::graphs
