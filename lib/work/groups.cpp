// Calls the planner, and states its errors in terms of the program.
#include "work/groups.hpp"

#include <tidegate/core/text.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// Pointer to the first matching dependency; derived ones have none.
std::optional<std::string> pointer_to(const ResolvedProgram& program, std::uint64_t before,
                                      std::uint64_t after) {
  const auto found = std::ranges::find_if(program.dependencies, [&](const ResolvedDependency& dependency) {
    return dependency.before == before && dependency.after == after;
  });
  if (found == program.dependencies.end() || !found->place) {
    return {};
  }
  return fmt::format("/dependencies/{}", *found->place);
}

// Names the largest buffer of a wave, the first candidate to shrink.
std::string largest_buffer(const ResolvedProgram& program, std::uint32_t wave) {
  const ProgramBuffer* largest = nullptr;
  for (const ProgramArgument& argument : program.waves[wave].arguments) {
    if (argument.is_memory() &&
        (largest == nullptr || program.buffers[argument.buffer].bytes > largest->bytes)) {
      largest = &program.buffers[argument.buffer];
    }
  }
  return largest == nullptr ? ""
                            : fmt::format("; its largest buffer is {}, {}", in_quotes(largest->name),
                                          bytes_text(largest->bytes));
}

Error refusal(const planning::PlanError& error, const ResolvedProgram& program) {
  Error result{.code = ErrorCode::cycle,
               .message = planning::describe(error,
                                             [&program](std::uint64_t wave) {
                                               return program.wave_text(static_cast<std::uint32_t>(wave));
                                             }),
               .fix = "remove one of these dependencies",
               .pointer = pointer_to(program, error.before, error.after)};
  if (error.code == planning::PlanErrorCode::group_over_budget) {
    result.code = ErrorCode::group_over_budget;
    const auto wave = static_cast<std::uint32_t>(error.wave);
    result.message = fmt::format("{} alone needs {} and a group may have {}{}", program.wave_text(wave),
                                 bytes_text(error.required_bytes), bytes_text(error.budget_bytes),
                                 largest_buffer(program, wave));
    result.fix = program.budget_bytes != 0
                     ? "raise device_memory_budget_bytes, or make the wave's buffers smaller"
                     : "make the wave's buffers smaller: the budget is all that the device has";
    result.required_bytes = error.required_bytes;
    result.budget_bytes = error.budget_bytes;
    result.pointer = fmt::format("/waves/{}", error.wave);
  } else if (error.code != planning::PlanErrorCode::cycle) {
    result.code = ErrorCode::byte_count_overflow; // self-dependencies are refused earlier, in resolve()
    result.fix = "check the wave's byte counts";
    result.pointer = fmt::format("/waves/{}", error.wave);
  }
  return result;
}

} // namespace

Result<planning::MemoryPlan> group_waves(const ResolvedProgram& program, std::uint64_t budget_bytes,
                                         const std::optional<planning::MemoryPlan>& given) {
  const planning::WaveDag dag = wave_dag(program, budget_bytes);
  if (given) {
    if (const auto violation = planning::first_violation(dag, *given)) {
      return tl::unexpected(Error{.code = ErrorCode::invalid_plan,
                                  .message = "the plan does not fit this program: " + *violation,
                                  .fix = "plan the program again: `tidegate plan PROGRAM`"});
    }
    return *given;
  }
  return planning::plan_layered(dag).map_error(
      [&program](const planning::PlanError& error) { return refusal(error, program); });
}

Result<void> check_order(const ResolvedProgram& program) {
  std::vector<planning::Dependency> dependencies;
  for (const ResolvedDependency& each : program.dependencies) {
    dependencies.push_back({.before = each.before, .after = each.after});
  }
  const auto waves = static_cast<std::uint32_t>(program.waves.size());
  if (const auto barriers = planning::plan_barriers(waves, dependencies); !barriers) {
    return tl::unexpected(refusal(barriers.error(), program));
  }
  return {};
}

} // namespace tidegate::engine
