// Names one cycle of a graph that turned out not to be acyclic, as short as is easy to find.
#pragma once

#include <tidegate/planning/plan_error.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <span>

namespace tidegate::planning {

// The error `cycle` with every field. `waiting_for` is what Kahn's algorithm left behind: for each wave the
// dependencies never met; the waves above zero lie on a cycle or behind one, and there is at least one.
PlanError cycle_error(std::span<const Dependency> dependencies, std::span<const std::uint32_t> waiting_for);

} // namespace tidegate::planning
