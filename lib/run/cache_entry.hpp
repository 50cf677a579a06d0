// A built kernel as it lies in the cache folder: a header with a checksum, then the driver's binary, or
// nothing where the driver keeps it itself. Entries may be damaged or written by anybody; one that is not as
// it was written is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::run {

struct CacheEntry {
  std::uint32_t resident_groups = 0; // 0: not known yet
  std::vector<unsigned char> binary;
};

std::string encode_entry(const CacheEntry& entry);

// Nothing for anything but what encode_entry() gives.
std::optional<CacheEntry> decode_entry(std::string_view bytes);

} // namespace tidegate::run
