// JSON as text: where a token stands, what makes a text no JSON, and how pieces of text are escaped.
#pragma once
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate::documents {

struct Position {
  std::uint64_t line = 1;   // 1-based
  std::uint64_t column = 1; // 1-based, in characters
};

// The line and column of byte `offset`.
Position position_of(std::string_view text, std::size_t offset);

// The start of the next token at or after `offset`: past white space, commas and colons.
std::size_t token_start(std::string_view json, std::size_t offset);

// Appends `text` as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD, and what no
// terminal should get is written as \uNNNN.
void append_string(std::string& json, std::string_view text);

// Appends the shortest decimal that reads back as `value`, with a fraction or an exponent so that it stays a
// floating-point number; null when it is not finite.
void append_number(std::string& json, double value);

// What keeps `json` from being one JSON value: empty_input, syntax_error, too_deep or out_of_range for a
// number past the range of a double. Nothing when it is one.
std::optional<Error> syntax_error(std::string_view json);

// input_too_large.
Error too_large();

// Where in a text the values stand that errors point to.

// Gives the errors that point into the document `json` (RFC 6901) the line and column of the value, or of
// what it would be in when it is left out, and puts them into the order of the document. Errors that have a
// line already keep it; those without a place, and those in other files, come last.
void locate(Error& error, std::string_view json);

// `error`, located.
inline Error located(Error error, std::string_view json) {
  locate(error, json);
  return error;
}

} // namespace tidegate::documents
