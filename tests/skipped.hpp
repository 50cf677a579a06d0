// Tests that this machine cannot run say so. In CI a reason that skip_reasons.txt does not list fails.
#pragma once
#include "core/prelude.hpp"

#include <doctest/doctest.h>
#include <fnmatch.h>

#include <fstream>

namespace tidegate::test {

inline void skipped(const std::string& reason) {
  MESSAGE("skipped: ", reason);
  std::ifstream reasons(TIDEGATE_SOURCE_DIR "/tests/skip_reasons.txt");
  bool allowed = std::getenv("TIDEGATE_CI") == nullptr;
  for (std::string pattern; std::getline(reasons, pattern);) {
    allowed = allowed || ::fnmatch(pattern.c_str(), reason.c_str(), 0) == 0;
  }
  CHECK_MESSAGE(allowed, "tests/skip_reasons.txt does not list: ", reason);
}

// Returns a folder of real data, which lie next to the project and are no part of it; without it the test is skipped.
inline std::optional<std::filesystem::path> shared_folder(const std::string& name) {
  const std::string relative = "../shared/data/" + name;
  const std::filesystem::path folder = std::filesystem::path(TIDEGATE_SOURCE_DIR) / relative;
  if (std::filesystem::is_directory(folder)) {
    return folder;
  }
  skipped(relative + " is not there");
  return std::nullopt;
}

} // namespace tidegate::test
