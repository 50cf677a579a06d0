#include "core/kept_files.hpp"

#include "core/files.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <system_error>

namespace tidegate {

std::string hash_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

bool keep_file(const std::filesystem::path& path, std::string_view contents) {
  if (path.empty()) {
    return false;
  }
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  auto output = Output::open(path.string());
  return output && output->write(contents) && output->commit();
}

} // namespace tidegate
