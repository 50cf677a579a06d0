// Local search: repairs a packing that respects every dependency and overfills some groups.
//
// An item may move to any group between its last predecessor and its first successor, its slack, and two
// items may trade places within theirs. Each step takes the best such move out of an overfilled group, even
// when it makes things worse, and forbids the way back for a while (tabu search: Glover, ORSA Journal on
// Computing 1(3), 1989). To lower the peak of a packing, the capacity is lowered and the packing repaired.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <span>

namespace tidegate::planning {

// Moves items until every group fits or `effort` is used up, of which it takes away what it used; a move
// looked at is one step. True when every group fits; otherwise the packing is left somewhere on the way.
bool repair(const PackingProblem& problem, Packing& packing, std::uint64_t& effort);

// The objective `peak`: with the number of groups settled, the smallest capacity that still does.
//
// The idea: bisection. A capacity between the largest item (or the mean group) and the present peak is tried
// with list schedules, and failing these the present packing is repaired to fit it; what fits becomes the new
// peak.

// A packing with as many groups as `packing` and a peak that is no higher. `tail` as in GroupBounds. Uses up
// to `effort` steps.
Packing lower_peak(PackingProblem problem, std::span<const std::uint32_t> tail, Packing packing,
                   std::uint64_t effort);

} // namespace tidegate::planning
