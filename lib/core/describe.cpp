// Describes diagnostics, the notes on non-finite values of outputs.
#include <tidegate/core/describe.hpp>

#include <fmt/format.h>

#include <cmath>

namespace tidegate::documents {
namespace {

constexpr Field diagnostic_fields[] = {
    required<&Diagnostic::code>("code", "stable name"),
    required<&Diagnostic::pointer>("pointer", "the value, as an RFC 6901 pointer into this document"),
    required<&Diagnostic::message>("message", "the original value"),
};

} // namespace

constinit const Record Description<Diagnostic>::record =
    record_of<Diagnostic>("diagnostic", diagnostic_fields);

std::optional<std::vector<Diagnostic>> non_finite_diagnostics(std::string_view pointer,
                                                              std::span<const double> values) {
  std::vector<Diagnostic> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      const std::string_view what = std::isnan(values[i]) ? "not a number"
                                    : values[i] > 0       ? "+infinity"
                                                          : "-infinity";
      found.push_back({.code = "non_finite",
                       .pointer = fmt::format("{}/{}", pointer, i),
                       .message = fmt::format("the value is {}, which JSON cannot hold", what)});
    }
  }
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

} // namespace tidegate::documents
