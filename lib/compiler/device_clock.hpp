// The clock that work-groups can read while they run, for --trace.
#pragma once

#include <tidegate/device/device_list.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace tidegate::compiler {

// The numbers are those of kernels/progress.cl.
enum class DeviceClock : std::uint8_t {
  none,
  nanoseconds, // NVIDIA: a register that counts them
  extension,   // cl_khr_kernel_clock
  processor,   // the counter of an x86 processor, where host and device are the same
};
inline constexpr std::array<std::string_view, 4> device_clock_names{"none", "globaltimer",
                                                                    "cl_khr_kernel_clock", "processor"};

DeviceClock device_clock(const device::DeviceInfo& device);

} // namespace tidegate::compiler
