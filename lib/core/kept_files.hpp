// Files that later runs reuse. Their names contain a hash of all that they depend on. If one is missing, a run repeats the
// work.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace tidegate {

// Returns 32 hexadecimal digits: a hash of 128 bits.
std::string hash_of(std::string_view text);

// Writes a file, which appears complete or not at all, and its folder. Returns false if either cannot be written, or if
// the path is empty.
bool keep_file(const std::filesystem::path& path, std::string_view contents);

} // namespace tidegate
