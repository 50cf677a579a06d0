// The group that is worth most, when every item has a value: a knapsack in which no item meets an ancestor of
// its own. Column generation asks for it to find the groups that its linear programme lacks ("pricing").
#pragma once

#include <tidegate/planning/packing_problem.hpp>
#include <tidegate/planning/parts.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

using ItemSet = std::vector<std::uint32_t>;

class GroupPricing {
public:
  static bool can_price(const PackingProblem& problem);

  // Bytes times the items of no bytes must be less than 2^64: see can_price.
  explicit GroupPricing(const PackingProblem& problem);

  // From each item a group grown greedily; those worth more than `least`, most valuable first.
  std::vector<ItemSet> grown_groups(std::span<const double> value, double least, std::uint64_t& effort) const;

  struct Best {
    double value = 0;  // no group is worth more, when exact; at least `least`
    bool exact = true; // false: the effort was used up
    ItemSet group;     // of that value; empty when no group is worth more than `least`
  };
  // With whole numbers up to 2^53 in all for values the result is exact, otherwise up to rounding.
  Best most_valuable_group(std::span<const double> value, double least, std::uint64_t& effort) const;

private:
  std::vector<std::uint64_t> size_; // at least 1
  std::uint64_t capacity_;
  BitMatrix may_meet_;
};

} // namespace tidegate::planning
