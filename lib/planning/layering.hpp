// Layers of a wave DAG: each wave as early as its dependencies allow. The order within a layer is part of the
// result: it is the order in which waves become ready, those of the first layer by index.
//
// The idea: Kahn's algorithm (CACM 5(11), 1962) over a compressed adjacency list. Its queue *is* the answer:
// the waves in layer order, and a layer ends where the queue ended when the layer before was done.
#pragma once

#include <tidegate/planning/plan_error.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <span>

namespace tidegate::planning {

// Errors: invalid_wave, self_dependency, of the first dependency that names no wave or joins a wave with
// itself. A reader of documents whose indices leave 32 bits calls this for the dependencies before.
PlanResult<void> check_dependencies(std::uint64_t wave_count, std::span<const Dependency> dependencies);

// The barrier plan without bytes: one group per layer, waves in the order in which they become ready. Takes
// time and, beside the result, memory (8 bytes per wave, 4 per dependency) linear in the input. Errors:
// invalid_wave, self_dependency, cycle.
PlanResult<WaveGroups> plan_barriers(std::uint32_t wave_count, std::span<const Dependency> dependencies);

} // namespace tidegate::planning
