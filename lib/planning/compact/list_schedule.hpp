// List schedules: fast packings by a fixed order of preference.
//
// Two forms. *Group by group*: fill a group with the most preferred items that are ready and fit, close it,
// and only then release what waited for its items. *Item by item*: place each item into the earliest group
// after its predecessors that has room. Both find their next choice in a tournament tree in logarithmic time.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

// `preference` lists the items, most preferred first.
Packing schedule_by_group(const PackingProblem& problem, std::span<const std::uint32_t> preference);

// `preference` must list predecessors before their successors.
Packing schedule_by_item(const PackingProblem& problem, std::span<const std::uint32_t> preference);

// Longest tail first, then largest, then lowest wave; lists predecessors first.
std::vector<std::uint32_t> by_tail_then_size(const PackingProblem& problem,
                                             std::span<const std::uint32_t> tail);

// Largest first, then longest tail: a group takes the largest ready item that fits, which is best fit.
std::vector<std::uint32_t> by_size_then_tail(const PackingProblem& problem,
                                             std::span<const std::uint32_t> tail);

} // namespace tidegate::planning
