#include <tidegate/core/bytes.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <optional>

namespace tidegate {
namespace {

__extension__ typedef unsigned __int128 Wide; // __extension__: ISO C++ has no such type

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "" -> 1, "KiB" -> 1024, "mb" -> 10^6.
std::optional<std::uint64_t> scale_of(std::string_view unit) {
  std::string lower;
  for (const char c : unit) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (lower.ends_with('b')) {
    lower.pop_back();
  }
  if (lower.empty()) {
    return 1;
  }
  const std::size_t power = std::string_view("kmgtpe").find(lower.front());
  const std::string_view rest = std::string_view(lower).substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "i")) {
    return {};
  }
  const std::uint64_t base = rest.empty() ? 1000 : 1024;
  std::uint64_t scale = base;
  for (std::size_t i = 0; i < power; ++i) {
    scale *= base;
  }
  return scale;
}

// The digits as a number, or nothing when they pass 64 bits.
std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number) ||
        __builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number)) {
      return {};
    }
  }
  return number;
}

Error refusal(std::string_view text, std::string_view why) {
  return {.code = ErrorCode::invalid_usage,
          .message = fmt::format("{} {}", in_quotes(text), why),
          .fix = "give a number of bytes such as 131072, 64MiB or 1.5GB"};
}

} // namespace

std::string bytes_text(std::uint64_t count) {
  constexpr std::array<std::string_view, 7> units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  std::uint64_t scale = 1;
  while (count / scale >= 1024 && unit + 1 < units.size()) {
    scale *= 1024;
    ++unit;
  }
  if (count == 1) {
    return "1 byte";
  }
  const std::uint64_t tenths = count % scale * 10 / scale; // the remainder has at most 60 bits
  return tenths == 0 ? fmt::format("{} {}", count / scale, units[unit])
                     : fmt::format("{}.{} {}", count / scale, tenths, units[unit]);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  const std::string_view whole = text.substr(0, end);
  std::string_view rest = text.substr(end);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    end = 1;
    while (end < rest.size() && is_digit(rest[end])) {
      ++end;
    }
    fraction = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    if (fraction.empty()) {
      return tl::unexpected(refusal(text, "is no number of bytes"));
    }
  }
  if (rest.starts_with(' ')) {
    rest.remove_prefix(1);
  }
  const auto scale = scale_of(rest);
  if (whole.empty() || !scale) {
    return tl::unexpected(refusal(text, "is no number of bytes"));
  }
  std::uint64_t count = 0;
  const auto number = number_of(whole);
  if (!number || __builtin_mul_overflow(*number, *scale, &count)) {
    return tl::unexpected(refusal(text, "does not fit 64 bits"));
  }
  while (fraction.ends_with('0')) {
    fraction.remove_suffix(1);
  }
  constexpr std::size_t most_digits = 18; // below 2^60, as is every unit: their product fits 128 bits
  if (fraction.size() > most_digits) {
    return tl::unexpected(refusal(text, "is no whole number of bytes"));
  }
  std::uint64_t divisor = 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) {
    divisor *= 10;
  }
  const Wide product = Wide{number_of(fraction).value_or(0)} * *scale;
  if (product % divisor != 0) {
    return tl::unexpected(refusal(text, "is no whole number of bytes"));
  }
  if (__builtin_add_overflow(count, static_cast<std::uint64_t>(product / divisor), &count)) {
    return tl::unexpected(refusal(text, "does not fit 64 bits"));
  }
  return count;
}

} // namespace tidegate
