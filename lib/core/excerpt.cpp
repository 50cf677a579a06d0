#include <tidegate/core/excerpt.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate {
namespace {

constexpr std::size_t most_before = 80; // characters in front of the place
constexpr std::size_t most_behind = 60;
constexpr std::size_t most_excerpt_bytes = 4096;

// A tab is as wide as the blank that stands for it, so that the caret stands where it should.
std::string shown(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '\t', ' ');
  return printable(blanks);
}

// Bytes of the first `count` characters.
std::size_t bytes_of(std::string_view text, std::uint64_t count) {
  std::size_t bytes = 0;
  for (; count != 0 && bytes < text.size(); --count) {
    bytes += std::max<std::size_t>(utf8_sequence_length(text.substr(bytes)), 1);
  }
  return bytes;
}

} // namespace

std::string describe_excerpt(std::string_view excerpt, std::uint64_t line,
                             std::optional<std::uint64_t> column) {
  const std::string number = std::to_string(line);
  const std::size_t place = bytes_of(excerpt, column ? *column - 1 : 0);
  std::string before = shown(excerpt.substr(0, place));
  if (const std::size_t length = character_count(before); length > most_before) {
    before = "…" + before.substr(bytes_of(before, length - most_before + 1));
  }
  const std::string behind =
      shortened(shown(excerpt.substr(place)), column ? most_behind : most_before + most_behind);
  std::string text = fmt::format("  {} | {}{}", number, before, behind);
  text.erase(text.find_last_not_of(' ') + 1);
  if (column) {
    text += fmt::format("\n  {:{}} | {:{}}^", "", number.size(), "", character_count(before));
  }
  return text;
}

Error with_excerpt(Error error, std::string_view text, ColumnCounts counts) {
  if (!error.line) {
    return error;
  }
  for (std::uint64_t line = 1; line < *error.line; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return error; // beyond the text: a #line directive says so
    }
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  text = text.substr(0, text.find_last_not_of('\r') + 1);
  if (error.column && counts == ColumnCounts::bytes) {
    const std::uint64_t before = std::max<std::uint64_t>(*error.column, 1) - 1;
    error.column = character_count(text.substr(0, before)) + 1;
  }
  if (text.size() <= most_excerpt_bytes && text.find('\0') == std::string_view::npos) {
    error.excerpt = text;
  }
  return error;
}

} // namespace tidegate
