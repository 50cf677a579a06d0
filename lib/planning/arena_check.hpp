// Checks an arena plan from the definitions, in plain code that shares nothing with the planner but the
// structs.
#pragma once

#include <tidegate/planning/arena.hpp>

#include <optional>
#include <string>

namespace tidegate::planning {

// The first violation in words, buffers by index, or nothing when the plan is right:
//   - one offset for each buffer, each a multiple of the alignment;
//   - buffers alive together share no byte;
//   - the height is the end of the topmost buffer, within the capacity; an empty buffer lies within the
//   height;
//   - the lower bound is the largest sum of sizes alive at one moment;
//   - `optimal` is claimed exactly when the height is the bound or the proof is a search, and the proof fits
//   it; an exhausted search has nodes; without a capacity a plan that is not optimal is one that was given
//   up.
// That a search has ruled out everything lower cannot be checked here and is taken on trust. O(n log n).
std::optional<std::string> check_arena(const ArenaProblem& problem, const ArenaPlan& plan);

} // namespace tidegate::planning
