// The strategy `layered`: as early as possible; a wave that its group has no room for begins the next one.
// The golden vectors pin the order of groups and of waves.
#pragma once

#include <tidegate/planning/plan_error.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>

namespace tidegate::planning {

// The bytes that fused groups may use: what the resident graph leaves of the budget.
// Errors: group_over_budget {resident graph bytes}.
PlanResult<std::uint64_t> group_budget(const WaveDag& dag);

// frontier + 4 * scratch + output. Errors: byte_count_overflow {fused wave scratch bytes, fused wave bytes};
// which wave it is only the caller knows.
PlanResult<std::uint64_t> fused_bytes(const Wave& wave);

// Takes linear time. Its lower bound is the best of those that cost next to nothing: the critical path, and
// for each layer the groups before it plus what the waves from it on need by their bytes or as waves over
// half the budget. Errors: those of plan_barriers, group_budget and fused_bytes; group_over_budget {single
// fused frontier wave bytes}; byte_count_overflow {barrier group fused wave budget bytes}.
PlanResult<MemoryPlan> plan_layered(const WaveDag& dag);

// Fills in everything that follows from the groups and the DAG except the two fields about the lower bound.
// The groups must be a permutation of the waves that fit the budget.
void fill_figures(const WaveDag& dag, MemoryPlan& plan);

} // namespace tidegate::planning
