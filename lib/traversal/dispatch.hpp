// Runs a traversal on a device, or on those of several ranks: by one persistent launch in bounded slices, or by a launch for each step.
#pragma once
#include "runtime/monitor.hpp"
#include "runtime/rank_report.hpp"
#include "runtime/slices.hpp"
#include "runtime/trace.hpp"
#include "traversal/resident.hpp"

namespace tidegate::traversal {

// The kernel is compiled before the traversal. Throws device::Refused.
void compile_now(const device::Session& session, runtime::BuiltKernel& kernel,
                 const FrontierGeometry& geometry, const runtime::Residency& groups);

struct TraversalOutcome : runtime::DispatchOutcome {
  WaveLog waves;
  std::uint64_t vertices_left = 0; // in the frontier of the next wave
  double rank_change = 0;          // of pagerank: of all ranks in the last iteration, in sum
};

// Runs all waves. If `limits.arrivals_per_barrier` is 0, each launch runs one step. Throws device::Refused.
TraversalOutcome traverse(const device::Session& session, runtime::BuiltKernel& kernel,
                          const ResidentGraph& resident, const FrontierGeometry& geometry,
                          const runtime::DispatchLimits& limits, runtime::Monitor& monitor);

// Chooses the work-groups: the resident ones, or with launches a few per compute unit, to balance unequal
// work; fewer if memory is short. Returns too_many_workers if the options exceed the resident groups.
Result<runtime::Residency> find_groups(const device::Session& session, const TraversalPlan& plan,
                                       runtime::BuiltKernel& kernel, const RunOptions& options);

runtime::DispatchLimits limits_of(const TraversalPlan& plan, const RunOptions& options,
                                  const runtime::Residency& groups);

// Returns a span for each wave, whose `iteration` is its number. A span begins where the previous one ends, so it
// includes the conversion of the frontier and the gap between launches. `first` (where the first one begins) and `ends`
// are ticks.
std::vector<runtime::TaskSpan> wave_spans(runtime::DeviceClock clock,
                                          std::span<const runtime::SliceTimes> launches, std::uint64_t first,
                                          std::span<const std::uint64_t> ends);

// Returns a timeline with a lane for launches, a lane for waves, and the sizes of frontiers as curves.
runtime::Timeline timeline_of(std::span<const WaveRecord> waves, const runtime::Trace& trace,
                              runtime::DeviceClock clock, bool persistent);

// A traversal on several ranks (kernels/frontier/ranks.cl): the device of each has the rows of its vertices and works on
// its part of every wave; ranks send each other improved vertices.

// Runs all waves together with the other ranks. Throws device::Refused, also for errors of ranks and an interrupt.
TraversalOutcome traverse_on_ranks(const device::Session& session, const TraversalPlan& plan,
                                   std::uint32_t groups, const RunOptions& options,
                                   runtime::Monitor& monitor);

// Returns on rank 0 the results of all ranks. Throws device::Refused.
TraversalResults gather_results(const device::Session& session, const TraversalPlan& plan,
                                ranks::Ranks& ranks);

} // namespace tidegate::traversal
