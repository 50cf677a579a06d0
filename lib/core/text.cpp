#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace tidegate {
namespace {

// Optimal string alignment distance with three rolling rows.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

} // namespace

std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_word = 256; // longer ones are no typing slips, and the distance is quadratic
  std::optional<std::string_view> best;
  if (word.size() > longest_word) {
    return best;
  }
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string one_of(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " or " : ", ";
    }
    text += names[i];
  }
  return text;
}

std::size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty() || byte(0) < 0x80) {
    return text.empty() ? 0 : 1;
  }
  const std::size_t length = byte(0) < 0xc2   ? 0
                             : byte(0) < 0xe0 ? 2
                             : byte(0) < 0xf0 ? 3
                             : byte(0) < 0xf5 ? 4
                                              : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  // Overlong forms, surrogates, and what lies past U+10FFFF (RFC 3629).
  const bool refused = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f) ||
                       (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return refused ? 0 : length;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string result;
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == most) {
      return result + "…";
    }
    const std::size_t length = utf8_sequence_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool control = first < 0x20 || first == 0x7f || (length == 2 && first == 0xc2 && text[1] < '\xa0');
    if (length == 0 || control) {
      for (const char byte : text.substr(0, std::max<std::size_t>(length, 1))) {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t most = 40;
  return printable(text, most);
}

std::string shortened_middle(std::string_view text, std::size_t most) {
  const std::string shown = printable(text);
  const std::size_t count = character_count(shown);
  if (count <= most) {
    return shown;
  }
  const auto skip = [&shown](std::size_t characters) {
    std::size_t at = 0;
    for (; characters > 0; --characters) {
      at += std::max<std::size_t>(utf8_sequence_length(std::string_view(shown).substr(at)), 1);
    }
    return at;
  };
  const std::size_t head = most / 2;
  const std::size_t tail = most - head - 1;
  return shown.substr(0, skip(head)) + "…" + shown.substr(skip(count - tail));
}

std::string in_quotes(std::string_view text) {
  return '"' + shortened(text) + '"';
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

} // namespace tidegate
