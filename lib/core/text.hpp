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

// The text as it may go to a terminal and into JSON: control characters and bytes that are no UTF-8 shown as
// \xNN, and "…" after `most` characters.
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

// The first 40 characters of printable(). What of the input goes into a message goes through here.
std::string shortened(std::string_view text);

// printable(), and past `most` characters with "…" in the middle: of names the ends tell them apart.
std::string shortened_middle(std::string_view text, std::size_t most);

// shortened() in double quotes.
std::string in_quotes(std::string_view text);

// Characters before `end`, counted as terminals and editors do: one per UTF-8 sequence.
std::size_t character_count(std::string_view text);

// One reference token of an RFC 6901 pointer.
std::string pointer_token(std::string_view key);

} // namespace tidegate
