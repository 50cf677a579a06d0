// The source of the kernel that runs a program's shared stages.
#pragma once

#include <tidegate/compiler/device_clock.hpp>
#include <tidegate/compiler/launch_tables.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/schedule.hpp>
#include <tidegate/device/device_profile.hpp>

#include <string>

namespace tidegate::compiler {

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

} // namespace tidegate::compiler
