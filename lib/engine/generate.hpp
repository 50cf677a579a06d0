// The source of the kernel that runs a program's shared stages.
#pragma once
#include "engine/job.hpp"
#include "engine/launch_tables.hpp"
#include "engine/schedule.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/trace.hpp"
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::engine {

struct KernelRequest {
  Strategy strategy = Strategy::barrier;
  device::MemoryOrdering ordering = device::MemoryOrdering::classic; // barrier only
  TileMapping mapping = TileMapping::strided;
  DeviceClock clock = DeviceClock::none; // clock of spans; none: record no spans
  // Declare pointers that never alias as restrict.
  bool restricts = false;
  bool conditional_barriers = false;           // compiles conditional barriers correctly; PoCL (3.1) may not
  bool opencl_3 = false;                       // the device compiles OpenCL C 3.0
  bool until_on_device = false;                // the launch itself tests the end of the repetition
  bool claims = false;                         // work-groups claim tiles (kernels/wave/claims.cl)
  bool gates = false;                          // ops wait where TG_PASS is (kernels/wave/gate.cl)
  std::optional<std::size_t> stress_word = {}; // of --stress: index of the seed among the words
};

// Returns the text that precedes every source, generated or the user's; may be empty.
std::string contraction_pragma(const Job& program);

// Generates the user's kernels as functions, a dispatch function with a case for each way in which they are
// called, and the loop around it from kernels/. Comments everything except the user's text.
KernelSource generate_kernel(const Job& program, const OutlinedOps& ops, const Schedule& schedule,
                             const LaunchTables& tables, const MemoryLayout& memory,
                             const KernelRequest& request);

} // namespace tidegate::engine
