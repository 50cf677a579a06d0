// List schedules: fast packings by a fixed order of preference.
//
// Two forms. *Group by group*: fill a group with the most preferred items that are ready and fit, close it,
// and only then release what waited for its items. *Item by item*: place each item into the earliest group
// after its predecessors that has room. Both find their next choice in a tournament tree in logarithmic time.
#pragma once
#include "planning/compact/bounds.hpp"
#include "planning/compact/problem.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

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

// Many schedules by load, each with another definition of an item's value: its bytes, with more weight for
// large items, items with much dependent work or a long tail, and some noise. No definition is best
// everywhere, and a schedule is cheap.

inline constexpr std::uint32_t most_items_with_load_schedules = 20'000;

// The problem in both directions of time, with their bounds.
struct TwoEnds {
  const PackingProblem& problem;
  const PackingProblem& reverse;
  const LowerBounds& bounds;
  const LowerBounds& reverse_bounds;
};

// Returns the best of `best` and of as many schedules as `effort` allows; stops at `lower` groups.
Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort);

} // namespace tidegate::planning
