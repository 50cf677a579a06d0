// A compiled program's kernels on their device.
#pragma once

#include <tidegate/compiler/compile.hpp>
#include <tidegate/device/handles.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/kernel_cache.hpp>
#include <tidegate/run/plain_waves.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tidegate::run {

struct BuiltProgram {
  std::optional<BuiltKernel> kernel;           // the generated one; empty when every stage is plain
  std::vector<std::uint32_t> plain_waves;      // launched as the user's own kernels
  std::optional<PlainPrograms> plain_programs; // for them
  std::uint64_t build_ns = 0;
};

// `folder` keeps built kernels; empty: nothing is kept. Throws device::Refused with build_failure and a log
// whose places are the user's.
BuiltProgram build(const device::Session& session, const device::DeviceInfo& device,
                   const CompiledProgram& compiled, const std::filesystem::path& folder);

// The work-groups of a persistent launch.
struct Residency {
  std::uint32_t resident = 0; // together on the device; 0: nothing persistent is launched
  std::uint32_t workers = 1;  // that are launched
};

// Of so many groups that are resident together those that are launched: as many as the cost model takes, and
// where memory is tight no more than the policy wants.
std::uint32_t workers_for(const CompiledProgram& compiled, std::uint32_t resident);

compiler::LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency);

// Discovers the resident groups of the very kernel, or knows them from its cache entry. Throws
// device::Refused.
Residency find_residency(const device::Session& session, const device::DeviceInfo& device,
                         const CompiledProgram& compiled, BuiltProgram& built,
                         std::optional<std::uint32_t> asked_for);

// What must hold before anything waits on the device: every wait has a producer, and no more groups are
// launched than are resident. Errors: invalid_schedule, too_many_workers.
Result<void> check_schedule(const CompiledProgram& compiled, const Residency& residency,
                            const device::DeviceInfo& device);

} // namespace tidegate::run
