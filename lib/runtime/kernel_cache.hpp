// Builds generated kernels, caches them (compilers take seconds, runs milliseconds), and sets their arguments.
#pragma once
#include "common/counters.h"
#include "device/session.hpp"

namespace tidegate::runtime {

struct KernelSource {
  std::string source;
  std::string options; // compiler options
  std::string kernel;  // kernel name
  // Work-groups that a compute unit must hold at a time: with few, NVIDIA's assembler may give each work-item more
  // registers. 0: not stated.
  std::uint32_t groups_per_unit = 0;
};

// A cache entry: a hash of what follows it, the groups, then the driver's binary, or nothing if the driver has a cache.
// Entries may be damaged; any whose hash is another one is ignored.
struct CacheEntry {
  std::uint32_t resident_groups = 0; // 0: not known yet
  std::vector<unsigned char> binary;
};

std::string encode_entry(const CacheEntry& entry);

// Returns nullopt for anything that encode_entry() did not produce.
std::optional<CacheEntry> decode_entry(std::string_view bytes);

// Returns NVIDIA's PTX with the statement that a compute unit has to hold `groups` work-groups of the kernel, or
// nullopt for any other text. The kernel must state its work-group size.
std::optional<std::string> stating_groups_per_unit(std::string ptx, std::string_view kernel,
                                                   std::uint32_t groups);

// Returns NVIDIA's PTX with `red` in place of each `atom` on global memory whose result nothing reads; nullopt if there
// is none, or for any other text.
std::optional<std::string> with_reductions(std::string_view ptx);

struct BuiltKernel {
  device::Program program;
  device::Kernel kernel;
  bool from_cache = false;
  std::uint32_t resident_groups = 0; // 0: not known
  std::filesystem::path entry;       // cache entry; empty: not cached
};

// Returns the cached kernel if source, options, device and driver are the same, else builds and caches it.
// Rebuilds a damaged entry and one that the driver refuses. An empty `folder` disables the cache. Throws
// device::Refused with build_failure and a log with locations in the user's sources.
BuiltKernel build_kernel(const device::Session& session, const device::DeviceInfo& device,
                         const KernelSource& source, std::uint64_t dynamic_local_bytes,
                         const std::filesystem::path& folder);

// Drivers for CPUs compile a kernel in its first launch, separately for small and large ranges: launches that do
// nothing, as the kernel's arguments say, make them compile before the run. Throws device::Refused.
void compile_by_launching(const device::Session& session, const BuiltKernel& kernel, std::size_t group_size,
                          std::size_t most_groups);

inline constexpr std::size_t poll_bytes = TG_CENSUS_WORDS * sizeof(std::uint32_t);

// Sets a persistent kernel's arguments so that it only counts its resident groups: `poll` is the memory of
// kernels/common/occupancy.cl and replaces all other memory.
using SetPollArguments =
    std::function<void(const device::Buffer& poll, std::uint32_t settle_polls, std::uint32_t most_polls)>;

// Returns the number of concurrent work-groups of the persistent kernel: compute units on a CPU, otherwise
// discovered with the kernel itself and cached with it. Throws device::Refused.
std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              BuiltKernel& kernel, std::uint32_t group_size,
                              const SetPollArguments& set_arguments);

// Returns too_many_workers unless the groups can all be resident: others would wait for groups that never
// start.
Result<void> check_workers(std::uint32_t workers, std::uint32_t resident, const device::DeviceInfo& device);

} // namespace tidegate::runtime
