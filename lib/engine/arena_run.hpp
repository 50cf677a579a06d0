// One run of a built program in its arena, from the first upload to the last read-back.
#pragma once
#include "device/monitor.hpp"
#include "device/session.hpp"
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
  std::optional<BuiltKernel> kernel;           // the generated kernel; empty if every stage is plain
  std::vector<std::uint32_t> plain_waves;      // waves launched as the user's own kernels
  std::optional<PlainPrograms> plain_programs; // programs of plain_waves
  std::uint64_t build_ns = 0;
};

// Builds the kernels; `folder` caches generated ones (empty: no cache). Throws device::Refused with
// build_failure and a log with locations in the user's sources.
BuiltProgram build(const device::Session& session, const device::DeviceInfo& device,
                   const CompiledProgram& compiled, const std::filesystem::path& folder);

// Returns the number of groups to launch if `resident` can run concurrently: the cost model's choice, limited
// by the policy where memory is tight.
std::uint32_t workers_for(const CompiledProgram& compiled, std::uint32_t resident);

engine::LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency);

// Discovers the resident groups of the generated kernel, or reads them from its cache entry. Throws
// device::Refused.
Residency find_residency(const device::Session& session, const device::DeviceInfo& device,
                         const CompiledProgram& compiled, BuiltProgram& built,
                         std::optional<std::uint32_t> asked_for);

// Checks, before anything waits on the device, that every wait has a producer and that no more groups are
// launched than are resident. Errors: invalid_schedule, too_many_workers.
Result<void> check_schedule(const CompiledProgram& compiled, const Residency& residency,
                            const device::DeviceInfo& device);

// The value that `until` tests, after the last iteration.
struct UntilState {
  bool reached = false;
  std::vector<std::byte> value; // one element
};

struct ArenaRun {
  DispatchOutcome outcome;
  std::optional<UntilState> until;
  std::vector<QueueOutcome> queues; // of waves with a queue
  HostContents outputs;             // by buffer; empty without an output, or if the run is not done
  std::uint64_t publish_ns = 0;     // allocating and filling device memory
  std::uint64_t upload_ns = 0;      // part of publish_ns: uploading first contents
  std::uint64_t read_back_ns = 0;   // reading outputs and queue states
  std::uint64_t uploaded_bytes = 0;
};

// Allocates and fills the arena, dispatches, reads the outputs back and frees the memory. Throws
// device::Refused.
ArenaRun run_in_arena(const device::Session& session, const CompiledProgram& compiled, BuiltProgram& built,
                      const HostContents& first, const DispatchLimits& limits, Monitor& monitor);

} // namespace tidegate::engine
