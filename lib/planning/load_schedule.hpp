// List schedules that choose a whole group at a time: of the ready items, the load that is worth most
// together (Hoffmann, Management Science 9(4), 1963; with many ways to say what an item is worth Sternatz,
// EJOR 235(3), 2014). They leave less room in a group than taking items one by one, and cost more.
#pragma once

#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace tidegate::planning {

struct LoadLimits {
  std::uint64_t choices_per_group = 0; // items tried for one group before the best load so far is taken
  std::uint32_t most_groups = 0;       // a schedule that needs more is broken off
};

// `value[i]` > 0 is what item i is worth. Takes its steps from `effort`; nothing when broken off, or when the
// effort is used up.
std::optional<Packing> schedule_by_load(const PackingProblem& problem, std::span<const double> value,
                                        const LoadLimits& limits, std::uint64_t& effort);

} // namespace tidegate::planning
