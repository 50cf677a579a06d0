// The searches of `compact`: list schedules, schedules by load, ejection, and branch and bound.
#pragma once
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

// List schedules: fast packings by a fixed order of preference.
//
// There are two forms. *Group by group*: fill a group with the most preferred items that are ready and fit, close it,
// and only then make the successors of its items ready. *Item by item*: place each item into the earliest group with
// room that comes after the groups of its predecessors. Both find their next choice in a tournament tree in logarithmic
// time.

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

// List schedules that choose a whole group at a time: the load of ready items with the greatest total value
// (Hoffmann, Management Science 9(4), 1963; with many definitions of an item's value Sternatz, EJOR 235(3),
// 2014). They fill groups better than schedules that take items one by one, at a higher cost.

struct LoadLimits {
  std::uint64_t choices_per_group = 0; // items tried for a group before it takes the best load so far
  std::uint32_t most_groups = 0;       // a schedule that needs more is aborted
};

// `value[i]` > 0 is the value of item i. Deducts its steps from `effort`; returns nothing if aborted or if
// the effort is used up.
std::optional<Packing> schedule_by_load(const PackingProblem& problem, std::span<const double> value,
                                        const LoadLimits& limits, std::uint64_t& effort);

// Tries many schedules by load, each with another definition of an item's value: its bytes, plus weights for large
// items, for items with much dependent work or a long tail, and some noise. No definition is best for all problems, and
// a schedule is cheap.

inline constexpr std::uint32_t most_items_with_load_schedules = 20'000;

// The problem in both directions of time, with their bounds.
struct TwoEnds {
  PackingProblem problem;
  PackingProblem reverse;
  LowerBounds bounds;
  LowerBounds reverse_bounds;
};

// Returns the best of `best` and of as many schedules as `effort` allows; stops at `lower` groups.
Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort);

// Saves groups: dissolves a group and fits its items, the pool, into the others.
//
// An item that fits nowhere ejects others into the pool: those that are cheapest to eject, where the price of
// an item grows with its size and with the number of times it found no place (Nagata and Braysy, Operations
// Research Letters 37(5), 2009, who save vehicles in this way). In between, items move and swap at random,
// and groups change their order as far as dependencies permit.

// Returns `packing` with as many groups removed as possible; stops at `lower` groups or when `effort` is used
// up. A step is one item visited.
Packing with_groups_saved(const PackingProblem& problem, Packing packing, std::uint64_t lower,
                          std::uint64_t& effort);

// Takes items out of overfull groups and fits them in elsewhere in the same way. Returns nothing if the effort
// does not suffice.
std::optional<Packing> with_groups_fitted(const PackingProblem& problem, const Packing& packing,
                                          std::uint64_t& effort);

// The objective `peak`: lowers the peak by bisection without more groups. Tries a capacity between the
// largest item (or the mean group) and the current peak with list schedules, and otherwise fits the current
// packing to it; a packing that fits sets the new peak. `tail` as in GroupBounds. Uses up to `effort` steps.
Packing lower_peak(PackingProblem problem, std::span<const std::uint32_t> tail, Packing packing,
                   std::uint64_t effort);

// Branch and bound over groups: chooses the first group, then the second, and so on.
//
// A node is a set of packed items and the number of groups they take; its branches are the *maximal* loads of
// the next group, because moving an item that still fits into an earlier group never hurts. The search takes
// the next node from each depth in turn, the most promising of that depth first, which finds good packings
// early and still ends in a proof; it never expands the same set of items twice (branch, bound and remember:
// Sewell and Jacobson, INFORMS Journal on Computing 24(3), 2012; for BPP-P Pereira, EJOR 250(3), 2016).
// Jackson's dominance between items (Management Science 2(3), 1956) proved 1 % more of generated DAGs and
// improved no plan.

struct SearchLimits {
  std::uint64_t loads_per_node = 0; // a search that never reaches this limit is exact
  std::uint64_t effort = 0;         // steps: one per item visited
};

struct SearchResult {
  Packing packing;        // the best found; 0 groups if none has fewer than `groups`
  bool exhausted = false; // proved: none has fewer groups than `packing`, or than `groups` if none was found
  std::uint64_t effort = 0;
};

// Searches for packings with fewer than `groups` groups until the bound is met, the search space is exhausted
// or the effort is used up.
SearchResult branch_and_bound(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups,
                              const SearchLimits& limits);

} // namespace tidegate::planning
