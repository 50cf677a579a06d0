#include <tidegate/core/cache_folder.hpp>

#include <cstdlib>

namespace tidegate {

std::filesystem::path cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') {
    return std::filesystem::path(cache) / "tidegate";
  }
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::filesystem::path(home) / ".cache" / "tidegate"
                                         : std::filesystem::path();
}

} // namespace tidegate
