// Encoding of described structs as JSON: fixed key order, exact integers, shortest floats. The same object
// gives the same bytes.
#pragma once
#include <tidegate/core/describe.hpp>

#include <cstdint>
#include <string>

namespace tidegate::documents {

enum class Style : std::uint8_t {
  compact, // one line
  pretty,  // indented by two spaces, lists of scalars on one line
  brief,   // for people to edit: without what is left at its default, and one line for what fits it
  table,   // for people: a row for each value, with its name
};

// Appends the document without a trailing newline; a table has one.
void encode(const Document& document, const void* object, Style style, std::string& json);

// Appends a record that is no document of its own.
void encode(const Record& record, const void* object, Style style, std::string& json);

// The default of a field as compact JSON: what the member holds in a default-constructed struct.
std::string default_json(const Record& record, const Field& field);

template <class T>
std::string encode(const T& object, Style style = Style::pretty) {
  std::string json;
  encode(DocumentOf<T>::document, &object, style, json);
  return json;
}

} // namespace tidegate::documents
