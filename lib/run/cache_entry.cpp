#include <tidegate/run/cache_entry.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstring>
#include <limits>

namespace tidegate::run {
namespace {

constexpr std::uint64_t entry_magic = 0x3145544147454454; // "TDEGATE1"

struct EntryHeader {
  std::uint64_t magic = entry_magic;
  std::uint64_t checksum = 0; // of what follows this field
  std::uint64_t resident_groups = 0;
  std::uint64_t binary_bytes = 0;
};

std::uint64_t checksum(std::string_view entry) {
  const std::string_view covered = entry.substr(offsetof(EntryHeader, resident_groups));
  return XXH3_64bits(covered.data(), covered.size());
}

} // namespace

std::string encode_entry(const CacheEntry& entry) {
  EntryHeader header{.resident_groups = entry.resident_groups, .binary_bytes = entry.binary.size()};
  std::string bytes(sizeof header, '\0');
  bytes.append(entry.binary.begin(), entry.binary.end());
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = checksum(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<CacheEntry> decode_entry(std::string_view bytes) {
  EntryHeader header;
  if (bytes.size() < sizeof header) {
    return {};
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != entry_magic || header.binary_bytes != bytes.size() - sizeof header ||
      header.checksum != checksum(bytes) ||
      header.resident_groups > std::numeric_limits<std::uint32_t>::max()) {
    return {};
  }
  return CacheEntry{.resident_groups = static_cast<std::uint32_t>(header.resident_groups),
                    .binary = {bytes.begin() + sizeof header, bytes.end()}};
}

} // namespace tidegate::run
