#include <tidegate/compiler/recommend.hpp>
#include <tidegate/policy/policy_error.hpp>

#include <algorithm>

namespace tidegate::compiler {
namespace {

// Hit capacities are a multiple of the queue's length and must stay within 32 bits.
constexpr std::uint64_t longest_queue = std::uint64_t{1} << 28U;

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

} // namespace

policy::LaunchRequest launch_request(const ResolvedProgram& program, const Adapter& adapter,
                                     std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                     const HotCounts& hot) {
  std::uint64_t tiles = 0;
  std::uint64_t items = 0; // tiles, and of queues what was published
  std::uint64_t repeated = 0;
  for (const ProgramWave& wave : program.waves) {
    const std::uint64_t own = wave.queue ? wave.queue->published_items : wave.range.tiles();
    tiles = saturating_add(tiles, wave.range.tiles());
    items = saturating_add(items, own);
    repeated += wave.phase == WavePhase::each ? own : 0;
  }
  std::uint64_t edges = 0;
  for (const ResolvedDependency& dependency : program.dependencies) {
    const std::uint64_t before = program.waves[dependency.before].range.tiles();
    const std::uint64_t after = program.waves[dependency.after].range.tiles();
    edges = saturating_add(edges, dependency.tile_local() ? after : before * after);
  }
  policy::LaunchRequest request;
  std::uint64_t queued = 0;
  if (__builtin_mul_overflow(repeated, program.iterations, &queued)) {
    queued = longest_queue;
  }
  queued = saturating_add(queued, items - repeated);
  request.queue_len = static_cast<std::uint32_t>(std::min(queued, longest_queue));
  request.max_workgroup_size_x = adapter.max_workgroup_size_x;
  request.max_compute_workgroups_per_dimension = adapter.max_compute_workgroups_per_dimension;
  request.max_compute_invocations_per_workgroup = adapter.max_compute_invocations_per_workgroup;
  request.requested_hit_capacity = 1; // waves write to buffers, not to a list of hits
  request.graph_node_count = static_cast<std::uint32_t>(std::min(tiles, longest_queue));
  request.graph_edge_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(edges, ~std::uint32_t{0}));
  request.hot_opcode_count = hot.opcodes;
  request.hot_window_count = hot.windows;
  request.resident_device_bytes = resident_bytes;
  request.device_memory_budget_bytes = budget_bytes;
  return request;
}

Result<Recommendation> recommend(const ResolvedProgram& program, const Adapter& adapter,
                                 std::uint64_t resident_bytes, std::uint64_t budget_bytes,
                                 const HotCounts& hot) {
  const policy::LaunchRequest request = launch_request(program, adapter, resident_bytes, budget_bytes, hot);
  const auto decision = policy::decide(program.policy, request);
  if (!decision) {
    return tl::unexpected(policy::to_error(decision.error()));
  }
  return Recommendation{
      .launch = decision->recommendation,
      .topology_evidence = policy::topology_evidence(decision->effective, decision->recommendation),
      .promotion_evidence =
          policy::promotion_evidence(program.policy, decision->effective, decision->recommendation),
      .frontier_density_bps = decision->effective.frontier_density_bps,
      .reasons = policy::explain(program.policy, request, *decision)};
}

} // namespace tidegate::compiler
