// What the launch policy says of a program.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::compiler {

struct Adapter {
  std::uint32_t max_workgroup_size_x = 0;
  std::uint32_t max_compute_workgroups_per_dimension = 0;
  std::uint32_t max_compute_invocations_per_workgroup = 0;
};

// What of a program runs often.
struct HotCounts {
  std::uint32_t opcodes = 0;
  std::uint32_t windows = 0;
};

// The program as the policy sees it. The tiles of all iterations are the items of the queue, those of one the
// nodes of the graph, and dependencies between them its edges: every tile of a wave waits for every tile of
// the wave before it, or for one where the dependency is tile-local. Counts are cut at what the fields hold.
policy::LaunchRequest launch_request(const ResolvedProgram& program, const Adapter& adapter,
                                     std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                     const HotCounts& hot = {});

// The policy's answer and what it rests on.
struct Recommendation {
  policy::LaunchRecommendation launch;
  policy::TopologyEvidence topology_evidence;
  policy::PromotionEvidence promotion_evidence;
  std::uint64_t frontier_density_bps = 0;
  std::vector<policy::TraceStep> reasons; // step by step
};

// Errors: those of the policy.
Result<Recommendation> recommend(const ResolvedProgram& program, const Adapter& adapter,
                                 std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                 const HotCounts& hot = {});

} // namespace tidegate::compiler
