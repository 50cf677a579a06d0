#include <tidegate/core/try.hpp>
#include <tidegate/graphs/file_bytes.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
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

} // namespace tidegate::graphs
