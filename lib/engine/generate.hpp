// The source of the kernel that runs a program's shared stages.
#pragma once
#include "engine/launch_tables.hpp"
#include "engine/schedule.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidegate::engine {

// The clock that work-groups can read while they run, for --trace.

// The numbers are those of kernels/wave/progress.cl.
enum class DeviceClock : std::uint8_t {
  none,
  nanoseconds, // NVIDIA: a register that counts them
  extension,   // cl_khr_kernel_clock
  processor,   // the counter of an x86 processor, where host and device are the same
};
inline constexpr std::array<std::string_view, 4> device_clock_names{"none", "globaltimer",
                                                                    "cl_khr_kernel_clock", "processor"};

DeviceClock device_clock(const device::DeviceInfo& device);

struct KernelRequest {
  Strategy strategy = Strategy::barrier;
  device::Ordering ordering = device::Ordering::classic; // barrier only
  TileOrder order = TileOrder::strided;
  DeviceClock clock = DeviceClock::none; // that spans are taken by; none: there are none
  // The compiler is told of pointers that never point into the same memory.
  bool restricts = false;
  bool conditional_barriers = false; // the compiler is right about them: PoCL (3.1) is not always
  bool opencl_3 = false;             // the device compiles OpenCL C 3.0
  bool until_on_device = false;      // the launch itself looks when to end the repetition
};

struct KernelSource {
  std::string source;
  std::string options; // for the compiler
  std::string kernel;  // its name
};

// What stands in front of every source that is compiled, generated or the user's own; may be empty.
std::string contraction_pragma(const ResolvedProgram& program);

// The user's kernels as functions, a function with a case for each way they are called, and the loop around
// it from kernels/. Everything but the user's own text is commented.
KernelSource generate_kernel(const ResolvedProgram& program, const OutlinedOps& ops, const Schedule& schedule,
                             const LaunchTables& tables, const MemoryLayout& memory,
                             const KernelRequest& request);

} // namespace tidegate::engine
