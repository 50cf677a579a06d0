// Input and name lookup shared by the passes of resolve(). A part of the document that could not be read
// keeps its name and is marked unsound; errors that follow from it are not reported again.
#pragma once
#include "work/files.hpp"
#include "work/macro_answers.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace tidegate::engine {

// Indices by name; a map, for programs with thousands of names.
using NameIndex = std::map<std::string, std::uint32_t, std::less<>>;

// The index of a name whose definition is invalid.
inline constexpr std::uint32_t unsound = std::numeric_limits<std::uint32_t>::max();

// unknown_name, with the closest known name as a suggestion.
Error unknown_name(std::string_view what, std::string_view name, const NameIndex& known, std::string pointer);

// Returns the index of the name; already_reported() if it is unsound.
Result<std::uint32_t> find_name(std::string_view what, std::string_view name, const NameIndex& known,
                                const std::string& pointer);

// Arguments of resolve().
struct ResolveInput {
  const WaveProgram& program;
  const std::string& folder;
  const AnswerMacros& answer;
  const PathScope scope;
  const FileCheck files;
  const device::Tuning& tuning;
  const UnreadPlaces& unread;

  // already_reported() if some part below `pointer` could not be read.
  [[nodiscard]] Result<void> wholly_read(std::string_view pointer) const;

  // find_name() for a part of the document that may have been read incompletely.
  [[nodiscard]] Result<std::uint32_t> find_in(std::string_view part, std::string_view what,
                                              std::string_view name, const NameIndex& known,
                                              const std::string& pointer) const;
};

} // namespace tidegate::engine
