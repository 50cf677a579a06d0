// Small text helpers shared by every message the tool writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

} // namespace tidegate
