// Splits a packing problem into parts that no group ever mixes.
//
// Two items may meet in a group when both fit it and neither depends on the other; a part holds the items
// that can meet, directly or through others. Waves before and after a point that all of them wait for are in
// different parts, and where budgets are tight a wave that can meet no other is a part of its own. Parts can
// be packed one by one: what comes out has the fewest groups if each part has, unless no order of the groups
// keeps the dependencies between the parts.
#pragma once

#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::planning {

// Row i has the items that may meet item i.
BitMatrix may_meet(const PackingProblem& problem);

// The items of each part, in rising order. Looks at every pair of items: for up to most_items_with_closure.
ItemLists parts(const PackingProblem& problem);

// Some of the items by themselves. What depends on another through items left out depends on it directly.
struct SubProblem {
  PackingProblem problem;
  std::vector<std::uint32_t> items; // the original of each, in rising order
};

SubProblem sub_problem(const PackingProblem& problem, std::vector<std::uint32_t> items);

// What a packing of the problem makes of the sub-problem; groups that this leaves empty are dropped.
Packing restricted(const Packing& packing, const SubProblem& sub);

// The groups, given in any order, in one that keeps the dependencies; nothing when there is none.
std::optional<Packing> in_order(const PackingProblem& problem, const Packing& groups);

} // namespace tidegate::planning
