// Running a traversal on a device: one persistent launch in bounded slices, or a launch for each step; not
// installed with the others.
#pragma once
#include "device/monitor.hpp"
#include "engine/run_report.hpp"
#include "engine/traversal/replay.hpp"
#include "engine/traversal/resident.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace tidegate::traversal {

// Numbers of work-groups: resident together, and in a launch.
struct FrontierGroups {
  std::uint32_t resident = 0; // 0: nothing waits inside a launch
  std::uint32_t groups = 1;
};

// Drivers for CPUs compile a kernel in its first launch: launches that do nothing make them compile before
// the traversal. Throws device::Refused.
void compile_now(const device::Session& session, engine::BuiltKernel& kernel,
                 const FrontierGeometry& geometry, const FrontierGroups& groups);

struct DispatchLimits {
  std::uint64_t slice_ns = 150'000'000;
  std::chrono::steady_clock::time_point deadline;
  FrontierGroups groups;
  std::uint32_t arrivals_per_barrier = 0; // 0: launches are one step each
  std::uint32_t most_polls = 0;
};

struct TraversalOutcome {
  engine::RunStatus status = engine::RunStatus::done; // or deadline, interrupted, hang
  std::vector<WaveRecord> waves;
  std::uint64_t launches = 0;
  std::uint64_t sync_points = 0; // waits of the host
  std::uint64_t bytes_read_back = 0;
  std::uint64_t dispatch_ns = 0;
  std::vector<std::uint64_t> slices_ns;
  std::vector<engine::StuckGroup> stuck_groups;
  bool waited = false;    // time was up while work-groups waited for each other
  double rank_change = 0; // of pagerank: of all ranks in the last iteration, in sum
};

// From the first frontier to the last. Throws device::Refused.
TraversalOutcome traverse(const device::Session& session, engine::BuiltKernel& kernel,
                          const ResidentGraph& resident, const FrontierGeometry& geometry,
                          const DispatchLimits& limits, engine::Monitor& monitor);

// Returns the number of work-groups of the persistent kernel that are resident together. Throws device::Refused.
std::uint32_t resident_groups(const device::Session& session, const device::DeviceInfo& device,
                              engine::BuiltKernel& kernel, const FrontierGeometry& geometry);

} // namespace tidegate::traversal
