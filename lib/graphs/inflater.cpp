#include <tidegate/graphs/inflater.hpp>

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

} // namespace tidegate::graphs
