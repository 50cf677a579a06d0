// The strategy `compact`: as few groups as possible under the budget, never more than `layered` needs.
//
// List schedules forwards and backwards give a first answer, lower bounds say how far it can be from the best
// one. What is still open then is split into parts that no group mixes, and for each of them in turn
//
//     branch and bound     looks for a quick proof,
//     schedules by load    fill a group at a time, with many different values of a wave,
//     ejection             dissolves a group and fits its waves in elsewhere,
//     branch and bound     finds a better plan, or proves that there is none.
//
// Everything is deterministic: the search counts its steps and not the time.
#pragma once
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>

namespace tidegate::planning {

// Steps of the search; a step looks at one wave once. One million are some ten milliseconds.
inline constexpr std::uint64_t default_effort = 100'000'000;

struct CompactOptions {
  enum class Objective : std::uint8_t {
    groups, // the fewest groups
    peak,   // as many groups as for `groups`, and the largest one as small as possible
  };
  Objective objective = Objective::groups;
  std::uint64_t effort = default_effort; // 0: list schedules only; a third on top for the peak
};

// Never has more groups than plan_layered. Errors: those of plan_layered.
PlanResult<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options = {});

} // namespace tidegate::planning
