// UTF-8, nearest names, byte counts, durations, identifiers and excerpts of sources for messages.
#include "core/npy.hpp"

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

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0; // 0: the text is empty, or not UTF-8
};

// Decodes the first character (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int ones = text.empty() ? 1 : std::countl_one(byte(0));
  const std::size_t bytes = ones == 0 ? 1 : static_cast<std::size_t>(ones);
  if (ones == 1 || ones > 4 || bytes > text.size()) {
    return {};
  }
  char32_t code = byte(0) & (0x7fU >> static_cast<unsigned>(ones));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return {};
    }
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least[bytes] || code > 0x10ffff || surrogate ? Character{} : Character{code, bytes};
}

// Bytes of the first character; an invalid UTF-8 byte counts as a character.
std::size_t character_length(std::string_view text) {
  return std::max<std::size_t>(first_character(text).bytes, 1);
}

// True for a control character, a line separator, a bidirectional mark, what XML forbids, and invalid UTF-8.
bool is_unprintable(Character character) {
  const char32_t code = character.code;
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                     (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return character.bytes == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
         code == 0x2029 || code == 0xfffe || code == 0xffff || turns;
}

// Returns the byte offset after the first `characters` characters.
std::size_t skip(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  for (; characters > 0 && at < text.size(); --characters) {
    at += character_length(text.substr(at));
  }
  return at;
}

// Returns the only candidate that starts with the word and an underscore: op_handle for op.
std::optional<std::string_view> only_beginning(std::string_view word,
                                               std::span<const std::string_view> candidates) {
  const auto begins = [word](std::string_view candidate) {
    return !word.empty() && candidate.starts_with(word) && candidate.substr(word.size()).starts_with('_');
  };
  const auto found = std::ranges::find_if(candidates, begins);
  return found != candidates.end() && std::ranges::count_if(candidates, begins) == 1 ? std::optional(*found)
                                                                                     : std::nullopt;
}

} // namespace

std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_word = 256; // the distance takes quadratic time
  std::optional<std::string_view> best;
  if (word.size() > longest_word) {
    return best;
  }
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance =
        lower_case(word) == lower_case(candidate) ? 0 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best ? best : only_beginning(word, candidates);
}

namespace {

// Returns true if the word means this type in OpenCL C or NumPy: int and int32 mean i32.
bool means(std::string_view word, ElementType type) {
  const std::string_view ours = name(type);
  const std::string_view kind = ours[0] == 'i' ? "int" : ours[0] == 'u' ? "uint" : "float";
  return word == ours || element_type_of(word) == type || word == fmt::format("{}{}", kind, ours.substr(1));
}

// Returns the scalar type of a vector type: float for float4, f32 for f32x4.
std::string_view scalar_of(std::string_view vector) {
  const std::string_view scalar = vector.substr(0, vector.find_last_not_of("0123456789") + 1);
  return scalar.substr(0, scalar.size() - (scalar.ends_with('x') ? 1 : 0));
}

} // namespace

std::optional<std::string_view> meant_name(std::string_view word, std::span<const std::string_view> known) {
  for (const std::string_view type : {word, scalar_of(word)}) {
    for (std::size_t i = 0; i < element_type_names.size(); ++i) {
      if (means(type, static_cast<ElementType>(i)) && std::ranges::count(known, element_type_names[i]) != 0) {
        return element_type_names[i];
      }
    }
  }
  return nearest_name(word, known);
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string one_of(std::span<const std::string_view> names) {
  return names.size() < 2
             ? fmt::format("{}", fmt::join(names, ""))
             : fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

std::size_t utf8_sequence_length(std::string_view text) {
  return first_character(text).bytes;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character first = first_character(text);
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(first.bytes, 1));
    if (!is_unprintable(first)) {
      result += bytes;
    } else if (bytes.size() > 1) {
      result += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(first.code));
    } else {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes[0]));
    }
    text.remove_prefix(bytes.size());
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  const std::size_t end = skip(text, most);
  return std::string(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

std::string shortened_middle(std::string_view text, std::size_t most) {
  const std::size_t count = character_count(text);
  if (count <= most) {
    return std::string(text);
  }
  const std::size_t head = most / 2;
  const std::size_t tail = most - head - 1;
  return std::string(text.substr(0, skip(text, head))) + "…" +
         std::string(text.substr(skip(text, count - tail)));
}

std::string in_quotes(std::string_view text) {
  return '"' + shortened(text) + '"';
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
  }
  return lines;
}

std::string pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    token += c == '~' ? "~0" : c == '/' ? "~1" : std::string_view(&c, 1);
  }
  return token;
}

namespace {

__extension__ typedef unsigned __int128 Wide; // __extension__: ISO C++ has no such type

// "" -> 1, "KiB" -> 1024, "mb" -> 10^6.
std::optional<std::uint64_t> scale_of(std::string_view unit) {
  std::string lower = lower_case(unit);
  lower.resize(lower.size() - (lower.ends_with('b') ? 1 : 0));
  const bool binary = lower.size() == 2 && lower.ends_with('i');
  const std::size_t power = std::string_view(" kmgtpe").find(lower.empty() ? ' ' : lower.front());
  if (power == std::string_view::npos || (lower.size() > 1 && !binary) || lower == " ") {
    return {};
  }
  std::uint64_t scale = 1;
  for (std::size_t i = 0; i < power; ++i) {
    scale *= binary ? 1024 : 1000;
  }
  return scale;
}

} // namespace

std::string bytes_text(std::uint64_t count) {
  constexpr std::array<std::string_view, 7> units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const auto unit = static_cast<std::size_t>(std::bit_width(count | 1U) - 1) / 10;
  const std::uint64_t scale = std::uint64_t{1} << (10 * unit);
  if (count == 1) {
    return "1 byte";
  }
  const std::uint64_t tenths = count % scale * 10 / scale; // the remainder has at most 60 bits
  return tenths == 0 ? fmt::format("{} {}", count / scale, units[unit])
                     : fmt::format("{}.{} {}", count / scale, tenths, units[unit]);
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  const auto refused = [text](std::string_view why) {
    return failure(ErrorCode::invalid_usage, fmt::format("{} {}", in_quotes(text), why),
                   "give a number of bytes such as 131072, 64MiB or 1.5GB");
  };
  const std::string_view number = text.substr(0, text.find_first_not_of("0123456789."));
  std::string_view unit = text.substr(number.size());
  unit.remove_prefix(unit.starts_with(' ') ? 1 : 0);
  const auto scale = scale_of(unit);
  const std::size_t point = std::min(number.find('.'), number.size());
  std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  if (point == 0 || number.ends_with('.') || fraction.find('.') != fraction.npos || !scale) {
    return refused("is not a number of bytes");
  }
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  const std::string digits = std::string(number.substr(0, point)).append(fraction);
  std::uint64_t count = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), count).ec != std::errc()) {
    return refused("does not fit 64 bits");
  }
  constexpr std::size_t most_digits = 38; // of 128 bits
  Wide divisor = fraction.size() > most_digits ? 0 : 1;
  for (std::size_t i = 0; i < fraction.size(); ++i) {
    divisor *= 10;
  }
  const Wide bytes = Wide{count} * *scale; // of 64 bits each
  if (divisor == 0 || bytes % divisor != 0) {
    return refused("is not a whole number of bytes");
  }
  return bytes / divisor >> 64U == 0 ? Result<std::uint64_t>(static_cast<std::uint64_t>(bytes / divisor))
                                     : refused("does not fit 64 bits");
}

namespace {

using TimeUnit = std::pair<std::string_view, double>; // a name and its nanoseconds
constexpr auto time_units = std::to_array<TimeUnit>(
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}});
constexpr double most_ns = 365 * 24 * 3600e9;

} // namespace

Result<std::uint64_t> parse_duration(std::string_view text, std::uint64_t unit_ns) {
  const auto refused = [text](std::string_view why) {
    return failure(ErrorCode::invalid_usage, fmt::format("{} {}", in_quotes(text), why),
                   "write a duration such as 10s, 2m, 1.5h or 150ms");
  };
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (unit.size() > 1 && unit.starts_with(' ')) {
    unit.remove_prefix(1);
  }
  const auto* const found = std::ranges::find(time_units, unit, &TimeUnit::first);
  if (error != std::errc() || text.starts_with('-') || !std::isfinite(number) ||
      (found == time_units.end() && !unit.empty())) {
    return refused("is not a duration");
  }
  const double ns = number * (unit.empty() ? static_cast<double>(unit_ns) : found->second);
  return ns > most_ns ? Result<std::uint64_t>(refused("is more than a year"))
                      : static_cast<std::uint64_t>(std::llround(ns));
}

std::string short_time_text(double ns) {
  constexpr std::array<std::string_view, 3> names{"us", "ms", "s"};
  constexpr double thousand = 1000;
  constexpr double rounds_up = 999.5;
  double time = ns / thousand;
  std::size_t unit = 0;
  for (; time >= rounds_up && unit + 1 < names.size(); ++unit) {
    time /= thousand;
  }
  return time < rounds_up ? fmt::format("{:.3g} {}", time, names[unit])
                          : fmt::format("{:.0f} {}", time, names[unit]);
}

std::string seconds_text(std::uint64_t ns) {
  return fmt::format("{:.3g} s", static_cast<double>(ns) / 1e9);
}

Identifier::Identifier(const Identifier& other)
    : number_(other.number_), name_(other.name_ ? std::make_unique<std::string>(*other.name_) : nullptr) {}

Identifier& Identifier::operator=(const Identifier& other) {
  *this = Identifier(other);
  return *this;
}

bool operator==(const Identifier& a, const Identifier& b) {
  if (a.name_ != nullptr && b.name_ != nullptr) {
    return *a.name_ == *b.name_;
  }
  return a.name_ == b.name_ && a.number_ == b.number_;
}

std::string describe(const Identifier& identifier) {
  return identifier.name() != nullptr ? in_quotes(*identifier.name()) : std::to_string(identifier.number());
}

namespace {

constexpr std::size_t most_before = 80; // characters before the column
constexpr std::size_t most_after = 60;
constexpr std::size_t most_excerpt_bytes = 4096;

// Replaces tabs by blanks so that the caret is at the right column.
std::string shown(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '\t', ' ');
  return printable(blanks);
}

} // namespace

std::string describe_excerpt(std::string_view excerpt, std::uint64_t line,
                             std::optional<std::uint64_t> column) {
  const std::string number = std::to_string(line);
  const std::size_t start = skip(excerpt, column ? *column - 1 : 0);
  std::string before = shown(excerpt.substr(0, start));
  if (const std::size_t length = character_count(before); length > most_before) {
    before = "…" + before.substr(skip(before, length - most_before + 1));
  }
  const std::string after =
      shortened(shown(excerpt.substr(start)), column ? most_after : most_before + most_after);
  std::string text = fmt::format("  {} | {}{}", number, before, after);
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
      return error; // a #line directive can point past the text
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

Error with_line_of(const std::vector<std::string>& files, Error error, ColumnCounts counts) {
  if (!error.source || std::ranges::find(files, *error.source) == files.end()) {
    return error;
  }
  const auto text = read_all(*error.source, std::size_t{64} << 20U);
  return text ? with_excerpt(std::move(error), *text, counts) : error;
}

} // namespace tidegate
