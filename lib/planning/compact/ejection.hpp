// Saves groups: dissolves a group and fits its items, the pool, into the others.
//
// An item that fits nowhere ejects others into the pool: those that are cheapest to eject, where the price of
// an item grows with its size and with the number of times it found no place (Nagata and Braysy, Operations
// Research Letters 37(5), 2009, who save vehicles in this way). In between, items move and swap at random,
// and groups change their order as far as dependencies permit.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>

namespace tidegate::planning {

// Returns `packing` with as many groups removed as possible; stops at `lower` groups or when `effort` is used
// up. A step is one item visited.
Packing with_groups_saved(const PackingProblem& problem, Packing packing, std::uint64_t lower,
                          std::uint64_t& effort);

} // namespace tidegate::planning
