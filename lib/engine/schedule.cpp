// Divides the waves of a program into groups separated by barriers, and makes the stages of launches from them.
#include "engine/schedule.hpp"

#include "engine/kernel_objects.hpp"
#include "opencl_c/call_graph.hpp"
#include <tidegate/core/text.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
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

constexpr std::size_t most_phases = 64;

Result<std::vector<std::vector<std::uint32_t>>> storage_of(const Job& program) {
  std::vector<std::uint32_t> now(program.buffers.size());
  std::iota(now.begin(), now.end(), 0U);
  const std::vector<std::uint32_t> first = now;
  std::vector<std::vector<std::uint32_t>> storage;
  do {
    storage.push_back(now);
    for (const auto& [a, b] : program.swaps) {
      std::swap(now[a], now[b]);
    }
  } while (now != first && storage.size() <= most_phases);
  if (storage.size() > most_phases) {
    return failure(ErrorCode::invalid_program,
                   fmt::format("these swaps take more than {} iterations until every "
                               "buffer is back in its place",
                               most_phases),
                   "swap fewer buffers, or pairs that do not meet", "/swap");
  }
  return storage;
}

// Has, for each op with barriers, the images and samplers of the only call that the kernel may contain.
class SingleCalls {
public:
  SingleCalls(const Job& program, const OutlinedOps& ops, bool wanted)
      : program_(program), ops_(ops), wanted_(wanted) {}

  // Returns why a wave cannot share a launch; otherwise records its call as the op's.
  std::string obstacle(std::uint32_t wave, const std::vector<std::vector<std::uint32_t>>& storage) {
    const std::uint32_t op = program_.waves[wave].op;
    if (!wanted_ || !ops_.kernels[op].needs_whole_group) {
      return {};
    }
    for (const auto& of_phase : storage) {
      std::vector<KernelObject> objects;
      for (const ProgramArgument& argument : program_.waves[wave].arguments) {
        if (argument.is_object()) {
          objects.push_back(kernel_object(argument, of_phase));
        }
      }
      if (calls_.try_emplace(op, objects).first->second != objects) {
        return "its kernel has barriers or local memory and is called with several images or samplers, which "
               "compilers for CPUs do not keep apart";
      }
    }
    return {};
  }

private:
  const Job& program_;
  const OutlinedOps& ops_;
  const bool wanted_;
  std::map<std::uint32_t, std::vector<KernelObject>> calls_;
};

// A persistent kernel ends the rounds of all its queues by one function: with several calls under a condition, PoCL
// (3.1) lets every work-item run them. Queues whose ops publish have other ones, by the priorities in use.
class OneTurn {
public:
  OneTurn(const Job& program, Strategy strategy) : program_(program), wanted_(is_persistent(strategy)) {}

  // Returns why a wave cannot share a launch; otherwise its function is that of later queues, too.
  std::string obstacle(std::uint32_t wave) {
    if (!wanted_ || !program_.waves[wave].in_rounds()) {
      return {};
    }
    const std::uint32_t op = turn_op(program_.waves[wave]);
    const opencl_c::TranslationUnit& unit = program_.units[program_.ops[op].unit].unit;
    std::string text;
    for (const std::string& name : opencl_c::CallGraph(unit).reachable({program_.function(op).name})) {
      if (const opencl_c::Function* const function = unit.definition(name)) {
        text += opencl_c::text_of(unit, {.begin = function->begin, .end = function->end});
      }
    }
    text_ = text_.value_or(text);
    return *text_ == text
               ? std::string()
               : "its queue has other priorities or pure ops than an earlier one, or only one of them publishes "
                 "items, and a launch ends the rounds of all queues alike";
  }

private:
  const Job& program_;
  const bool wanted_;
  std::optional<std::string> text_;
};

// Adds the stages of the groups. Waves that cannot share a launch get separate stages after the others of
// their group.
void add_stages(const Job& program, const OutlinedOps& ops, const planning::BarrierGroups& groups,
                const std::vector<std::string>& obstacles, Strategy strategy, const KernelLimits& limits,
                Schedule& schedule) {
  ImageConflicts images(program, schedule.storage, limits.objects);
  SingleCalls calls(program, ops, limits.one_call_with_barriers);
  OneTurn turn(program, strategy);
  bool launch_ends = false; // before the next shared stage
  const auto end_launch = [&](std::uint32_t wave, std::string reason) {
    if (is_persistent(strategy)) {
      launch_ends = true;
      schedule.new_launches.push_back({.wave = wave, .reason = std::move(reason)});
    }
    images.next_launch();
  };
  Section last = Section::before;
  const auto add = [&](Stage& shared) {
    // A window is not a user's kernel.
    shared.plain = !is_persistent(strategy) && shared.waves.size() == 1 &&
                   program.waves[shared.waves.front()].joined_waves == 1;
    if (!shared.waves.empty()) {
      shared.new_launch = std::exchange(launch_ends, false);
      schedule.stages.push_back(std::exchange(shared, {}));
    }
    if (!is_persistent(strategy)) {
      images.next_launch();
    }
  };
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    Stage shared;
    std::vector<Stage> alone;
    const bool apart = strategy == Strategy::plain;
    const bool has_launch = apart || (strategy == Strategy::launch && groups.group(group).size() == 1);
    // Groups are ordered by section. A launch that wrote images ends with its section: the next one may repeat.
    const Section section =
        groups.group(group).empty() ? Section::after : program.waves[groups.group(group)[0]].section;
    if (std::string reason = images.ends("before it");
        std::exchange(last, section) != section && !reason.empty()) {
      end_launch(groups.group(group).front(), std::move(reason));
    }
    for (const std::uint32_t wave : groups.group(group)) {
      const std::uint32_t tiles = program.waves[wave].range.tiles();
      std::string reason = apart ? std::string() : obstacles[wave];
      if (reason.empty() && !has_launch) {
        reason = images.obstacle(wave);
      }
      if (reason.empty() && !has_launch) {
        reason = calls.obstacle(wave, schedule.storage);
      }
      if (reason.empty()) {
        reason = turn.obstacle(wave);
      }
      if (!reason.empty()) {
        schedule.fallbacks.push_back({.wave = wave, .reason = std::move(reason)});
        alone.push_back({.waves = {wave}, .tiles = tiles, .packs = tiles, .plain = true});
      } else {
        const bool in_rounds = program.waves[wave].in_rounds(); // the stage repeats it
        if (in_rounds) {
          add(shared);
        }
        const std::uint32_t packs = schedule.packs(program, wave);
        if (shared.packs > std::numeric_limits<std::int32_t>::max() - packs) { // packs are counted in 31 bits
          add(shared);
        }
        if (!has_launch) {
          if (std::string ends = images.ends_before(wave); !ends.empty()) {
            add(shared);
            end_launch(wave, std::move(ends));
          }
          images.add(wave);
          if (section == Section::each && program.iterations > 1 && is_persistent(strategy) &&
              !schedule.launch_per_iteration) {
            if (std::string ends = images.ends("in every iteration"); !ends.empty()) {
              schedule.launch_per_iteration = true;
              schedule.new_launches.push_back({.wave = wave, .reason = std::move(ends)});
            }
          }
        }
        shared.waves.push_back(wave);
        shared.tiles += tiles_as_written(program.waves[wave]);
        shared.packs += packs;
        if (in_rounds || apart) {
          add(shared);
        }
      }
    }
    add(shared);
    if (!alone.empty()) {
      images.next_launch();
    }
    std::ranges::move(alone, std::back_inserter(schedule.stages));
    schedule.repeat_begin = section == Section::before ? schedule.stages.size() : schedule.repeat_begin;
    schedule.repeat_end = section != Section::after ? schedule.stages.size() : schedule.repeat_end;
  }
}

} // namespace

bool Schedule::repeats_in_one_launch() const {
  bool one = !launch_per_iteration;
  for (std::size_t i = repeat_begin; i < repeat_end; ++i) {
    one = one && !stages[i].plain && (i == repeat_begin || !stages[i].new_launch);
  }
  return one;
}

bool Schedule::is_one_launch() const {
  return repeats_in_one_launch() &&
         std::ranges::none_of(stages, [](const Stage& stage) { return stage.plain || stage.new_launch; });
}

Result<Schedule> make_schedule(const Job& program, const OutlinedOps& ops,
                               const planning::BarrierGroups& groups, Strategy strategy,
                               const KernelLimits& limits) {
  const SharedLaunch shared = shared_launch(program, ops, limits);
  Schedule schedule{.group_size = shared.group_size, .main_options = shared.main_options};
  for (const ProgramWave& wave : program.waves) {
    // Shifts compute the tile of a work-item.
    const std::uint32_t size = wave.range.group_size();
    const bool shares =
        limits.tiles_side_by_side != 0 && std::has_single_bit(size) && !ops.kernels[wave.op].idles;
    schedule.tiles_per_pack.push_back(shares ? std::max(schedule.group_size / size, 1U) : 1);
  }
  TIDEGATE_TRY(auto found, storage_of(program));
  schedule.storage = std::move(found);
  add_stages(program, ops, groups, shared.obstacles, strategy, limits, schedule);
  return schedule;
}

std::string schedule_violation(const Job& program, const Schedule& schedule) {
  std::vector<std::optional<std::size_t>> stage_of(program.waves.size());
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::uint64_t tiles = 0;
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      if (wave >= stage_of.size() || stage_of[wave]) {
        return fmt::format("stage {} runs wave {} a second time", stage, wave);
      }
      stage_of[wave] = stage;
      if (schedule.stages[stage].plain && program.waves[wave].joined_waves != 1) {
        return fmt::format("stage {} launches {}, which is not a kernel", stage, program.wave_text(wave));
      }
      const Section section = stage < schedule.repeat_begin ? Section::before
                              : stage < schedule.repeat_end ? Section::each
                                                            : Section::after;
      if (program.waves[wave].section != section) {
        return fmt::format("stage {} runs {} in the phase \"{}\"", stage, program.wave_text(wave),
                           section_names[static_cast<std::size_t>(section)]);
      }
      tiles += tiles_as_written(program.waves[wave]);
    }
    if (tiles != schedule.stages[stage].tiles || tiles == 0) {
      return fmt::format("stage {} counts {} tiles, its waves have {}", stage, schedule.stages[stage].tiles,
                         tiles);
    }
  }
  for (std::uint32_t wave = 0; wave < stage_of.size(); ++wave) {
    if (!stage_of[wave]) {
      return fmt::format("{} is in no stage", program.wave_text(wave));
    }
  }
  for (const ResolvedDependency& dependency : program.dependencies) {
    if (stage_of[dependency.before] >= stage_of[dependency.after]) {
      return fmt::format("{} waits for {}, which no earlier stage runs", program.wave_text(dependency.after),
                         program.wave_text(dependency.before));
    }
  }
  return {};
}

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
  for (Error& other : error.others) {
    other = refusal(std::move(other), program);
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
    std::map<std::uint32_t, bool> before; // whether it contributes
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
        before[*histories[buffer].writer] = true;
      }
      histories[buffer].readers.push_back(wave);
    }
    for (const std::uint32_t buffer : written) {
      History& history = histories[buffer];
      if (history.writer) {
        before[*history.writer] = true;
      }
      for (const std::uint32_t reader : history.readers) {
        before.emplace(reader, false);
      }
      history = {.writer = wave, .readers = {}};
    }
    before.erase(wave);
    for (const auto& [earlier, contributes] : before) {
      dependencies.push_back({.before = earlier, .after = wave, .contributes = contributes});
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
