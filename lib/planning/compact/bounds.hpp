// Weights of items that bound the number of groups from below.
//
// A *measure* weighs items so that no feasible group weighs more than the measure's capacity; so the number
// of groups is at least the total weight over the capacity. The bytes are one measure. Dual feasible
// functions of the bytes are others: they count awkward sizes for more than their share; the simplest counts
// waves over half the budget (Lueker, FOCS 1983; surveyed by Clautiaux, Alves, Valerio de Carvalho, Annals of
// Operations Research 179, 2010).
//
// A *clique* is a set of items no two of which can share a group. Chains are cliques by precedence, items
// over half the capacity by size, and the two combine: with a threshold a, an item above capacity - a
// ("full") cannot share a group with any item of at least a, so the full items and a chain of other items of
// at least a all need separate groups.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <vector>

namespace tidegate::planning {

struct Measure {
  std::vector<std::uint64_t> weight; // by item; the sum is below 2^64
  std::uint64_t capacity = 1;        // no feasible group weighs more
};

// Returns the bytes, the items over half the capacity, and the dual feasible functions with the largest total
// weight. For large problems, only the first two.
std::vector<Measure> measures(const PackingProblem& problem);

struct Clique {
  std::vector<std::uint8_t> full; // 1 for an item that shares no group with an item over the threshold
  std::vector<std::uint32_t>
      above; // the longest chain of other items over the threshold that ends above an item
  std::vector<std::uint32_t> below;  // the longest one that begins after it
  std::vector<std::uint8_t> counted; // 1 for these other items
};

// Returns the cliques of the thresholds that yield the largest ones.
std::vector<Clique> cliques(const PackingProblem& problem);

// Lower bounds on the number of groups before, after and around each item.
//
//     groups   | h before |    the items in between   | t after |
//
// Items with head >= h and tail >= t must all fit in between, so under every measure h + t + ceil(weight /
// capacity) groups are needed. The head of an item is itself such a bound over its ancestors, and cliques
// among them count too (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012; for assembly lines Scholl
// and Becker, EJOR 168(3), 2006).

// Upper bound on items with a bit matrix of ancestors: n^2 / 8 bytes, and about n^2 steps per measure.
inline constexpr std::uint32_t most_items_with_closure = 3000;

struct GroupBounds {
  std::vector<std::uint32_t> head; // lower bound on groups strictly before the item's
  std::vector<std::uint32_t> tail; // lower bound on groups strictly after the item's
  std::uint64_t groups = 0;        // lower bound on all groups
};

// All lower bounds; they hold for every packing.
struct LowerBounds {
  std::vector<Measure> measures;
  std::vector<Clique> cliques;
  GroupBounds groups;
};

// Heads by the longest path alone.
std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem);

// `reverse` is mirrored(problem).
LowerBounds lower_bounds(const PackingProblem& problem, const PackingProblem& reverse);

// Returns the bounds of the mirrored problem.
LowerBounds mirrored(LowerBounds bounds);

} // namespace tidegate::planning
