// Divides the waves of a program into groups separated by barriers.
#pragma once
#include "engine/job.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::engine {

// Returns the given plan after checking it against the program, otherwise a layered plan under the budget
// (bytes; 0: none). Errors: invalid_plan, and those of the planner with their place in the program.
Result<planning::MemoryPlan> group_waves(const Job& program, std::uint64_t budget_bytes,
                                         const std::optional<planning::MemoryPlan>& given);

// Reports a cycle of dependencies as group_waves() does. Also works for programs with invalid waves.
Result<void> check_order(const Job& program);

} // namespace tidegate::engine
