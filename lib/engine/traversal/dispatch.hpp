// Runs a traversal on a device: by one persistent launch in bounded slices, or by a launch for each step.
#pragma once
#include "device/monitor.hpp"
#include "engine/launch_times.hpp"
#include "engine/slices.hpp"
#include "engine/timeline.hpp"
#include "engine/traversal/resident.hpp"
#include "engine/traversal/waves.hpp"

namespace tidegate::traversal {

// The kernel is compiled before the traversal. Throws device::Refused.
void compile_now(const device::Session& session, engine::BuiltKernel& kernel,
                 const FrontierGeometry& geometry, const engine::Residency& groups);

struct TraversalOutcome : engine::DispatchOutcome {
  WaveLog waves;
  std::uint64_t vertices_left = 0; // in the frontier of the next wave
  double rank_change = 0;          // of pagerank: of all ranks in the last iteration, in sum
};

// Runs all waves. If `limits.arrivals_per_barrier` is 0, each launch runs one step. Throws device::Refused.
TraversalOutcome traverse(const device::Session& session, engine::BuiltKernel& kernel,
                          const ResidentGraph& resident, const FrontierGeometry& geometry,
                          const engine::DispatchLimits& limits, engine::Monitor& monitor);

// Returns the number of work-groups of the persistent kernel that are resident together. Throws device::Refused.
std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              engine::BuiltKernel& kernel, const FrontierGeometry& geometry);

// Returns a span for each wave, whose `iteration` is its number. A span begins where the previous one ends, so it
// includes the conversion of the frontier and the gap between launches. `first` (where the first one begins) and `ends`
// are ticks.
std::vector<engine::TaskSpan> wave_spans(engine::DeviceClock clock,
                                         std::span<const engine::SliceTimes> launches, std::uint64_t first,
                                         std::span<const std::uint64_t> ends);

// Returns a timeline with a lane for launches, a lane for waves, and the sizes of frontiers as curves.
engine::Timeline timeline_of(std::span<const WaveRecord> waves, const engine::Trace& trace,
                             engine::DeviceClock clock, bool persistent);

} // namespace tidegate::traversal
