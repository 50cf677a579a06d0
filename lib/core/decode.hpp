// Decodes JSON strictly into described structs, without building a tree.
//
// Refuses, each with its own code: syntax errors, nesting deeper than `nesting_limit`, values of the wrong
// type, numbers that are not integers or out of range, unknown names and keys (with the nearest known one),
// duplicate and missing keys, and another kind or version. Every error has its location: JSON pointer, line and
// column. All errors of a document are reported at once, as `others` of the first one; only a text that is
// not JSON and a document of another kind yield a single error.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>

namespace tidegate::documents {

inline constexpr std::size_t nesting_limit = 64;
inline constexpr std::size_t document_bytes_limit = std::size_t{2} << 30U; // 2 GiB

// Decodes `json` into `object`, a struct that `document.record` describes. Missing fields keep the object's
// value. Fields named in `given` have a value already and may be missing even if required.
Result<void> decode(const Document& document, std::string_view json, void* object,
                    std::span<const std::string_view> given = {});

template <class T>
Result<T> decode(std::string_view json) {
  T object{};
  return decode(DocumentOf<T>::document, json, &object).map([&] { return std::move(object); });
}

// Returns the top-level "kind", or an empty string if there is none, and stores the top-level keys in `keys`.
// Errors: syntax errors.
Result<std::string> kind_of(std::string_view json, std::vector<std::string>* keys = nullptr);

} // namespace tidegate::documents
