// Local search: repairs a packing that respects every dependency but overfills some groups.
//
// An item may move to any group between its last predecessor and its first successor (its slack), and two
// items may swap within theirs. Each step takes the best such move out of an overfilled group, even if it
// makes things worse, and forbids the reverse move for a while (tabu search: Glover, ORSA Journal on
// Computing 1(3), 1989).
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <span>

namespace tidegate::planning {

// Moves items until every group fits or `effort` is used up; deducts a step per move considered. Returns true
// if every group fits; otherwise the packing is left in an intermediate state.
bool repair(const PackingProblem& problem, Packing& packing, std::uint64_t& effort);

// The objective `peak`: lowers the peak by bisection without more groups. Tries a capacity between the
// largest item (or the mean group) and the current peak with list schedules, and otherwise repairs the
// current packing to fit it; a packing that fits sets the new peak. `tail` as in GroupBounds. Uses up to
// `effort` steps.
Packing lower_peak(PackingProblem problem, std::span<const std::uint32_t> tail, Packing packing,
                   std::uint64_t effort);

// Saves groups: dissolves a group and fits its items, the pool, into the others.
//
// An item that fits nowhere ejects others into the pool: those that are cheapest to eject, where the price of
// an item grows with its size and with the number of times it found no place (Nagata and Braysy, Operations
// Research Letters 37(5), 2009, who save vehicles in this way). In between, items move and swap at random,
// and groups change their order as far as dependencies permit.

// Returns `packing` with as many groups removed as possible; stops at `lower` groups or when `effort` is used
// up. A step is one item visited.
Packing with_groups_saved(const PackingProblem& problem, Packing packing, std::uint64_t lower,
                          std::uint64_t& effort);

} // namespace tidegate::planning
