// Reads or inflates a file, and cuts it into blocks at the last newline.
#include "core/files.hpp"
#include "graph/entries.hpp"
#include <tidegate/core/error.hpp>

#include <unistd.h>
#include <zlib.h>

namespace tidegate::graphs {

namespace {

constexpr std::array<char, 2> gzip_magic{'\x1f', '\x8b'};
constexpr std::size_t raw_bytes = std::size_t{128} << 10U;

Error damaged(std::string_view how) {
  return {.code = ErrorCode::bad_graph,
          .message = fmt::format("the gzip data {}", how),
          .fix = "compress or download the file again; `gzip -t` tests it"};
}

} // namespace

// The bytes of a file, inflated if the file begins with the gzip magic. We do not use zlib's gzread(): it
// ignores everything after a damaged header of a later member.
class FileBytes {
public:
  // "-" is standard input. Errors: cannot_read.
  static Result<FileBytes> open(const std::string& path) {
    TIDEGATE_TRY(Descriptor file, open_input(path));
    FileBytes bytes(std::move(file), path);
    std::size_t got = 1;
    while (got != 0 && bytes.end_ < gzip_magic.size()) { // a pipe may return them one by one
      TIDEGATE_TRY(got, bytes.read_file(bytes.raw_.data() + bytes.end_, raw_bytes - bytes.end_));
      bytes.end_ += got;
    }
    if (bytes.end_ >= gzip_magic.size() &&
        std::equal(gzip_magic.begin(), gzip_magic.end(), bytes.raw_.begin())) {
      constexpr int gzip_windows = 15 + 16; // zlib's code for the gzip format
      bytes.stream_.reset(new z_stream{});
      if (::inflateInit2(bytes.stream_.get(), gzip_windows) != Z_OK) {
        throw std::bad_alloc();
      }
    }
    return bytes;
  }

  [[nodiscard]] bool compressed() const { return stream_ != nullptr; }

  // Reads between 1 and `most` bytes; 0 at the end. Errors: cannot_read; bad_graph for damaged or truncated
  // gzip data.
  Result<std::size_t> read(char* to, std::size_t most) {
    if (stream_) {
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

private:
  FileBytes(Descriptor file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), raw_(raw_bytes) {}

  Result<std::size_t> read_file(char* to, std::size_t most) {
    while (true) {
      const ssize_t got = ::read(file_.get(), to, most);
      if (got >= 0) {
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return failure(ErrorCode::cannot_read,
                       fmt::format("cannot read {}: {}", display_name(path_), system_message(errno)),
                       "name a readable file");
      }
    }
  }

  Result<void> refill() {
    if (begin_ == end_) {
      TIDEGATE_TRY(end_, read_file(raw_.data(), raw_.size()));
      begin_ = 0;
    }
    return {};
  }

  // A file may hold several members one after the other, followed by zeros.
  Result<bool> next_member() {
    while (true) {
      TIDEGATE_CHECK(refill());
      if (begin_ == end_) {
        return false;
      }
      if (raw_[begin_] != '\0') {
        ::inflateReset(stream_.get());
        between_members_ = false;
        return true;
      }
      ++begin_;
    }
  }

  Result<std::size_t> inflate(char* to, std::size_t most) {
    while (true) {
      if (between_members_) {
        TIDEGATE_TRY(const bool more, next_member());
        if (!more) {
          return 0;
        }
      }
      TIDEGATE_CHECK(refill());
      stream_->next_in = reinterpret_cast<Bytef*>(raw_.data() + begin_);
      stream_->avail_in = static_cast<uInt>(end_ - begin_);
      stream_->next_out = reinterpret_cast<Bytef*>(to);
      stream_->avail_out = static_cast<uInt>(most);
      const int code = ::inflate(stream_.get(), Z_NO_FLUSH);
      const std::size_t taken = end_ - begin_ - stream_->avail_in, given = most - stream_->avail_out;
      between_members_ = code == Z_STREAM_END;
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) { // Z_BUF_ERROR: needs more input
        return tl::unexpected(
            damaged(fmt::format("are damaged: {}", stream_->msg != nullptr ? stream_->msg : ::zError(code))));
      }
      if (taken == 0 && given == 0 && !between_members_) {
        return tl::unexpected(damaged("end early"));
      }
      begin_ += taken;
      if (given != 0) {
        return given;
      }
    }
  }

  struct EndInflate {
    void operator()(z_stream* stream) const {
      ::inflateEnd(stream);
      delete stream;
    }
  };

  Descriptor file_;
  std::string path_;
  std::vector<char> raw_;
  std::size_t begin_ = 0, end_ = 0; // the unread bytes of `raw_`
  std::unique_ptr<z_stream, EndInflate> stream_;
  bool between_members_ = false;
};

namespace {

void grow(TextBlock& block, std::size_t capacity) {
  if (block.capacity >= capacity) {
    return;
  }
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  std::copy_n(block.buffer.get(), block.size, larger.get());
  block.buffer = std::move(larger);
  block.capacity = capacity;
}

} // namespace

TextBlocks::TextBlocks(FileBytes bytes, std::size_t block_bytes)
    : bytes_(std::make_unique<FileBytes>(std::move(bytes))), block_bytes_(block_bytes) {}
TextBlocks::~TextBlocks() = default;

Result<std::unique_ptr<TextBlocks>> TextBlocks::open(const std::string& path, std::size_t block_bytes) {
  TIDEGATE_TRY(FileBytes bytes, FileBytes::open(path));
  return std::unique_ptr<TextBlocks>(new TextBlocks(std::move(bytes), block_bytes));
}

bool TextBlocks::compressed() const {
  return bytes_->compressed();
}

bool TextBlocks::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

Result<bool> TextBlocks::next(TextBlock& block) {
  const std::lock_guard lock(mutex_);
  auto more = read(block);
  ended_ = ended_ || !more;
  return more;
}

Result<bool> TextBlocks::read(TextBlock& block) {
  block.size = 0;
  block.index = blocks_;
  grow(block, std::max(block_bytes_, carried_.size()) + 1);
  std::copy(carried_.begin(), carried_.end(), block.buffer.get());
  block.size = std::exchange(carried_, {}).size();
  std::size_t searched = 0;
  while (!ended_) {
    if (block.size == block.capacity - 1) { // the last byte is reserved for a newline at the end of the file
      const void* const newline = ::memrchr(block.buffer.get() + searched, '\n', block.size - searched);
      if (newline != nullptr) {
        const auto kept =
            static_cast<std::size_t>(static_cast<const char*>(newline) - block.buffer.get()) + 1;
        carried_.assign(block.buffer.get() + kept, block.size - kept);
        block.size = kept;
        break;
      }
      if (block.size > longest_line) {
        return failure(ErrorCode::bad_graph, fmt::format("a line is longer than {} bytes", longest_line),
                       "give a text file with an edge on each line");
      }
      searched = block.size;
      grow(block, 2 * block.capacity);
    }
    TIDEGATE_TRY(const std::size_t got,
                 bytes_->read(block.buffer.get() + block.size, block.capacity - 1 - block.size));
    block.size += got;
    ended_ = got == 0;
  }
  if (ended_ && block.size != 0 && block.buffer[block.size - 1] != '\n') {
    block.buffer[block.size++] = '\n';
  }
  ++blocks_;
  return block.size != 0;
}

} // namespace tidegate::graphs
