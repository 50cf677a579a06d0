// One run of a built program in its arena, from the first upload to the last read-back.
#pragma once
#include "engine/device_images.hpp"
#include "engine/device_memory.hpp"
#include "engine/dispatch.hpp"
#include "engine/kept.hpp"
#include "engine/plain_waves.hpp"
#include "engine/run_context.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tidegate::engine {

// Builds the kernels; `folder` caches generated ones (empty: no cache). Throws device::Refused with
// build_failure and a log with locations in the user's sources.
BuiltProgram build(const device::Session& session, const device::DeviceInfo& device,
                   const CompiledProgram& compiled, const std::filesystem::path& folder);

// Returns the number of groups that the cost model launches if `resident` can run concurrently.
std::uint32_t wanted_workers(const CompiledProgram& compiled, std::uint32_t resident);

// Returns the number of groups to launch: those, without what the policy sheds where memory is tight.
std::uint32_t workers_for(const CompiledProgram& compiled, std::uint32_t resident);

engine::LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency);

// Discovers the resident groups of the generated kernel, or reads them from its cache entry. Throws
// device::Refused.
Residency find_residency(const device::Session& session, const device::DeviceInfo& device,
                         const CompiledProgram& compiled, BuiltProgram& built,
                         std::optional<std::uint32_t> asked_for);

// Returns the limits of a dispatch of the program that begins now.
DispatchLimits dispatch_limits(const CompiledProgram& compiled, const device::DeviceInfo& device,
                               const RunOptions& options, const Residency& residency);

// Checks, before anything waits on the device, that every wait has a producer and that no more groups are
// launched than are resident. Errors: invalid_schedule, too_many_workers.
Result<void> check_schedule(const CompiledProgram& compiled, const Residency& residency,
                            const device::DeviceInfo& device);

// The value that `until` tests, after the last iteration.
struct UntilState {
  bool reached = false;
  std::vector<std::byte> value; // one element
};

// A program's arena and images, which in a stream stay for its next run.
struct KeptArena final : Holding {
  Arena arena;
  DeviceImages images;
  HostContents outputs; // room for them, between two runs
  std::vector<std::string>
      contents; // by buffer, the name of the first contents that it still holds; empty: none

  KeptArena(Arena made, DeviceImages others)
      : arena(std::move(made)), images(std::move(others)), contents(arena.parts.size()) {}

  [[nodiscard]] std::optional<DevicePart> find(const std::string& content) const override;
  [[nodiscard]] DevicePart part(std::size_t buffer) const; // its place
};

// The first contents of one run in a stream.
struct KeptInputs {
  Kept& kept;
  std::shared_ptr<KeptArena> arena;               // of the program's last run, then of this one; may be null
  std::vector<std::optional<DevicePart>> found{}; // by buffer, where the device has its first contents
  std::vector<std::string> replaced{}; // by buffer, other contents that the arena still holds there

  // True if the program has inputs, and the device had all of them.
  [[nodiscard]] bool hit(const Job& program) const;
};

KeptInputs find_inputs(Kept& kept, const Job& program, std::shared_ptr<KeptArena> arena);

struct ArenaRun {
  DispatchOutcome outcome;
  std::optional<UntilState> until;
  std::vector<QueueOutcome> queues; // of waves with a queue
  HostContents outputs;             // by buffer; none after a hang, only logs of a run that is not done
  std::uint64_t publish_ns = 0;     // allocating and filling device memory
  std::uint64_t upload_ns = 0;      // part of publish_ns: uploading first contents
  std::uint64_t read_back_ns = 0;   // reading outputs and queue states
  std::uint64_t buffers_read = 0;   // results
  device::CallCounts calls;         // from the first upload to the last read-back
};

// Allocates and fills the arena, dispatches, reads the outputs back and frees the memory; with `inputs`, takes and
// keeps what may stay on the device. Throws device::Refused.
ArenaRun run_in_arena(const RunContext& run, const HostContents& first, const DispatchLimits& limits,
                      KeptInputs* inputs = nullptr);

} // namespace tidegate::engine
