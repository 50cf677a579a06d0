// How many groups a packing needs at least, before, after and around each item.
//
//     groups   | h before |   whatever lies between   | t after |
//
// Items with head >= h and tail >= t must all fit between, so under every measure h + t + ceil(weight /
// capacity) groups are needed; the head of an item is itself such a bound over its ancestors, and cliques
// among them count too (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012; for assembly lines Scholl
// and Becker, EJOR 168(3), 2006).
#pragma once

#include <tidegate/planning/measures.hpp>
#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::planning {

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
