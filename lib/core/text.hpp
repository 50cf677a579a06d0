// Small text helpers shared by every message the tool writes.
#pragma once
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tidegate {

// The candidate closest to `word` by optimal string alignment distance (insertions, deletions, substitutions
// and swaps of neighbours count one each), or nothing when none is close enough to be a likely typing slip:
// at most one edit in three characters. The first of equals wins.
std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> candidates);

// "1 wave", "2 waves": any noun that takes an s.
std::string plural(std::uint64_t count, std::string_view noun);

// "a, b or c".
std::string one_of(std::span<const std::string_view> names);

// Bytes of the UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t utf8_sequence_length(std::string_view text);

// Bytes at the start of `text` that a terminal must not get as they are: a control character, a separator of
// lines, a mark that turns the direction of writing, or a byte that is no UTF-8. 0 when the first character
// is harmless or there is none.
std::size_t unprintable_length(std::string_view text);

// The text as it may go to a terminal: what unprintable_length() finds is shown as \xNN or, past ASCII,
// \uNNNN. It is applied where text leaves the tool for a person, to each piece of it (describe(Error),
// tables, labels of pictures), and nowhere else: messages and names are kept as they are.
std::string printable(std::string_view text);

// The first `most` characters, and "…" where there are more. What of the input goes into a message goes
// through here.
std::string shortened(std::string_view text, std::size_t most = 40);

// Past `most` characters with "…" in the middle: of names the ends tell them apart.
std::string shortened_middle(std::string_view text, std::size_t most);

// shortened() in double quotes.
std::string in_quotes(std::string_view text);

// Characters before `end`, counted as terminals and editors do: one per UTF-8 sequence.
std::size_t character_count(std::string_view text);

// One reference token of an RFC 6901 pointer.
std::string pointer_token(std::string_view key);

// Byte counts as people write and read them.

// 139209728 -> "132.7 MiB"; cut, not rounded, so that a count just under a budget does not look equal to it.
std::string bytes_text(std::uint64_t count);

// "131072", "64MiB", "64 MiB", "1.5GB" or "2k": a decimal number and, in any case, a unit: B; k, M, G, T, P
// or E with or without B, powers of 1000; Ki to Ei likewise, powers of 1024. A fraction must come out as a
// whole number of bytes. invalid_usage otherwise.
Result<std::uint64_t> parse_bytes(std::string_view text);

// How documents refer to things: by a whole number or by a name.

// Two words, for documents hold millions of them and mostly numbers.
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

// The number, or the name as in_quotes() shows it.
std::string describe(const Identifier& identifier);

// A number as a document states it: exact where it is an integer.

// Integers are never rounded on their way through; the std::int64_t is below 0.
using Number = std::variant<std::uint64_t, std::int64_t, double>;

// The line of a source that an error stands in, as compilers show it:
//
//     2 |   out[get_global_id(0)] = foo + n;
//       |                           ^

// The two lines above, indented, without a newline at the end; one without a column. Of a long line what is
// around the place.
std::string describe_excerpt(std::string_view excerpt, std::uint64_t line,
                             std::optional<std::uint64_t> column);

// What an error's column counts before it has its line.
enum class ColumnCounts : std::uint8_t { characters, bytes };

// The error with its line of `text`, where it has one that is text and no longer than people write them. Its
// column counts characters from then on.
Error with_excerpt(Error error, std::string_view text, ColumnCounts counts = ColumnCounts::characters);

} // namespace tidegate
