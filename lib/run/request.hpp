// A program as the launch policy sees it.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_policy.hpp>
#include <tidegate/run/resolved_program.hpp>

#include <cstdint>

namespace tidegate::run {

struct Adapter {
  std::uint32_t max_workgroup_size_x = 0;
  std::uint32_t max_compute_workgroups_per_dimension = 0;
  std::uint32_t max_compute_invocations_per_workgroup = 0;
};

// The tiles of all iterations are the items of the queue, those of one the nodes of the graph, and
// dependencies between them its edges: every tile of a wave waits for every tile of the wave before it, or
// for one where the dependency is tile-local. Nothing is hot: that is what earlier runs would have measured.
// Counts are cut at what the fields hold.
policy::LaunchRequest launch_request(const ResolvedProgram& program, const Adapter& adapter,
                                     std::uint64_t resident_bytes, std::uint64_t budget_bytes);

} // namespace tidegate::run
