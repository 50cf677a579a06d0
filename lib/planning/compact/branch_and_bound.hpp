// Branch and bound over groups: what goes into the first group, then into the second, and so on.
//
// A node is a set of packed items and the number of groups they took; its branches are the *maximal* loads of
// the next group, since an item that still fits never does harm in an earlier group. The next node to look at
// is taken from each depth in turn, the most promising of that depth first, which finds good packings early
// and still ends in a proof; sets of items seen before are not looked at twice (branch, bound and remember:
// Sewell and Jacobson, INFORMS Journal on Computing 24(3), 2012; for BPP-P Pereira, EJOR 250(3), 2016).
#pragma once
#include "planning/compact/bounds.hpp"
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <span>

namespace tidegate::planning {

// Which items could take an item's place to advantage: no smaller, and waited for by everything that waits
// for the item (Jackson's dominance rule, Management Science 2(3), 1956). Between equals the smaller index
// goes first, so that the relation has no circles. Empty for problems too large to compare every pair.
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
  std::uint64_t loads_per_node = 0; // tried from one node; a search that has not hit this limit is exact
  std::uint64_t effort = 0;         // steps: an item looked at is one
};

struct SearchResult {
  Packing packing;        // the best found, with no groups when none is below `groups`
  bool exhausted = false; // nothing better than `packing`, or without one than `groups`, exists
  std::uint64_t effort = 0;
};

// Looks for packings with fewer than `groups` groups until there are as few as the bounds allow, the search
// space is used up or the effort is.
SearchResult branch_and_bound(const PackingProblem& problem, const LowerBounds& bounds,
                              const Replacements& replacements, std::uint32_t groups,
                              const SearchLimits& limits);

} // namespace tidegate::planning
