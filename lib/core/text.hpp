// Text helpers for messages.
#pragma once
#include <tidegate/core/error.hpp>

#include <charconv>
#include <chrono>
#include <memory>
#include <span>
#include <variant>

namespace tidegate {

// Returns the candidate closest to `word` by optimal string alignment distance, the first among equals, if it needs at
// most one edit for each three characters of `word` (at least one). Otherwise returns the only candidate that starts
// with `word` and "_". Returns nothing for words beyond 256 characters.
std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> candidates);

// Finds the name that `word` most likely means: "i32" for OpenCL C's "int" and NumPy's "int32" if `known` has
// it, otherwise the result of nearest_name().
std::optional<std::string_view> meant_name(std::string_view word, std::span<const std::string_view> known);

// "1 wave", "2 waves": for nouns whose plural adds an s.
std::string plural(std::uint64_t count, std::string_view noun);

// Returns "a, b or c".
std::string one_of(std::span<const std::string_view> names);

// Returns the bytes of the UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_sequence_length(std::string_view text);

// Escapes what a terminal or XML must not receive (control characters, line separators, bidirectional marks, invalid UTF-8) as
// \xNN or, beyond ASCII, \uNNNN. Applied only to text that leaves the tool for a person (describe(Error), tables,
// labels of pictures); messages and names stay unescaped.
std::string printable(std::string_view text);

// Returns the first `most` characters, with "…" if there are more. Every piece of input in a message is
// shortened with this.
std::string shortened(std::string_view text, std::size_t most = 40);

// Replaces the middle by "…" beyond `most` characters, because the ends distinguish names.
std::string shortened_middle(std::string_view text, std::size_t most);

// shortened() in double quotes.
std::string in_quotes(std::string_view text);

// Counts characters as terminals and editors do: one per UTF-8 sequence.
std::size_t character_count(std::string_view text);

// Returns the text with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

// Returns the lines of the text without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

// Parses all of the text as a number.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Escapes a key as one reference token of an RFC 6901 pointer.
std::string pointer_token(std::string_view key);

// Formats a byte count: 139209728 -> "132.7 MiB". Truncates instead of rounding, so that a count just below a
// budget does not look equal to it.
std::string bytes_text(std::uint64_t count);

// Parses "131072", "64MiB", "64 MiB", "1.5GB" or "2k": a decimal number and a unit in any case: B; k, M, G,
// T, P or E with or without B are powers of 1000, Ki to Ei powers of 1024. The result must be a whole number
// of bytes. Errors: invalid_usage.
Result<std::uint64_t> parse_bytes(std::string_view text);

// Parses "10s", "2m", "1.5 h", "150ms" or a plain number of `unit_ns` into nanoseconds. Errors:
// invalid_usage, also for more than a year.
Result<std::uint64_t> parse_duration(std::string_view text, std::uint64_t unit_ns);

// Formats with three digits: "155 us", "2.26 ms", "12.3 s".
std::string short_time_text(double ns);

std::string seconds_text(std::uint64_t ns);

inline std::uint64_t elapsed_ns(std::chrono::steady_clock::time_point from,
                                std::chrono::steady_clock::time_point to = std::chrono::steady_clock::now()) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count());
}

// Returns the text without the byte order mark that some editors begin UTF-8 files with.
constexpr std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

// A reference in a document: a whole number or a name. Two words in size, because documents contain millions,
// mostly numbers.
class Identifier {
public:
  Identifier() = default;
  explicit Identifier(std::uint64_t number) : number_(number) {}
  explicit Identifier(std::string_view name) : name_(std::make_unique<std::string>(name)) {}
  Identifier(const Identifier& other);
  Identifier& operator=(const Identifier& other);
  Identifier(Identifier&&) noexcept = default;
  Identifier& operator=(Identifier&&) noexcept = default;
  ~Identifier() = default;

  [[nodiscard]] std::uint64_t number() const { return number_; }        // 0 for a name
  [[nodiscard]] const std::string* name() const { return name_.get(); } // nullptr for a number

  friend bool operator==(const Identifier& a, const Identifier& b);

private:
  std::uint64_t number_ = 0;
  std::unique_ptr<std::string> name_;
};

std::string describe(const Identifier& identifier);

// A number as a document states it. Integers are never rounded; std::int64_t holds negative ones only.
using Number = std::variant<std::uint64_t, std::int64_t, double>;

// The source line of an error, as compilers print it:
//
//     2 |   out[get_global_id(0)] = foo + n;
//       |                           ^

// Formats the two lines above, indented, without a trailing newline; one line if there is no column. Shortens
// a long line to the surroundings of the column.
std::string describe_excerpt(std::string_view excerpt, std::uint64_t line,
                             std::optional<std::uint64_t> column);

// The unit of an error's column before its line is added.
enum class ColumnCounts : std::uint8_t { characters, bytes };

// Adds the line from `text` to an error with a line number, unless the line is binary or too long. Afterwards
// the column counts characters.
Error with_excerpt(Error error, std::string_view text, ColumnCounts counts = ColumnCounts::characters);

// Adds an excerpt of the error's line, if its file is one of `files`.
Error with_line_of(const std::vector<std::string>& files, Error error,
                   ColumnCounts counts = ColumnCounts::characters);

} // namespace tidegate
