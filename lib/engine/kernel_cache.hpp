// Building generated kernels, and keeping what was built: compilers take seconds where a run takes
// milliseconds.
#pragma once
#include "device/opencl.hpp"
#include "engine/generate.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// A built kernel as it lies in the cache folder: a header with a checksum, then the driver's binary, or
// nothing where the driver keeps it itself. Entries may be damaged or written by anybody; one that is not as
// it was written is none.

struct CacheEntry {
  std::uint32_t resident_groups = 0; // 0: not known yet
  std::vector<unsigned char> binary;
};

std::string encode_entry(const CacheEntry& entry);

// Nothing for anything but what encode_entry() gives.
std::optional<CacheEntry> decode_entry(std::string_view bytes);

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
// together: `poll` is the memory of kernels/common/occupancy.cl, and stands for all other memory too.
using SetPollArguments =
    std::function<void(const cl::Buffer& poll, std::uint32_t settle_polls, std::uint32_t most_polls)>;

// How many work-groups of the persistent kernel are resident together: compute units on a CPU, otherwise
// discovered with the kernel itself and kept with it. Throws device::Refused.
std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              BuiltKernel& kernel, std::uint32_t group_size,
                              const SetPollArguments& set_arguments);

} // namespace tidegate::engine
