// Paths of files that are included.
#pragma once

#include <tidegate/core/files.hpp>

#include <filesystem>
#include <string>

namespace tidegate::opencl_c {

// "-" is a file like others here, not standard input.
inline std::string in_folder(const std::string& folder, const std::string& name) {
  const std::string path = (std::filesystem::path(folder) / name).string();
  return path == standard_stream ? "./-" : path;
}

// One for all ways to write the path, as far as the text of it tells.
inline std::string identity(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

} // namespace tidegate::opencl_c
