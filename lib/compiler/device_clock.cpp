#include <tidegate/compiler/device_clock.hpp>
#include <tidegate/compiler/device_features.hpp>

namespace tidegate::compiler {
namespace {

#if defined(__x86_64__)
constexpr bool x86 = true;
#else
constexpr bool x86 = false; // elsewhere reading the counter may be forbidden to programs
#endif

} // namespace

DeviceClock device_clock(const device::DeviceInfo& device) {
  if (takes_ptx(device)) {
    return DeviceClock::nanoseconds;
  }
  if (device.extensions.find("cl_khr_kernel_clock") != std::string::npos) {
    return DeviceClock::extension;
  }
  // Clang knows the counter by name.
  return x86 && device::is_pocl(device) && device.type == device::DeviceType::cpu ? DeviceClock::processor
                                                                                  : DeviceClock::none;
}

} // namespace tidegate::compiler
