// What a reader of an output should know beside the numbers: JSON has no infinities and no NaN, so a value
// that is not finite is null, and a diagnostic says which one it was.
#pragma once

#include <tidegate/documents/describe.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::documents {

struct Diagnostic {
  std::string code;    // "non_finite"
  std::string pointer; // RFC 6901, into the same document
  std::string message;
};

template <>
struct Description<Diagnostic> {
  static const Record record;
};

inline constexpr std::string_view diagnostics_meaning = "what is remarkable about the values, such as nulls";

// One diagnostic per value that is not finite, or nothing when all are. `pointer` is that of the list.
std::optional<std::vector<Diagnostic>> non_finite_diagnostics(std::string_view pointer,
                                                              std::span<const double> values);

} // namespace tidegate::documents
