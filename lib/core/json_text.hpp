// JSON as text: positions of tokens, escaping.
#pragma once
#include <tidegate/core/error.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// Writes JSON value by value; commas and, if `broken`, lines and indentation come by themselves.
//
//   writer.open('{'); writer.member("name", name); writer.key("sizes"); writer.open('['); writer.value(3); …
class JsonWriter {
public:
  explicit JsonWriter(std::string& json, bool spaced = false)
      : json_(json), spaced_(spaced), broken_(spaced) {}

  void open(char bracket) { // '{' or '['
    begin_value();
    open_bracket(bracket);
  }
  void close(char bracket);
  void key(std::string_view name); // of the next value; in quotes as it is

  void value(std::string_view text) {
    begin_value();
    append_string(json_, text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth) { verbatim(truth ? "true" : "false"); }
  void value(double number) {
    begin_value();
    append_number(json_, number);
  }
  template <std::integral T>
  void value(T number) {
    begin_value();
    std::array<char, 24> text;
    json_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
  }
  void verbatim(std::string_view json) { // a value that is JSON
    begin_value();
    json_ += json;
  }
  template <class T>
  void member(std::string_view name, const T& given) {
    key(name);
    value(given);
  }

protected:
  void open_bracket(char bracket) {
    json_ += bracket;
    ++depth_;
    first_ = true;
  }
  void begin_value() { // a value in a list is separated from the one before
    if (!std::exchange(after_key_, false) && depth_ != 0) {
      separate();
    }
  }
  void separate();

  std::string& json_;
  const bool spaced_;
  bool broken_; // into lines
  std::size_t depth_ = 0;
  bool first_ = true; // the innermost open bracket is still empty
  bool after_key_ = false;
};

// Returns input_too_large for a document over document_bytes_limit.
Error too_large();

// Adds line and column to errors that point into the document `json` (RFC 6901), those of the enclosing value
// if the value is missing, and sorts the errors in document order. Errors that have a line keep it; errors
// without a location and errors in other files come last.
void locate(Error& error, std::string_view json);

inline Error located(Error error, std::string_view json) {
  locate(error, json);
  return error;
}

} // namespace tidegate::documents
