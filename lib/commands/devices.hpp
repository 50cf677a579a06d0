// `tidegate devices`: what this machine can run on.
#pragma once

#include <tidegate/device/device_list.hpp>

#include <string>

namespace tidegate::commands {

// For people: a paragraph for each device, then what is wrong with drivers.
std::string devices_table(const device::DeviceList& list, bool colour);

} // namespace tidegate::commands
