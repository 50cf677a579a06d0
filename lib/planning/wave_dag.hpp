// Wave DAGs and their plans: waves with byte counts, their dependencies, and the groups that run between two
// global barriers. Declares the strategies `layered` and `compact` and the plan checker.
//
// Lists of waves are flat: a plan of a million groups needs two allocations instead of a million.
#pragma once
#include <tidegate/core/error.hpp>

#include <functional>
#include <span>

namespace tidegate::planning {

struct Wave {
  std::uint64_t frontier_bytes = 0;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t output_bytes = 0;

  friend bool operator==(const Wave&, const Wave&) = default;
};

// Wave `after` reads the output of wave `before`, so a global barrier must separate them. Both are wave
// indices, which the planners check.
struct Dependency {
  std::uint32_t before = 0;
  std::uint32_t after = 0;

  friend bool operator==(const Dependency&, const Dependency&) = default;
};

struct WaveDag {
  std::vector<Wave> waves; // fewer than 2^32
  std::vector<Dependency> dependencies;
  std::uint64_t resident_graph_bytes = 0;
  std::uint64_t budget_bytes = 0;
  std::uint64_t readback_bytes = 0;
};

// The waves of a list of groups: group g holds order[group_begin[g]] to order[group_begin[g + 1] - 1].
struct BarrierGroups {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> group_begin{0}; // one more than there are groups

  std::size_t group_count() const { return group_begin.size() - 1; }
  std::size_t global_barriers() const { return group_count() == 0 ? 0 : group_count() - 1; }
  std::span<const std::uint32_t> group(std::size_t index) const {
    return std::span(order).subspan(group_begin[index], group_begin[index + 1] - group_begin[index]);
  }

  friend bool operator==(const BarrierGroups&, const BarrierGroups&) = default;
};

// Groups that fit the budget, with the figures for a launch. The "fused bytes" of a wave are frontier + 4 *
// scratch + output; those of a group are their sum over its waves.
struct MemoryPlan : BarrierGroups {
  std::vector<std::uint64_t> group_fused_bytes;
  std::uint64_t peak_frontier_bytes = 0; // largest sum over a group; likewise the next two
  std::uint64_t peak_scratch_bytes = 0;
  std::uint64_t peak_output_bytes = 0;
  std::uint64_t amortized_readback_bytes = 0;
  std::uint32_t max_group_width = 0;
  std::uint64_t lower_bound_groups = 0; // no plan of this DAG has fewer groups
  bool optimal = false;                 // proved: the plan has lower_bound_groups groups

  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

// Planners check in this order: the dependencies as listed, cycles, the budget of the graph, then wave by
// wave. The fields of each code:
//
//   invalid_wave          wave_count, before, after
//   self_dependency       wave
//   cycle                 unscheduled_waves, cycle, before, after: the dependency to remove, from cycle.back() to cycle.front()
//   group_over_budget     required_bytes, budget_bytes, field; wave when a single one is too large
//   byte_count_overflow   field, wave: the one at which the sum overflows

// The field of group_over_budget if a single wave is too large.
inline constexpr std::string_view single_wave_bytes = "single fused frontier wave bytes";

// Names a wave in a sentence, by its index.
using WaveText = std::function<std::string(std::uint64_t)>;

// Words the message and the fix of a planner's error with these names; a long cycle is cut in the middle. Without
// `wave_text`, waves are named "wave 3".
Error worded(Error error, const WaveText& wave_text = {});

// Plans barriers without bytes: one group per layer, each wave as early as its dependencies allow, in the order in which
// waves become ready, and in the first layer by index. Time and memory are linear. Errors: invalid_wave,
// self_dependency, cycle.
Result<BarrierGroups> plan_barriers(std::uint32_t wave_count, std::span<const Dependency> dependencies);

// The strategy `layered`: the layers of plan_barriers; a wave that does not fit its group begins the next
// one. Takes linear time. Its lower bound is the best of those that cost almost nothing: the critical path,
// and for each layer the groups before it plus the groups that the remaining waves need, by bytes or as waves
// over half the budget. Errors: those of plan_barriers, group_budget and fused_bytes; group_over_budget
// {single fused frontier wave bytes}; byte_count_overflow {barrier group fused wave budget bytes}.
Result<MemoryPlan> plan_layered(const WaveDag& dag);

// The strategy `compact`: as few groups as possible under the budget, never more than `layered`. List schedules in both
// directions of time yield a first plan, and lower bounds limit its distance from the optimum. Where they differ, a local
// search varies the orders of the schedules, and an exhaustive one decides DAGs of up to about 20 waves, often of up to
// 64. Everything is deterministic: the search counts steps, not time.

// Upper bound on search steps; a step visits one wave. A million steps take about ten milliseconds.
inline constexpr std::uint64_t default_effort = 100'000'000;

struct CompactOptions {
  enum class Objective : std::uint8_t {
    groups, // the fewest groups
    peak,   // the fewest groups, with the largest one as small as possible
  };
  Objective objective = Objective::groups;
  std::uint64_t effort = default_effort; // 0: only list schedules; `peak` may use another third
};

// Never returns more groups than plan_layered. Errors: those of plan_layered.
Result<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options = {});

// Checks a plan of either strategy: recomputes every figure from its definition, with code that shares
// nothing with the planners. Returns the first violation as one sentence with indices, or nothing for a
// correct plan. If no plan fits the DAG, every plan has a violation. Takes linear time.
std::optional<std::string> first_violation(const WaveDag& dag, const MemoryPlan& plan);

// Returns the bytes that fused groups may use: the budget minus the resident graph. Errors: group_over_budget
// {resident graph bytes}.
Result<std::uint64_t> group_budget(const WaveDag& dag);

// frontier + 4 * scratch + output. Errors: byte_count_overflow {fused wave scratch bytes, fused wave bytes},
// without the wave, which only the caller knows.
Result<std::uint64_t> fused_bytes(const Wave& wave);

// Fills in all figures that follow from the groups and the DAG, except the lower bound and `optimal`. The
// groups must be a permutation of the waves that fit the budget.
void fill_figures(const WaveDag& dag, MemoryPlan& plan);

// Sums of many byte counts exceed 64 bits.
__extension__ typedef unsigned __int128 WideBytes; // __extension__: ISO C++ has no such type

// Bytes divided by the budget, rounded up. With a budget of 0 all waves have 0 bytes: one group at most.
inline std::uint64_t groups_for(WideBytes bytes, std::uint64_t budget) {
  if (bytes <= budget) {
    return bytes == 0 ? 0 : 1;
  }
  return static_cast<std::uint64_t>((bytes + budget - 1) / budget);
}

} // namespace tidegate::planning
