// Many schedules by load, each with another idea of what an item is worth: its bytes, more for a
// large item, for one with much work behind it, for one with a long tail, and a little at random. No idea is
// best everywhere, and a schedule is cheap.
#pragma once

#include <tidegate/planning/lower_bounds.hpp>
#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <span>

namespace tidegate::planning {

inline constexpr std::uint32_t most_items_with_load_schedules = 20'000;

// The same problem from both ends of time, with the bounds of each.
struct TwoEnds {
  const PackingProblem& problem;
  const PackingProblem& reverse;
  const LowerBounds& bounds;
  const LowerBounds& reverse_bounds;
};

// The best of `best` and as many schedules as `effort` allows; stops at `lower` groups.
Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort);

} // namespace tidegate::planning
