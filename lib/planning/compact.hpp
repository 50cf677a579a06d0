// The strategy `compact`: as few groups as possible under the budget, never more than `layered`.
//
// List schedules in both directions of time yield a first plan, and lower bounds limit its distance from the
// optimum. What remains open is split into parts that no group mixes, and for each part in turn
//
//     branch and bound     looks for a quick proof,
//     schedules by load    fill a group at a time, with many different values of a wave,
//     ejection             dissolves a group and fits its waves in elsewhere,
//     branch and bound     finds a better plan, or proves that there is none.
//
// Everything is deterministic: the search counts steps, not time.
#pragma once
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>

namespace tidegate::planning {

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
PlanResult<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options = {});

} // namespace tidegate::planning
