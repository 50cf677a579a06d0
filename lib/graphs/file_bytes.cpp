#include <tidegate/core/try.hpp>
#include <tidegate/graphs/file_bytes.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace tidegate::graphs {
namespace {

constexpr std::array<char, 2> gzip_magic{'\x1f', '\x8b'};
constexpr std::size_t raw_bytes = std::size_t{128} << 10U;

Error damaged(std::string_view how) {
  return {.code = ErrorCode::bad_graph,
          .message = fmt::format("the gzip data {}", how),
          .fix = "compress or download the file anew; `gzip -t` tests it"};
}

} // namespace

void FileBytes::EndInflation::operator()(z_stream_s* stream) const {
  ::inflateEnd(stream);
  delete stream;
}

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
    bytes.start_member();
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

void FileBytes::start_member() {
  if (inflater_) {
    ::inflateReset(inflater_.get());
    return;
  }
  constexpr int gzip_windows = 15 + 16; // zlib's way to say gzip
  auto stream = std::make_unique<z_stream>();
  if (::inflateInit2(stream.get(), gzip_windows) != Z_OK) {
    throw std::bad_alloc();
  }
  inflater_.reset(stream.release());
}

// A file may hold several members, one after the other, and zeros behind them.
Result<bool> FileBytes::next_member() {
  while (true) {
    TIDEGATE_CHECK(refill());
    if (begin_ == end_) {
      return false;
    }
    if (raw_[begin_] != '\0') {
      start_member();
      between_members_ = false;
      return true;
    }
    ++begin_;
  }
}

Result<std::size_t> FileBytes::inflate(char* to, std::size_t most) {
  z_stream& stream = *inflater_;
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(most);
  while (stream.avail_out == most) {
    if (between_members_) {
      TIDEGATE_TRY(const bool more, next_member());
      if (!more) {
        return 0;
      }
    }
    TIDEGATE_CHECK(refill());
    if (begin_ == end_) {
      return tl::unexpected(damaged("end early"));
    }
    stream.next_in = reinterpret_cast<Bytef*>(raw_.data() + begin_);
    stream.avail_in = static_cast<uInt>(end_ - begin_);
    const int code = ::inflate(&stream, Z_NO_FLUSH);
    begin_ = end_ - stream.avail_in;
    between_members_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END) {
      return tl::unexpected(
          damaged(fmt::format("are damaged: {}", stream.msg != nullptr ? stream.msg : zError(code))));
    }
  }
  return most - stream.avail_out;
}

} // namespace tidegate::graphs
