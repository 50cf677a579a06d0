// One run of a built program in its arena, from the first byte uploaded to the last one read back.
#pragma once
#include "device/monitor.hpp"
#include "device/opencl.hpp"
#include "engine/compile.hpp"
#include "engine/device_memory.hpp"
#include "engine/dispatch.hpp"
#include "engine/kernel_cache.hpp"
#include "engine/plain_waves.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tidegate::engine {

// A compiled program's kernels on their device.

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

engine::LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency);

// Discovers the resident groups of the very kernel, or knows them from its cache entry. Throws
// device::Refused.
Residency find_residency(const device::Session& session, const device::DeviceInfo& device,
                         const CompiledProgram& compiled, BuiltProgram& built,
                         std::optional<std::uint32_t> asked_for);

// What must hold before anything waits on the device: every wait has a producer, and no more groups are
// launched than are resident. Errors: invalid_schedule, too_many_workers.
Result<void> check_schedule(const CompiledProgram& compiled, const Residency& residency,
                            const device::DeviceInfo& device);

// What `until` looked at, after the last iteration.
struct UntilState {
  bool reached = false;
  std::vector<std::byte> value; // one element
};

struct ArenaRun {
  DispatchOutcome outcome;
  std::optional<UntilState> until;
  std::vector<QueueOutcome> queues; // of the waves that have one
  HostContents outputs;         // by buffer, empty for one without an output; nothing unless the run is done
  std::uint64_t publish_ns = 0; // making and filling the device's memory
  std::uint64_t upload_ns = 0;  // of that, what buffers and images hold at first, until it is there
  std::uint64_t read_back_ns = 0; // outputs, and the states of queues
  std::uint64_t uploaded_bytes = 0;
};

// Allocates the arena, fills it, dispatches, reads the outputs back and gives the memory back. Throws
// device::Refused.
ArenaRun run_in_arena(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
                      const HostContents& first, const DispatchLimits& limits, Monitor& monitor);

} // namespace tidegate::engine
