// Lookup of names, with a suggestion for unknown ones.
#include "work/names.hpp"

#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace tidegate::engine {

Error unknown_name(std::string_view what, std::string_view name, const NameIndex& known,
                   std::string pointer) {
  std::vector<std::string_view> names;
  for (const auto& [candidate, index] : known) {
    names.push_back(candidate);
  }
  const auto nearest = nearest_name(name, names);
  constexpr std::size_t few = 8;
  Error error{.code = ErrorCode::unknown_name,
              .message = fmt::format("there is no {} {}", what, in_quotes(name)),
              .fix = nearest               ? fmt::format("did you mean {}?", in_quotes(*nearest))
                     : names.empty()       ? fmt::format("add it: there is no {} at all", what)
                     : names.size() <= few ? fmt::format("give one of {}", one_of(names))
                                           : fmt::format("give the name of a {}", what),
              .pointer = std::move(pointer)};
  if (nearest) {
    error.nearest = *nearest;
  }
  return error;
}

Result<std::uint32_t> find_name(std::string_view what, std::string_view name, const NameIndex& known,
                                const std::string& pointer) {
  const auto found = known.find(name);
  if (found == known.end()) {
    return tl::unexpected(unknown_name(what, name, known, pointer));
  }
  return found->second == unsound ? Result<std::uint32_t>(tl::unexpected(already_reported())) : found->second;
}

Result<void> ResolveInput::wholly_read(std::string_view pointer) const {
  return unread.intact(pointer) ? Result<void>() : Result<void>(tl::unexpected(already_reported()));
}

Result<std::uint32_t> ResolveInput::find_in(std::string_view part, std::string_view what,
                                            std::string_view name, const NameIndex& known,
                                            const std::string& pointer) const {
  return unread.cover(part) ? Result<std::uint32_t>(tl::unexpected(already_reported()))
                            : find_name(what, name, known, pointer);
}

} // namespace tidegate::engine
