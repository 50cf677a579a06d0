// The places of a document that could not be read. Whoever looks at the rest of it tells nothing that follows
// from them: it was told where it comes from.
//
//   {"buffers": {"a": {"type": "f33", "count": 0}}, "wave": […]}     unread: /buffers/a/type, /waves
//
// What is said of /buffers/a as a whole is uncertain, and so is all that stands in /waves; /buffers/a/count
// is read, and has an error of its own.
#pragma once

#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate {

class UnreadPlaces {
public:
  // Takes an RFC 6901 pointer; the empty one is the whole document.
  void add(std::string pointer) { pointers_.push_back(std::move(pointer)); }

  [[nodiscard]] bool empty() const { return pointers_.empty(); }

  // Whether what stands at `pointer` is, or is part of, what could not be read.
  [[nodiscard]] bool cover(std::string_view pointer) const;

  // Whether all that stands at `pointer` was read.
  [[nodiscard]] bool spare(std::string_view pointer) const;

private:
  std::vector<std::string> pointers_;
};

// The errors of a document's form, with those about the rest of it that do not follow from them.
Error with_rest(Error form, const Result<void>& rest, const UnreadPlaces& unread);

} // namespace tidegate
