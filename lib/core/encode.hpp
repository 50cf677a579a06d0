// Encodes described structs as JSON: fixed key order, exact integers, shortest floats. Equal objects yield
// equal bytes.
#pragma once
#include <tidegate/core/describe.hpp>

namespace tidegate::documents {

enum class Style : std::uint8_t {
  compact, // one line
  pretty,  // indented by two spaces, lists of scalars on one line
  brief,   // for people to edit: omits defaults, and puts on one line what fits
  table,   // for people: one row per value
};

// Appends the document without a trailing newline; a table ends with one.
void encode(const Document& document, const void* object, Style style, std::string& json);

// Appends a record without kind and version.
void encode(const Record& record, const void* object, Style style, std::string& json);

// Returns a field's default as compact JSON, taken from a default-constructed struct.
std::string default_json(const Record& record, const Field& field);

// Returns the value that the field of this object has as compact JSON.
std::string json_of(const Field& field, const void* object);

template <class T>
std::string encode(const T& object, Style style = Style::pretty) {
  std::string json;
  encode(DocumentOf<T>::document, &object, style, json);
  return json;
}

} // namespace tidegate::documents
