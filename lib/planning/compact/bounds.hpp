// Ways to weigh items that bound a packing from below.
//
// A *measure* weighs items so that no feasible group weighs more than its capacity; then all groups together
// weigh at most their number times that. The bytes are one. Dual feasible functions of the bytes are others:
// they count awkward sizes for more than their share, "waves over half the budget" being the plainest
// (Lueker, FOCS 1983; surveyed by Clautiaux, Alves, Valerio de Carvalho, Annals of Operations Research 179,
// 2010).
//
// A *clique* is a set of items no two of which can share a group. Chains are cliques by precedence, items
// over half the capacity by size, and the two join: with a threshold a, every item above capacity - a
// ("full") is alone among the items of at least a, so the full items and a chain of other items of at least a
// all need groups of their own.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <vector>

namespace tidegate::planning {

struct Measure {
  std::vector<std::uint64_t> weight; // by item; all of them add up to less than 2^64
  std::uint64_t capacity = 1;        // no group that fits its bytes weighs more
};

// The bytes, the items over half the capacity, and those dual feasible functions under which all items
// together weigh most. Large problems get the first two only.
std::vector<Measure> measures(const PackingProblem& problem);

struct Clique {
  std::vector<std::uint8_t> full; // 1 for an item that shares with no other item over the threshold
  std::vector<std::uint32_t>
      above; // the longest chain of other items over the threshold that ends above an item
  std::vector<std::uint32_t> below;  // and one that begins below it
  std::vector<std::uint8_t> counted; // 1 for these other items
};

// The cliques of those thresholds that give the largest ones.
std::vector<Clique> cliques(const PackingProblem& problem);

// How many groups a packing needs at least, before, after and around each item.
//
//     groups   | h before |   whatever lies between   | t after |
//
// Items with head >= h and tail >= t must all fit between, so under every measure h + t + ceil(weight /
// capacity) groups are needed; the head of an item is itself such a bound over its ancestors, and cliques
// among them count too (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012; for assembly lines Scholl
// and Becker, EJOR 168(3), 2006).

// Items with bits for ancestors up to here: n^2 / 8 bytes and about n^2 steps for each measure.
inline constexpr std::uint32_t most_items_with_closure = 3000;

struct GroupBounds {
  std::vector<std::uint32_t> head; // groups strictly before the item's, at least
  std::vector<std::uint32_t> tail; // groups strictly after the item's, at least
  std::uint64_t groups = 0;        // all groups, at least
};

// Whatever is known about how little a packing can do with. All of it holds for every packing.
struct LowerBounds {
  std::vector<Measure> measures;
  std::vector<Clique> cliques;
  GroupBounds groups;
};

// By the longest path alone.
std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem);

// `reverse` is mirrored(problem).
LowerBounds lower_bounds(const PackingProblem& problem, const PackingProblem& reverse);

// The same for the mirrored problem.
LowerBounds mirrored(LowerBounds bounds);

} // namespace tidegate::planning
