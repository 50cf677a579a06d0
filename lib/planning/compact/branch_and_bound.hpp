// Branch and bound over groups: chooses the first group, then the second, and so on.
//
// A node is a set of packed items and the number of groups they take; its branches are the *maximal* loads of
// the next group, because moving an item that still fits into an earlier group never hurts. The search takes
// the next node from each depth in turn, the most promising of that depth first, which finds good packings
// early and still ends in a proof; it never expands the same set of items twice (branch, bound and remember:
// Sewell and Jacobson, INFORMS Journal on Computing 24(3), 2012; for BPP-P Pereira, EJOR 250(3), 2016).
#pragma once
#include "planning/compact/bounds.hpp"
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <span>

namespace tidegate::planning {

// For each item, the items that can replace it with advantage: at least as large, and with all of its
// successors among their own (Jackson's dominance rule, Management Science 2(3), 1956). Between equals the
// smaller index wins, so that the relation has no cycles. Empty for problems too large to compare every pair.
class Replacements {
public:
  Replacements(const PackingProblem& problem, const PackingProblem& reverse);

  std::span<const std::uint32_t> of(std::uint32_t item) const {
    return lists_.items.empty() ? std::span<const std::uint32_t>() : lists_[item];
  }

private:
  ItemLists lists_;
};

struct SearchLimits {
  std::uint64_t loads_per_node = 0; // per node; a search that never reaches this limit is exact
  std::uint64_t effort = 0;         // steps: one per item visited
};

struct SearchResult {
  Packing packing;        // the best found; 0 groups if none has fewer than `groups`
  bool exhausted = false; // no packing is better than `packing` or, without one, than `groups`
  std::uint64_t effort = 0;
};

// Searches for packings with fewer than `groups` groups until the bound is met, the search space is exhausted
// or the effort is used up.
SearchResult branch_and_bound(const PackingProblem& problem, const LowerBounds& bounds,
                              const Replacements& replacements, std::uint32_t groups,
                              const SearchLimits& limits);

} // namespace tidegate::planning
