// The document types that tidegate reads and writes, and the recognition of a text's type.
#pragma once
#include "core/json.hpp"

namespace tidegate::app {

// A type and the command that accepts it; the command is empty if only `check` reads the type.
struct CatalogueEntry {
  const documents::Document* document;
  std::string_view command;
};

std::span<const CatalogueEntry> catalogue();

// Errors: unknown_name, with the nearest name.
Result<const documents::Document*> find_document(std::string_view name);

// The top level of a document.
struct Head {
  std::string kind; // empty if it has none
  std::vector<std::string> keys;
};

// Errors: syntax errors.
Result<Head> head_of(std::string_view json);

// Returns the type of a document by its "kind" or, without one, by its keys. Errors: missing_kind if no type
// or several types fit; wrong_kind; syntax errors.
Result<const documents::Document*> recognise(std::string_view json);

// As documents::decode(), but the error of a document of another type names that, and the command that takes it.
Result<void> decode_as(const documents::Document& document, std::string_view json, void* object,
                       std::span<const documents::Parameter> parameters = {});

template <class T>
Result<T> decode_as(std::string_view json, std::span<const documents::Parameter> parameters = {}) {
  T object{};
  return decode_as(documents::DocumentOf<T>::document, json, &object, parameters).map([&] {
    return std::move(object);
  });
}

} // namespace tidegate::app
