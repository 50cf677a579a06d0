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

#include <tidegate/planning/packing_problem.hpp>

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

} // namespace tidegate::planning
