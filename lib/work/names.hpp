// What the passes of resolve() share: what they are given, and how a name is found. A part of the document
// that could not be read is known by its name and unsound; what follows from it is told where it comes from.
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

// Names with their indices, for programs that name thousands of things.
using NameIndex = std::map<std::string, std::uint32_t, std::less<>>;

// The index of what the program names but says something wrong of.
inline constexpr std::uint32_t unsound = std::numeric_limits<std::uint32_t>::max();

// unknown_name, with the name that may have been meant.
Error unknown_name(std::string_view what, std::string_view name, const NameIndex& known, std::string pointer);

// The index of what has this name; already_reported() where it is unsound.
Result<std::uint32_t> find_name(std::string_view what, std::string_view name, const NameIndex& known,
                                const std::string& pointer);

// As resolve() is called.
struct ResolveInput {
  const WaveProgram& program;
  const std::string& folder;
  const AnswerMacros& answer;
  const PathScope scope;
  const FileCheck files;
  const device::Tuning& tuning;
  const UnreadPlaces& unread;

  // already_reported() where something that is said of it could not be read.
  [[nodiscard]] Result<void> wholly_read(std::string_view pointer) const;

  // As find_name(), of names in a part of the document that may not have been read.
  [[nodiscard]] Result<std::uint32_t> find_in(std::string_view part, std::string_view what,
                                              std::string_view name, const NameIndex& known,
                                              const std::string& pointer) const;
};

} // namespace tidegate::engine
