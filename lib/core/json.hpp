// JSON as text: a parsed text's values with their places, places of errors, and writing.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/describe.hpp>

namespace tidegate::documents {

// A token of a parsed text: a value, a key or a closing bracket. No more than its place, from which its text is read.
class JsonValue {
public:
  // The token's begin, in bytes. After that of an opening bracket stand the entries from it to the closing one.
  using Entry = std::uint32_t;

  JsonValue(std::string_view json, const Entry* entry) : json_(json), entry_(entry) {}

  // '{', '[', '"', 't', 'f', 'n', or the first character of a number.
  [[nodiscard]] char first() const { return json_[*entry_]; }
  [[nodiscard]] bool is_container() const { return first() == '{' || first() == '['; }

  // for (JsonValue item = list.inner(); item != list.close(); item = item.next())
  // In an object, keys and values alternate.
  [[nodiscard]] JsonValue inner() const { return {json_, entry_ + (is_container() ? 2 : 1)}; }
  [[nodiscard]] JsonValue close() const { return {json_, entry_ + entry_[1]}; }
  [[nodiscard]] JsonValue next() const { return is_container() ? close().inner() : inner(); }
  friend bool operator==(const JsonValue& a, const JsonValue& b) { return a.entry_ == b.entry_; }

  [[nodiscard]] std::size_t begin() const { return *entry_; }
  [[nodiscard]] std::size_t end() const;
  [[nodiscard]] std::string_view text() const { return json_.substr(begin(), end() - begin()); }

  // The contents of a string; `room` holds them if they have escapes.
  [[nodiscard]] std::string_view string(std::string& room) const;

private:
  std::string_view json_;
  const Entry* entry_;
};

// Returns the first member or item for which `fits(name, value)` is true; the name of an item is its index.
std::optional<JsonValue> find_inner(JsonValue value, auto fits) {
  std::string room, name;
  std::size_t index = 0;
  for (JsonValue each = value.inner(); value.is_container() && each != value.close(); each = each.next()) {
    if (value.first() == '[') {
      name = std::to_string(index++);
    } else {
      name = each.string(room);
      each = each.next();
    }
    if (fits(name, each)) {
      return each;
    }
  }
  return std::nullopt;
}

// Returns the RFC 6901 pointer of a value in `whole`; of a key it is that of the key's value. Keys are shortened.
std::string pointer_of(JsonValue whole, JsonValue value);

// Returns the value at an RFC 6901 pointer, or the innermost one around it.
JsonValue value_at(JsonValue whole, std::string_view pointer);

// Integers past 64 bits, and -0, are double.
Number number_of(std::string_view text);

// Parses with nlohmann_json, to 4 bytes for each token.
class JsonParser {
public:
  // Returns the value, which refers to this object and to `json`. Errors: empty_input, syntax_error, too_deep, input_too_large,
  // out_of_range for a number beyond the range of a double.
  Result<JsonValue> parse(std::string_view json);

private:
  std::vector<JsonValue::Entry> entries_;
};

// Removes a byte order mark, and replaces comments (from // to the end of the line) by spaces.
void remove_comments(std::string& json);

// Returns the error with the line and the column, in characters, of byte `offset`.
Error error_at(std::string_view text, std::size_t offset, Error error);

// Appends `text` as a quoted JSON string; invalid UTF-8 becomes U+FFFD, and characters that a terminal must
// not receive become \uNNNN.
void append_string(std::string& json, std::string_view text);

// Appends the shortest decimal that reads back as `value`. That of a double has a fraction or an exponent, so that it
// remains a floating-point number; null if it is not finite.
void append_number(std::string& json, const Number& value);

// The names of a choice, after the word for none of them.
std::vector<std::string_view> words_of(const Type& type);

// A document may have more than JSON: a byte order mark, comments, and parameters.
//
//   {"parameters": {"n": 1024, "bytes": {"parameter": "n * 4"}},    // this is a comment
//    "buffers": {"a": {"type": "f32", "count": {"parameter": "n"}}}, …}

// Computes an expression: numbers and names of `known` with + - * / and brackets. Whole numbers stay whole, as in C: 7 / 2 is
// 3. Errors: invalid_program for expressions, out_of_range for values beyond 64 bits.
Result<Number> evaluate(std::string_view expression, std::span<const Parameter> known);

bool is_parameter_name(std::string_view text);

// "its parameters are n, m"
std::string parameters_text(std::span<const Parameter> known);

} // namespace tidegate::documents
