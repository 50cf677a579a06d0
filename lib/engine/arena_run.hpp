// One run of a built program in its arena, from the first upload to the last read-back.
#pragma once
#include "engine/queue_outcome.hpp"
#include "engine/run_options.hpp"
#include "runtime/slices.hpp"

namespace tidegate::engine {

namespace in_kernels {
using uint = std::uint32_t;
#include "wave/arguments.h"
} // namespace in_kernels

// Returns the numbers of a persistent launch as its kernel takes them.
constexpr auto numbers_of(const in_kernels::tg_numbers& numbers) {
  return std::bit_cast<std::array<std::uint32_t, sizeof numbers / sizeof(std::uint32_t)>>(numbers);
}

// Returns the numbers of the first launch of a program that is one launch; later ones have another place, budget and
// arrivals.
in_kernels::tg_numbers first_numbers(const CompiledProgram& compiled, const DispatchLimits& limits);

// Returns the room for local arguments, never 0, so that the parameter can be set.
inline std::size_t local_room(const LaunchTables& tables) {
  constexpr std::size_t largest_element = 128; // a vector of 16 numbers of 64 bits
  return std::max<std::size_t>(tables.dynamic_local_bytes, largest_element);
}

// Sets what generated kernels take first: memory, numbers, local memory. Throws device::Refused.
void set_arguments(const device::Session& session, const BuiltKernel& kernel, const LaunchTables& tables,
                   std::span<const device::Buffer* const> memory, std::span<const std::uint32_t> numbers);

// Builds the kernels; `folder` caches generated ones (empty: no cache). Throws device::Refused with
// build_failure and a log with locations in the user's sources.
BuiltProgram build(const device::Session& session, const device::DeviceInfo& device,
                   const CompiledProgram& compiled, const std::filesystem::path& folder);

LaunchShape launch_shape(const CompiledProgram& compiled, const Residency& residency);

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

// The first contents of one run in a stream.
struct KeptInputs {
  Kept& kept;
  std::shared_ptr<Holding> arena;                 // of the program's last run, then of this one; may be null
  std::vector<std::optional<DevicePart>> found{}; // by buffer, where the device has its first contents
  std::vector<std::string> replaced{}; // by buffer, other contents that the arena still holds there

  // True if the program has inputs, and the device had all of them.
  [[nodiscard]] bool hit(const Job& program) const;
};

KeptInputs find_inputs(Kept& kept, const Job& program, std::shared_ptr<Holding> arena);

struct ArenaRun {
  DispatchOutcome outcome;
  std::vector<std::byte> until_value; // after the last iteration: one element; empty without `until`
  std::vector<QueueOutcome> queues;   // of waves with a queue
  HostContents outputs;               // by buffer; none after a hang, only logs of a run that is not done
  std::uint64_t publish_ns = 0;       // allocating and filling device memory
  std::uint64_t read_back_ns = 0;     // reading outputs and queue states
  std::uint64_t buffers_read = 0;     // results
  device::CallCounts calls;           // from the first upload to the last read-back
};

// Allocates what the dispatch of the schedule needs, and returns the dispatch, from its first wave to its last, which runs
// once. `plain` may be null when no stage is. All references outlive it. Both throw device::Refused.
std::function<DispatchOutcome()> prepare_dispatch(const RunContext& run, PlainWaves* plain,
                                                  const Arena& arena, const DispatchLimits& limits);

// Allocates and fills the arena, dispatches, reads the outputs back and frees the memory; with `inputs`, takes and
// keeps what may stay on the device. Throws device::Refused.
ArenaRun run_in_arena(const RunContext& run, const HostContents& first, const DispatchLimits& limits,
                      KeptInputs* inputs = nullptr);

} // namespace tidegate::engine
