// Building generated kernels, and keeping what was built: compilers take seconds where a run takes
// milliseconds.
#pragma once

#include <tidegate/compiler/generate.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/compiled.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace tidegate::run {

struct BuiltKernel {
  cl::Program program;
  cl::Kernel kernel;
  bool from_cache = false;
  std::uint32_t resident_groups = 0; // 0: not known
  std::filesystem::path entry;       // where it is kept; empty: nowhere
};

// From the cache when source, options, device and driver are the same, or else built and kept. A damaged
// entry, or one that the driver refuses, is built again. `folder` may be empty: then nothing is kept. Throws
// device::Refused with build_failure and a log whose places are the user's.
// Throws device::Refused with kernel_does_not_fit where the device says that work-groups of so many
// work-items have too few registers. That is an answer: a smaller geometry may fit.
void check_fit(const device::Session& session, const device::DeviceInfo& device, const BuiltKernel& kernel,
               std::uint32_t group_size);

BuiltKernel build_kernel(const device::Session& session, const device::DeviceInfo& device,
                         const KernelSource& source, std::uint64_t dynamic_local_bytes,
                         const std::filesystem::path& folder);

// Sets a persistent kernel's arguments so that it does nothing but answer how many of its groups are resident
// together: `poll` is the memory of kernels/occupancy.cl, and stands for all other memory too.
using SetPollArguments =
    std::function<void(const cl::Buffer& poll, std::uint32_t settle_polls, std::uint32_t most_polls)>;

// How many work-groups of the persistent kernel are resident together: compute units on a CPU, otherwise
// discovered with the kernel itself and kept with it. Throws device::Refused.
std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              BuiltKernel& kernel, std::uint32_t group_size,
                              const SetPollArguments& set_arguments);

} // namespace tidegate::run
