// A program's waves in groups that a barrier divides.
#pragma once

#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <optional>

namespace tidegate::engine {

// The plan that was given, once it is checked against the program, or else a layered one under the budget
// (bytes; 0: none). Errors: invalid_plan, and those of the planner with their place in the program.
Result<planning::MemoryPlan> group_waves(const ResolvedProgram& program, std::uint64_t budget_bytes,
                                         const std::optional<planning::MemoryPlan>& given);

// A cycle of the dependencies, as group_waves() tells it; also of a program whose waves are not all sound.
Result<void> check_order(const ResolvedProgram& program);

} // namespace tidegate::engine
