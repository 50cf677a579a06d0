// The document types that tidegate reads and writes, and the recognition of a text's type.
#pragma once
#include "core/json.hpp"
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>

namespace tidegate::documents {

// A type and the command that accepts it; the command is empty if only `check` reads the type.
struct CatalogueEntry {
  const Document* document;
  std::string_view command;
};

// The types that errors and `check` choose from, as passed to set_catalogue(); empty before.
std::span<const CatalogueEntry> catalogue();

// Keeps a reference to `all`, not a copy.
void set_catalogue(std::span<const CatalogueEntry> all);

// Errors: unknown_name, with the nearest name.
Result<const Document*> find_document(std::string_view name);

// Returns the type of a document by its "kind" or, without one, by its keys. Errors: missing_kind if no type
// or several types fit; wrong_kind; syntax errors.
Result<const Document*> recognise(std::string_view json);

// For valid JSON that was refused as `wanted`: returns another type that fits its keys better, or nullptr.
// Always nullptr if the document states its kind.
const Document* mistaken_type(const Document& wanted, JsonValue document);

// Returns the fix for a document of type `found` in place of `wanted`: the command that accepts `found`.
std::string fix_for_kind(const Document& wanted, const Document& found);

// Returns the names of a choice, after the word for none of them.
std::vector<std::string_view> words_of(const Type& type);

} // namespace tidegate::documents
