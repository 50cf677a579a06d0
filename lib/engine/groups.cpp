// Calls the planner, and states its errors in terms of the program.
#include "engine/groups.hpp"

#include "engine/job.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

// Pointer to the first matching dependency; derived ones have none.
std::optional<std::string> pointer_to(const Job& program, std::uint64_t before, std::uint64_t after) {
  const auto found = std::ranges::find_if(program.dependencies, [&](const ResolvedDependency& dependency) {
    return dependency.before == before && dependency.after == after;
  });
  if (found == program.dependencies.end() || !found->index) {
    return {};
  }
  return fmt::format("/dependencies/{}", *found->index);
}

// Names the largest buffer of a wave, the first candidate to shrink.
std::string largest_buffer(const Job& program, std::uint32_t wave) {
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

// The planner's error with its place in the program.
Error refusal(Error error, const Job& program) {
  error = planning::worded(std::move(error), [&program](std::uint64_t wave) {
    return program.wave_text(static_cast<std::uint32_t>(wave));
  });
  if (error.code == ErrorCode::cycle) { // resolve() refuses self-dependencies
    error.pointer = pointer_to(program, *error.before, *error.after);
    return error;
  }
  const auto wave = static_cast<std::uint32_t>(error.wave.value_or(0));
  error.pointer = program.wave_pointer(wave);
  if (error.code == ErrorCode::group_over_budget) {
    error.message = fmt::format("{} alone needs {} and a group may have {}{}", program.wave_text(wave),
                                bytes_text(*error.required_bytes), bytes_text(*error.budget_bytes),
                                largest_buffer(program, wave));
    error.fix = program.budget_bytes != 0
                    ? "raise device_memory_budget_bytes, or make the wave's buffers smaller"
                    : "make the wave's buffers smaller: the budget is all that the device has";
  }
  return error;
}

} // namespace

Result<planning::MemoryPlan> group_waves(const Job& program, std::uint64_t budget_bytes,
                                         const std::optional<planning::MemoryPlan>& given) {
  const planning::WaveDag dag = wave_dag(program, budget_bytes);
  if (given) {
    if (const auto violation = planning::first_violation(dag, *given)) {
      return failure(ErrorCode::invalid_plan, "the plan does not fit this program: " + *violation,
                     "plan the program again: `tidegate plan PROGRAM`");
    }
    return *given;
  }
  return planning::plan_layered(dag).map_error(
      [&program](Error error) { return refusal(std::move(error), program); });
}

Result<void> check_order(const Job& program) {
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

// Dependencies between waves: derived ones, sections, a topological order, and the rules that reach each
// group.

std::vector<std::uint32_t> section_order(const std::vector<ProgramWave>& waves) {
  std::vector<std::uint32_t> order(waves.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&waves](std::uint32_t wave) {
    return std::tuple(waves[wave].section, waves[wave].prepares.value_or(wave), !waves[wave].prepares);
  });
  return order;
}

std::vector<ResolvedDependency> derive_dependencies(const std::vector<ProgramWave>& waves,
                                                    std::size_t buffer_count) {
  struct History {
    std::optional<std::uint32_t> writer;
    std::vector<std::uint32_t> readers; // since the last write
  };
  std::vector<History> histories(buffer_count);
  std::vector<ResolvedDependency> dependencies;
  for (const std::uint32_t wave : section_order(waves)) {
    std::set<std::uint32_t> before;
    std::set<std::uint32_t> read;
    std::set<std::uint32_t> written;
    for (const ProgramArgument& argument : waves[wave].arguments) {
      if (argument.is_memory()) {
        if (argument.access != Access::write) {
          read.insert(argument.buffer);
        }
        if (argument.access != Access::read) {
          written.insert(argument.buffer);
        }
      }
    }
    for (const std::uint32_t buffer : read) {
      if (histories[buffer].writer) {
        before.insert(*histories[buffer].writer);
      }
      histories[buffer].readers.push_back(wave);
    }
    for (const std::uint32_t buffer : written) {
      History& history = histories[buffer];
      if (history.writer) {
        before.insert(*history.writer);
      }
      before.insert(history.readers.begin(), history.readers.end());
      history = {.writer = wave, .readers = {}};
    }
    before.erase(wave);
    for (const std::uint32_t earlier : before) {
      dependencies.push_back({.before = earlier, .after = wave});
    }
  }
  return dependencies;
}

std::vector<std::uint32_t> program_order(const Job& program, std::span<const std::uint64_t> ranks) {
  std::vector<std::vector<std::uint32_t>> after(program.waves.size());
  std::vector<std::uint32_t> waits(program.waves.size());
  for (const ResolvedDependency& dependency : program.dependencies) {
    after[dependency.before].push_back(dependency.after);
    ++waits[dependency.after];
  }
  // No wave waits for a later section, so while waves of a section remain, one of them is ready.
  using Rank = std::tuple<Section, std::uint64_t, std::uint32_t>;
  const auto rank_of = [&](std::uint32_t wave) {
    return Rank(program.waves[wave].section, ranks.empty() ? 0 : ranks[wave], wave);
  };
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> ready;
  for (std::uint32_t wave = 0; wave < waits.size(); ++wave) {
    if (waits[wave] == 0) {
      ready.push(rank_of(wave));
    }
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    const std::uint32_t wave = std::get<std::uint32_t>(ready.top());
    ready.pop();
    order.push_back(wave);
    for (const std::uint32_t next : after[wave]) {
      if (--waits[next] == 0) {
        ready.push(rank_of(next));
      }
    }
  }
  return order;
}

namespace {

// Each last wave of a section precedes each first wave of the next.
void add_section_order(const Job& program, planning::WaveDag& dag) {
  std::vector<bool> has_before(program.waves.size());
  std::vector<bool> has_after(program.waves.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const ResolvedDependency& dependency : program.dependencies) {
    known.emplace(dependency.before, dependency.after);
    if (program.waves[dependency.before].section == program.waves[dependency.after].section) {
      has_after[dependency.before] = true;
      has_before[dependency.after] = true;
    }
  }
  for (const auto& [first, second] :
       {std::pair(Section::before, Section::each), std::pair(Section::each, Section::after)}) {
    for (std::uint32_t before = 0; before < program.waves.size(); ++before) {
      for (std::uint32_t after = 0;
           program.waves[before].section == first && !has_after[before] && after < program.waves.size();
           ++after) {
        if (program.waves[after].section == second && !has_before[after] &&
            !known.contains({before, after})) {
          dag.dependencies.push_back({.before = before, .after = after});
        }
      }
    }
  }
}

} // namespace

planning::WaveDag wave_dag(const Job& program, std::uint64_t budget_bytes) {
  planning::WaveDag dag;
  std::uint64_t all_buffers = 0;
  bool overflow = false;
  for (const ProgramBuffer& buffer : program.buffers) {
    overflow |= __builtin_add_overflow(all_buffers, buffer.bytes, &all_buffers);
  }
  const bool binds = budget_bytes != 0 && (overflow || all_buffers > budget_bytes);
  dag.budget_bytes = binds ? budget_bytes : std::numeric_limits<std::uint64_t>::max();
  for (const ProgramWave& wave : program.waves) {
    dag.waves.push_back(wave.bytes);
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    dag.dependencies.push_back({.before = dependency.before, .after = dependency.after});
  }
  if (std::ranges::any_of(program.waves,
                          [](const ProgramWave& wave) { return wave.section != Section::each; })) {
    add_section_order(program, dag);
  }
  return dag;
}

std::string Job::wave_text(std::uint32_t wave) const {
  const ProgramWave& what = waves[wave];
  return !what.title.empty()    ? what.title
         : !what.name.empty()   ? in_quotes(what.name)
         : what.op < ops.size() ? fmt::format("wave {} ({})", wave, shortened(ops[what.op].name))
                                : fmt::format("wave {}", wave);
}

std::string Job::wave_pointer(std::uint64_t wave) const {
  return fmt::format("/waves/{}", waves[wave].place.value_or(static_cast<std::uint32_t>(wave)));
}

Result<void> keep_inputs(const Job& job, FileUses files) {
  files.inputs.insert(files.inputs.end(), job.files.inputs.begin(), job.files.inputs.end());
  files.outputs.insert(files.outputs.end(), job.files.outputs.begin(), job.files.outputs.end());
  return refuse_overwriting(files);
}

} // namespace tidegate::engine
