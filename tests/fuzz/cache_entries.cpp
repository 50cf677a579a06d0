// Any bytes as what the tool keeps in the cache folder: a built kernel or a device's profile is whole, or it
// is none.
#include "app/run.hpp"
#include "fuzz.hpp"
#include "runtime/kernel_cache.hpp"
#include <tidegate/device/device_list.hpp>

using namespace tidegate;

FUZZ_TARGET(cache_entries) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto entry = runtime::decode_entry(bytes)) {
    fuzz::require(runtime::encode_entry(*entry) == bytes, "an entry is what was written");
  }
  const std::string sealed = runtime::encode_entry(
      {.resident_groups = static_cast<std::uint32_t>(size), .binary = {data, data + size}});
  const auto opened = runtime::decode_entry(sealed);
  fuzz::require(opened && opened->binary.size() == size, "what was written is an entry");
  if (size != 0) {
    std::string damaged = sealed;
    damaged[data[0] % damaged.size()] ^= 1;
    fuzz::require(!runtime::decode_entry(damaged), "a damaged entry is none");
  }

  device::DeviceInfo device;
  device.name = "a device";
  device.driver_version = "1.0";
  device.compute_units = 4;
  device.max_workgroup_size = 256;
  if (const auto profile = app::kept_profile(bytes, device)) {
    fuzz::require(profile->ordering && profile->workgroup_size <= 256 && profile->co_resident_groups <= 256,
                  "a profile that is used is possible");
    fuzz::require(app::kept_profile(documents::encode(*profile), device).has_value(),
                  "what was written is read");
  }
  return 0;
}
