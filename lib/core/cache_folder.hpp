// Where the tool keeps what it would otherwise have to work out again.
#pragma once

#include <filesystem>

namespace tidegate {

// "tidegate" under XDG_CACHE_HOME, or under .cache in the home folder; empty when the environment names
// neither.
std::filesystem::path cache_folder();

} // namespace tidegate
