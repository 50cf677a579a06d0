// `tidegate devices`: the devices of this machine and their self-tests.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::app {

// Sources of a self-test result.
enum class SelfTest : std::uint8_t {
  kept,         // an earlier run, or nowhere
  kept_or_made, // an earlier run, or else it runs now
  made,         // it runs now
};

// Adds the device's self-test: fills in `profile`, and sets `megakernel` to the test's verdict. A result
// under the user's cache folder (XDG_CACHE_HOME, or .cache in the home folder) serves when device, driver and
// tool are the same; a new one is kept there if the folder can be written to. `begins` is called before a
// test, which takes seconds. Errors: those of device::probe().
Result<void> add_profile(device::DeviceInfo& device, const std::string& tool_version, SelfTest from,
                         const std::function<void()>& begins = {});

// Returns a key of a device with its driver.
std::string device_key(const device::DeviceInfo& device);

// Reads a kept profile. Returns nothing if it is damaged, impossible, or of another device or driver.
std::optional<device::DeviceProfile> kept_profile(std::string_view json, const device::DeviceInfo& device);

} // namespace tidegate::app
