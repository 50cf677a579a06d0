// The document types that a tool reads and writes, and which of them a text is.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>

#include <span>
#include <string>
#include <string_view>

namespace tidegate::documents {

// A type, and the command that takes such documents; empty where `check` alone reads them.
struct CatalogueEntry {
  const Document* document;
  std::string_view command;
};

// The types that errors and `check` choose from: those that set_catalogue() was given, in that order; none
// before.
std::span<const CatalogueEntry> catalogue();

// `all` is kept, not copied.
void set_catalogue(std::span<const CatalogueEntry> all);

// unknown_name when there is no such document, with the nearest name.
Result<const Document*> find_document(std::string_view name);

// The type of a document: its "kind", or where it does not say one, the type whose keys it has. missing_kind
// when that is none or several; wrong_kind; the errors of a text that is no JSON.
Result<const Document*> recognise(std::string_view json);

// Of a text that is JSON and was refused as a document of type `wanted`: the type that it most likely is,
// where it does not say one and another one fits its keys better; nullptr otherwise.
const Document* mistaken_type(const Document& wanted, std::string_view json);

// What to do with a document of type `found` where one of type `wanted` is read: the command that takes it.
std::string fix_for_kind(const Document& wanted, const Document& found);

} // namespace tidegate::documents
