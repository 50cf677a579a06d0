// Weights of items that bound the number of groups from below.
//
// A *measure* weighs items so that no feasible group weighs more than the measure's capacity; so the number
// of groups is at least the total weight over the capacity. One measure is the bytes, the other counts waves
// over half the budget (Lueker, FOCS 1983). More measures of its family (dual feasible functions), cliques of
// waves that cannot meet, and windows between both ends of time proved a few more plans of generated DAGs and
// improved none (scripts/bench/RESULTS.md).
#pragma once
#include "planning/compact/problem.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tidegate::planning {

struct Measure {
  std::vector<std::uint64_t> weight; // by item; the sum is below 2^64
  std::uint64_t capacity = 1;        // no feasible group weighs more
};

std::array<Measure, 2> measures(const PackingProblem& problem);

// Lower bounds on the number of groups before and after each item, and on all groups.
//
// Items with head >= h must all fit after the first h groups, so under every measure h + ceil(weight /
// capacity) groups are needed; the same holds for tails. The head of an item is itself such a bound over its
// ancestors (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012; for assembly lines Scholl and Becker,
// EJOR 168(3), 2006).

// Upper bound on items with a bit matrix of ancestors: n^2 / 8 bytes, and about n^2 steps per measure.
inline constexpr std::uint32_t most_items_with_closure = 3000;

struct GroupBounds {
  std::vector<std::uint32_t> head; // lower bound on groups strictly before the item's
  std::vector<std::uint32_t> tail; // lower bound on groups strictly after the item's
  std::uint64_t groups = 0;        // lower bound on all groups
};

// All lower bounds; they hold for every packing.
struct LowerBounds {
  std::array<Measure, 2> measures;
  GroupBounds groups;
};

// Heads by the longest path alone.
std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem);

// `reverse` is mirrored(problem).
LowerBounds lower_bounds(const PackingProblem& problem, const PackingProblem& reverse);

// Returns the bounds of the mirrored problem.
LowerBounds mirrored(LowerBounds bounds);

} // namespace tidegate::planning
