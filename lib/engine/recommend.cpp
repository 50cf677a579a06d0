#include "engine/recommend.hpp"

#include "engine/kinds.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/policy/documents.hpp>

namespace tidegate::engine {

Result<std::uint32_t> queued_items(std::span<const ProgramWave> waves, std::uint32_t iterations) {
  std::uint64_t items = saturating_sum(waves, &ProgramWave::items); // tiles, and published items of queues
  const std::uint64_t repeated = saturating_sum(
      waves, [](const ProgramWave& wave) { return wave.section == Section::each ? wave.items() : 0; });
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t all = 0;
  if (!__builtin_mul_overflow(repeated, iterations, &all)) {
    all = saturating_add(all, items - repeated);
    items = all <= most ? all : items;
  }
  if (items > most) {
    return failure(ErrorCode::overflow,
                   "the waves have more work-groups and items than 32 bits of queue_len hold",
                   "split the program, or take larger work-groups");
  }
  return static_cast<std::uint32_t>(items);
}

static std::uint64_t hit_bytes(const Job& program) { // the policy adds its own count
  return saturating_sum(program.buffers,
                        [](const ProgramBuffer& buffer) { return buffer.is_unordered() ? buffer.bytes : 0; });
}

Result<policy::LaunchRequest> launch_request(const Job& program, const policy::AdapterLimits& adapter,
                                             std::uint64_t budget_bytes, const HotCounts& hot) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t tiles = saturating_sum(
      program.waves, [](const ProgramWave& wave) { return std::uint64_t{wave.range.tiles()}; });
  const std::uint64_t hit_capacity = saturating_sum(hits_before(program), &HitsReport::capacity);
  std::uint64_t edges = 0;
  for (const ResolvedDependency& dependency : program.dependencies) {
    const std::uint64_t before = program.waves[dependency.before].range.tiles();
    const std::uint64_t after = program.waves[dependency.after].range.tiles();
    edges = saturating_add(edges, dependency.tile_local() ? after : before * after);
  }
  policy::LaunchRequest request;
  TIDEGATE_TRY(request.queue_len, queued_items(program.waves, program.iterations));
  request.max_workgroup_size_x = adapter.max_workgroup_size_x;
  request.max_compute_workgroups_per_dimension = adapter.max_compute_workgroups_per_dimension;
  request.max_compute_invocations_per_workgroup = adapter.max_compute_invocations_per_workgroup;
  // The capacities of lists follow from the policy before (work/hits.cpp); without lists 0 would ask for one.
  request.requested_hit_capacity =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(hit_capacity, 1, most));
  request.graph_node_count = static_cast<std::uint32_t>(std::min(tiles, most));
  request.graph_edge_count = static_cast<std::uint32_t>(std::min(edges, most));
  request.hot_opcode_count = hot.opcodes;
  request.hot_window_count = hot.windows;
  request.device_memory_budget_bytes = budget_bytes;
  return request;
}

static Result<Recommendation> asked(const policy::LaunchPolicy& policy,
                                    const policy::LaunchRequest& request) {
  auto decided = policy::decide(policy, request);
  if (!decided && decided.error().code == ErrorCode::device_out_of_memory) {
    decided.error().fix = "raise device_memory_budget_bytes, or make buffers smaller";
  }
  TIDEGATE_TRY(const policy::LaunchDecision decision, std::move(decided));
  return Recommendation{.request = request,
                        .effective = decision.effective,
                        .launch = decision.recommendation,
                        .reasons = policy::explain(policy, request, decision)};
}

Result<Recommendation> recommend(const Job& program, const policy::AdapterLimits& adapter,
                                 std::uint64_t budget_bytes, const HotCounts& hot) {
  TIDEGATE_TRY(const policy::LaunchRequest request, launch_request(program, adapter, budget_bytes, hot));
  return asked(program.policy, request);
}

Result<Recommendation> with_memory(const Recommendation& earlier, const Job& program,
                                   std::uint64_t resident_bytes) {
  policy::LaunchRequest request = earlier.request;
  request.resident_device_bytes = resident_bytes - std::min(resident_bytes, hit_bytes(program));
  if (request.device_memory_budget_bytes !=
      0) { // which the layout keeps; the policy's own count may be larger
    const std::uint64_t scratch =
        std::uint64_t{earlier.launch.hit_capacity} * program.policy.scratch_bytes_per_hit;
    const std::uint64_t budget = request.device_memory_budget_bytes;
    request.resident_device_bytes =
        std::min(request.resident_device_bytes, budget - std::min(budget, scratch));
  }
  return asked(program.policy, request);
}

policy::LaunchRecommendation as_promoted(policy::LaunchRecommendation recommendation,
                                         policy::ExecutionMode mode, Promotion promoted) {
  recommendation.execution_mode = mode;
  recommendation.promote_hot_opcodes = includes(promoted, Promotion::opcodes);
  recommendation.promote_hot_windows = includes(promoted, Promotion::windows);
  return recommendation;
}

namespace {

std::uint32_t clipped(std::uint64_t count) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

// Items from which an op is hot: a tenth of all, or as many as are compiled for themselves.
std::uint64_t least_of_hot(const Job& program, std::uint64_t all) {
  return std::clamp<std::uint64_t>((all + 9) / 10, 1, std::max(program.policy.jit_queue_len_threshold, 1U));
}

Promotion both(bool windows, bool opcodes) {
  return static_cast<Promotion>((windows ? 1 : 0) + (opcodes ? 2 : 0));
}

} // namespace

std::vector<std::uint32_t> hot_opcodes(const Job& program) {
  std::vector<std::uint64_t> tiles(program.ops.size()); // in all iterations
  for (const ProgramWave& wave : program.waves) {
    tiles[wave.op] += wave.range.tiles() * program.runs_of(wave);
  }
  const std::uint64_t all = std::accumulate(tiles.begin(), tiles.end(), std::uint64_t{0});
  const std::uint64_t least = least_of_hot(program, all);
  std::vector<std::uint32_t> ops(tiles.size());
  std::iota(ops.begin(), ops.end(), 0U);
  std::erase_if(ops, [&](std::uint32_t op) { return tiles[op] < least; });
  std::ranges::stable_sort(ops, std::ranges::greater(), [&](std::uint32_t op) { return tiles[op]; });
  return ops;
}

// Hot ops count by their tiles, those of queues by their items.
HotCounts hot_counts(const Job& program, const std::vector<Window>& windows) {
  std::map<std::string, std::uint64_t> work; // by op of the document
  std::uint64_t all = 0;
  const auto add = [&](const std::string& op, std::uint64_t items) {
    work[op] = saturating_add(work[op], items);
  };
  for (const ProgramWave& wave : program.waves) {
    const std::uint64_t items = wave.items() * program.runs_of(wave);
    all = saturating_add(all, items);
    if (!wave.queue) {
      add(fmt::format("{}", wave.op), items);
      continue;
    }
    // As many items of each op as were given, in proportion.
    std::map<std::uint32_t, std::uint64_t> given;
    for (const QueueItem& item : wave.queue->items) {
      ++given[item.op_handle];
    }
    for (const auto& [handle, count] : given) {
      const double share = static_cast<double>(count) / static_cast<double>(wave.queue->items.size());
      add("queue " + wave.queue->op_names[handle],
          static_cast<std::uint64_t>(share * static_cast<double>(items)));
    }
  }
  const std::uint64_t least = least_of_hot(program, all);
  std::uint64_t pairs = 0;
  for (const Window& window : windows) {
    pairs += (window.waves.size() - 1) * program.runs_of(program.waves[window.waves.front()]);
  }
  const auto hot = std::ranges::count_if(work, [least](const auto& op) { return op.second >= least; });
  return {.opcodes = clipped(static_cast<std::uint64_t>(hot)), .windows = clipped(pairs)};
}

PromotionChoice choose_promotion(std::optional<Promotion> asked_for, const Recommendation& recommendation,
                                 std::vector<Window> windows, std::vector<std::uint32_t> ops) {
  const Promotion wanted = asked_for.value_or(
      both(recommendation.launch.promote_hot_windows, recommendation.launch.promote_hot_opcodes));
  std::string reason = asked_for ? "requested" : "as the launch policy says, by the counts of its evidence";
  if (includes(wanted, Promotion::windows) && windows.empty()) {
    reason += "; no waves go on with each other's tiles";
  }
  if (!includes(wanted, Promotion::windows)) {
    windows.clear();
  }
  if (!includes(wanted, Promotion::opcodes)) {
    ops.clear();
  }
  const auto promoted = both(!windows.empty(), !ops.empty());
  return {.promoted = promoted,
          .reason = std::move(reason),
          .windows = std::move(windows),
          .ops = std::move(ops)};
}

} // namespace tidegate::engine
