// Strict decoding of JSON into described structs, without building a tree.
//
// Refused, each with a code of its own: syntax errors, nesting deeper than `nesting_limit`, a value of the
// wrong type, a number that is no integer or out of range, an unknown name or key (with the nearest known
// one), a duplicate or missing key, another kind or version. Every error names its place: JSON pointer, line
// and column. All that is wrong with a document is told at once, as the others of its first error; only a
// text that is no JSON, and a document of another kind, say no more than that.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/core/error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::documents {

inline constexpr std::size_t nesting_limit = 64;
inline constexpr std::size_t document_bytes_limit = std::size_t{2} << 30U; // 2 GiB

// Keeps its working memory between documents; one per thread.
class Decoder {
public:
  Decoder();
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Decodes `json` onto `object`, a struct that `document.record` describes. Fields left out keep the value
  // the object has. Fields of the document that are `given` hold a value already: they may be left out
  // although they are required. After an error the object holds what was right, and a default value for each
  // wrong item of a list or map, so that all others keep their places; `unread` gets the places that hold
  // nothing of the document's.
  Result<void> decode(const Document& document, std::string_view json, void* object,
                      std::span<const std::string_view> given = {}, UnreadPlaces* unread = nullptr);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

template <class T>
Result<T> decode(std::string_view json) {
  T object{};
  return Decoder().decode(DocumentOf<T>::document, json, &object).map([&] { return std::move(object); });
}

// Decodes. Where the form is wrong, `lint_rest(object, unread)`, a Result<void>, tells what is wrong with
// the meaning of the rest.
template <class T, class LintRest>
Result<T> decode_and_lint(std::string_view json, LintRest lint_rest) {
  T object{};
  UnreadPlaces unread;
  auto form = Decoder().decode(DocumentOf<T>::document, json, &object, {}, &unread);
  if (!form) {
    return tl::unexpected(with_rest(std::move(form.error()),
                                    unread.cover("") ? Result<void>() : lint_rest(std::move(object), unread),
                                    unread));
  }
  return object;
}

// The value of the top-level "kind", or an empty string when there is none, and the top-level keys for those
// who want them. Syntax errors come back as errors.
Result<std::string> kind_of(std::string_view json, std::vector<std::string>* keys = nullptr);

// What people call element types when they do not know what they are called here.

// "i32" for OpenCL C's "int" and for numpy's "int32", where it is one of the known names; else the name that
// looks most like the word, as nearest_name() finds it.
std::optional<std::string_view> meant_name(std::string_view word, std::span<const std::string_view> known);

} // namespace tidegate::documents
