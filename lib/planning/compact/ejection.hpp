// Saves groups: one is dissolved and its items, the pool, are fitted in elsewhere.
//
// An item that fits nowhere pushes others out, which enter the pool in its stead: those that are cheapest to
// push out, where an item is the dearer the larger it is and the more often it found no place (Nagata and
// Braysy, Operations Research Letters 37(5), 2009, who save vehicles so). In between, items move and trade
// places at random, and groups change their order where no dependency forbids it.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>

namespace tidegate::planning {

// `packing` with as many groups less as could be saved; stops at `lower` groups or when `effort` is used up,
// of which a step is an item looked at.
Packing with_groups_saved(const PackingProblem& problem, Packing packing, std::uint64_t lower,
                          std::uint64_t& effort);

} // namespace tidegate::planning
