// JSON as text: positions of tokens, syntax errors, escaping.
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

// Returns the line and column of byte `offset`.
Position position_of(std::string_view text, std::size_t offset);

// Returns the start of the next token at or after `offset`, past white space, commas and colons.
std::size_t token_start(std::string_view json, std::size_t offset);

// Appends `text` as a quoted JSON string; invalid UTF-8 becomes U+FFFD, and characters that a terminal must
// not receive become \uNNNN.
void append_string(std::string& json, std::string_view text);

// Appends the shortest decimal that reads back as `value`, with a fraction or an exponent so that it remains
// a floating-point number; null if it is not finite.
void append_number(std::string& json, double value);

// Returns the reason that `json` is not a single JSON value: empty_input, syntax_error, too_deep, or
// out_of_range for a number beyond the range of a double. Nothing if it is valid.
std::optional<Error> syntax_error(std::string_view json);

// Returns input_too_large for a document over document_bytes_limit.
Error too_large();

// Adds line and column to errors that point into the document `json` (RFC 6901), those of the enclosing value
// if the value is missing, and sorts the errors in document order. Errors that have a line keep it; errors
// without a place and errors in other files come last.
void locate(Error& error, std::string_view json);

inline Error located(Error error, std::string_view json) {
  locate(error, json);
  return error;
}

} // namespace tidegate::documents
