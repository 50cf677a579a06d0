#include "core/files.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/text_blocks.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidegate::graphs {

// The bytes of a file as they are, or inflated where the file begins as gzip files do.

class FileBytes {
public:
  // "-" is standard input. cannot_read.
  static Result<FileBytes> open(const std::string& path);

  [[nodiscard]] bool compressed() const { return inflater_ != nullptr; }

  // Up to `most` bytes, of which there is at least one; none at the end. cannot_read, and bad_graph for gzip
  // data that are damaged or end early.
  Result<std::size_t> read(char* to, std::size_t most);

private:
  FileBytes(Descriptor file, std::string path);

  Result<std::size_t> read_file(char* to, std::size_t most);
  Result<void> refill();
  Result<bool> next_member();
  Result<std::size_t> inflate(char* to, std::size_t most);

  Descriptor file_;
  std::string path_;
  std::vector<char> raw_;
  std::size_t begin_ = 0, end_ = 0; // of what `raw_` holds and nobody has taken
  std::unique_ptr<Inflater> inflater_;
  bool between_members_ = false;
};

} // namespace tidegate::graphs

#if TIDEGATE_ISAL
#include <dlfcn.h>
#include <isa-l/igzip_lib.h>
#endif
#include <zlib.h>

#include <array>
#include <cstdint>
#include <new>
#include <optional>

namespace tidegate::graphs {
namespace {

class ZlibInflater final : public Inflater {
public:
  ZlibInflater() {
    constexpr int gzip_windows = 15 + 16; // zlib's way to say gzip
    if (::inflateInit2(&stream_, gzip_windows) != Z_OK) {
      throw std::bad_alloc();
    }
  }

  ~ZlibInflater() override { ::inflateEnd(&stream_); }

  void start() override { ::inflateReset(&stream_); }

  Inflated inflate(std::span<const char> from, std::span<char> to) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data())); // zlib only reads it
    stream_.avail_in = static_cast<uInt>(from.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(to.size());
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    Inflated step{.taken = from.size() - stream_.avail_in,
                  .given = to.size() - stream_.avail_out,
                  .ended = code == Z_STREAM_END};
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) { // the last one: no input, or no room
      step.problem = stream_.msg != nullptr ? stream_.msg : zError(code);
    }
    return step;
  }

private:
  z_stream stream_{};
};

#if TIDEGATE_ISAL
struct IsalFunctions {
  decltype(&::isal_inflate_init) init = nullptr;
  decltype(&::isal_inflate_reset) reset = nullptr;
  decltype(&::isal_inflate) inflate = nullptr;
};

IsalFunctions load_isal() {
  void* const library = ::dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {};
  }
  return {.init = reinterpret_cast<decltype(&::isal_inflate_init)>(::dlsym(library, "isal_inflate_init")),
          .reset = reinterpret_cast<decltype(&::isal_inflate_reset)>(::dlsym(library, "isal_inflate_reset")),
          .inflate = reinterpret_cast<decltype(&::isal_inflate)>(::dlsym(library, "isal_inflate"))};
}

std::string_view isal_problem(int code) {
  switch (code) {
  case ISAL_INVALID_BLOCK: return "invalid block type";
  case ISAL_INVALID_SYMBOL: return "invalid code";
  case ISAL_INVALID_LOOKBACK: return "invalid distance too far back";
  case ISAL_INVALID_WRAPPER: return "incorrect header check";
  case ISAL_UNSUPPORTED_METHOD: return "unknown compression method";
  case ISAL_INCORRECT_CHECKSUM: return "incorrect data check";
  default: return "data error";
  }
}

class IsalInflater final : public Inflater {
public:
  explicit IsalInflater(const IsalFunctions& isal) : isal_(isal) {
    isal_.init(&state_);
    state_.crc_flag = ISAL_GZIP; // with header and check sum
  }

  void start() override {
    isal_.reset(&state_);
    state_.crc_flag = ISAL_GZIP;
    taken_ = 0;
    by_zlib_.reset();
  }

  Inflated inflate(std::span<const char> from, std::span<char> to) override {
    // ISA-L 2.30 finds the check sum of a header wrong where the header comes in pieces: zlib has members
    // with one.
    constexpr char has_header_sum = 2;
    if (taken_ <= start_.size() && taken_ + from.size() > start_.size() &&
        (from[start_.size() - taken_] & has_header_sum) != 0) {
      by_zlib_.emplace();
      const Inflated step = by_zlib_->inflate(std::span(start_).first(taken_), to);
      if (!step.problem.empty()) {
        return step;
      }
    }
    if (by_zlib_) {
      taken_ = start_.size() + 1;
      return by_zlib_->inflate(from, to);
    }
    for (std::size_t i = taken_; i < start_.size() && i - taken_ < from.size(); ++i) {
      start_[i] = from[i - taken_];
    }
    const Inflated step = inflate_by_isal(from, to);
    taken_ += step.taken;
    return step;
  }

private:
  Inflated inflate_by_isal(std::span<const char> from, std::span<char> to) {
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(from.data())); // it only reads it
    state_.avail_in = static_cast<std::uint32_t>(from.size());
    state_.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state_.avail_out = static_cast<std::uint32_t>(to.size());
    const int code = isal_.inflate(&state_);
    return {.taken = from.size() - state_.avail_in,
            .given = to.size() - state_.avail_out,
            .ended = code >= 0 && state_.block_state == ISAL_BLOCK_FINISH,
            .problem = code < 0 || code == ISAL_NEED_DICT ? isal_problem(code) : std::string_view{}};
  }

  IsalFunctions isal_;
  inflate_state state_{};
  std::size_t taken_ = 0;       // bytes of the member
  std::array<char, 3> start_{}; // what is in front of its flags
  std::optional<ZlibInflater> by_zlib_;
};
#endif

} // namespace

std::unique_ptr<Inflater> make_zlib_inflater() {
  return std::make_unique<ZlibInflater>();
}

std::unique_ptr<Inflater> make_isal_inflater() {
#if TIDEGATE_ISAL
  static const IsalFunctions isal = load_isal();
  if (isal.init != nullptr && isal.reset != nullptr && isal.inflate != nullptr) {
    return std::make_unique<IsalInflater>(isal);
  }
#endif
  return nullptr;
}

namespace {

constexpr std::array<char, 2> gzip_magic{'\x1f', '\x8b'};
constexpr std::size_t raw_bytes = std::size_t{128} << 10U;

Error damaged(std::string_view how) {
  return {.code = ErrorCode::bad_graph,
          .message = fmt::format("the gzip data {}", how),
          .fix = "compress or download the file anew; `gzip -t` tests it"};
}

} // namespace

FileBytes::FileBytes(Descriptor file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), raw_(raw_bytes) {}

Result<FileBytes> FileBytes::open(const std::string& path) {
  TIDEGATE_TRY(Descriptor file, open_input(path));
  FileBytes bytes(std::move(file), path);
  std::size_t got = 1;
  while (got != 0 && bytes.end_ < gzip_magic.size()) { // a pipe may give them one by one
    TIDEGATE_TRY(got, bytes.read_file(bytes.raw_.data() + bytes.end_, raw_bytes - bytes.end_));
    bytes.end_ += got;
  }
  if (bytes.end_ >= gzip_magic.size() &&
      std::equal(gzip_magic.begin(), gzip_magic.end(), bytes.raw_.begin())) {
    bytes.inflater_ = make_isal_inflater();
    if (!bytes.inflater_) {
      bytes.inflater_ = make_zlib_inflater();
    }
  }
  return bytes;
}

Result<std::size_t> FileBytes::read(char* to, std::size_t most) {
  if (inflater_) {
    return inflate(to, most);
  }
  if (begin_ == end_) {
    return read_file(to, most);
  }
  const std::size_t size = std::min(most, end_ - begin_);
  std::memcpy(to, raw_.data() + begin_, size);
  begin_ += size;
  return size;
}

Result<std::size_t> FileBytes::read_file(char* to, std::size_t most) {
  while (true) {
    const ssize_t got = ::read(file_.get(), to, most);
    if (got >= 0) {
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR) {
      return tl::unexpected(
          Error{.code = ErrorCode::cannot_read,
                .message = fmt::format("cannot read {}: {}", display_name(path_), system_message(errno)),
                .fix = "name a readable file"});
    }
  }
}

Result<void> FileBytes::refill() {
  if (begin_ == end_) {
    TIDEGATE_TRY(end_, read_file(raw_.data(), raw_.size()));
    begin_ = 0;
  }
  return {};
}

// A file may hold several members, one after the other, and zeros behind them.
Result<bool> FileBytes::next_member() {
  while (true) {
    TIDEGATE_CHECK(refill());
    if (begin_ == end_) {
      return false;
    }
    if (raw_[begin_] != '\0') {
      inflater_->start();
      between_members_ = false;
      return true;
    }
    ++begin_;
  }
}

Result<std::size_t> FileBytes::inflate(char* to, std::size_t most) {
  while (true) {
    if (between_members_) {
      TIDEGATE_TRY(const bool more, next_member());
      if (!more) {
        return 0;
      }
    }
    TIDEGATE_CHECK(refill());
    const Inflated step =
        inflater_->inflate(std::span(raw_).subspan(begin_, end_ - begin_), std::span(to, most));
    if (!step.problem.empty()) {
      return tl::unexpected(damaged(fmt::format("are damaged: {}", step.problem)));
    }
    if (step.taken == 0 && step.given == 0 && !step.ended) {
      return tl::unexpected(damaged("end early"));
    }
    begin_ += step.taken;
    between_members_ = step.ended;
    if (step.given != 0) {
      return step.given;
    }
  }
}

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
