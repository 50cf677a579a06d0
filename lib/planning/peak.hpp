// The objective `peak`: with the number of groups settled, the smallest capacity that still does.
//
// The idea: bisection. A capacity between the largest item (or the mean group) and the present peak is tried
// with list schedules, and failing these the present packing is repaired to fit it; what fits becomes the new
// peak.
#pragma once

#include <tidegate/planning/packing_problem.hpp>

#include <cstdint>
#include <span>

namespace tidegate::planning {

// A packing with as many groups as `packing` and a peak that is no higher. `tail` as in GroupBounds. Uses up
// to `effort` steps.
Packing lower_peak(PackingProblem problem, std::span<const std::uint32_t> tail, Packing packing,
                   std::uint64_t effort);

} // namespace tidegate::planning
