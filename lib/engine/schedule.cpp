// Divides the waves of a program into groups separated by barriers, and makes the stages of launches from them.
#include "engine/schedule.hpp"

#include "opencl_c/facts.hpp"
#include <tidegate/core/text.hpp>

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

// Decides where a launch ends because of images. Writes to an image reach other work-groups only at the end of
// the launch: reads use caches that no barrier invalidates, and OpenCL's fences order images only within a
// work-item. So an image that one wave of a launch writes may not be used by another wave of it.
class ImageConflicts {
public:
  ImageConflicts(const Job& program, const std::vector<std::vector<std::uint32_t>>& storage,
                 const ObjectLimits& limits)
      : program_(program), storage_(storage), limits_(limits) {}

  // Returns why the kernel cannot have the wave's images and samplers as parameters, or an empty string.
  [[nodiscard]] std::string obstacle(std::uint32_t wave) const {
    const std::vector<KernelObject> objects = with(wave);
    struct Row {
      bool sampler = false;
      Access access = Access::read;
      std::uint32_t limit = 0;
      std::string_view what;
    };
    for (const Row& row :
         {Row{false, Access::read, limits_.read_images, "images to read"},
          Row{false, Access::write, limits_.write_images, "images to write"},
          Row{false, Access::read_write, limits_.read_write_images, "images to read and write"},
          Row{true, Access::read, limits_.samplers, "samplers"}}) {
      const auto used = std::ranges::count_if(objects, [&row](const KernelObject& object) {
        return object.is_sampler == row.sampler && object.access == row.access;
      });
      if (used > row.limit) {
        return fmt::format("with it the waves that share a kernel would have {} {}; the device takes {}",
                           used, row.what, row.limit);
      }
    }
    return {};
  }

  // Returns why the current launch has to end before the wave, or an empty string.
  [[nodiscard]] std::string ends_before(std::uint32_t wave) const {
    for (const ProgramArgument& argument : program_.waves[wave].arguments) {
      const auto found =
          argument.kind == ProgramArgument::Kind::image ? touched_.find(argument.buffer) : touched_.end();
      if (found != touched_.end() && found->second.wave != wave &&
          (argument.writes() || found->second.written)) {
        return fmt::format("it {} the image {}, which {} {}: {}", argument.writes() ? "writes" : "reads",
                           in_quotes(program_.buffers[argument.buffer].name),
                           program_.wave_text(found->second.wave), found->second.written ? "writes" : "reads",
                           arrival);
      }
    }
    return {};
  }

  // Adds a wave to the launch.
  void add(std::uint32_t wave) {
    objects_ = with(wave);
    for (const ProgramArgument& argument : program_.waves[wave].arguments) {
      if (argument.kind == ProgramArgument::Kind::image) {
        Touched& touched = touched_.try_emplace(argument.buffer, Touched{.wave = wave}).first->second;
        if (argument.writes() && !touched.written) {
          touched = {.wave = wave, .written = true};
        }
      }
    }
  }

  void next_launch() { touched_.clear(); }

  // Returns why the current launch may not go on to another iteration or section, or an empty string. `when`:
  // "in every iteration".
  [[nodiscard]] std::string ends(std::string_view when) const {
    const auto found = std::ranges::find_if(touched_, [](const auto& image) { return image.second.written; });
    return found == touched_.end()
               ? std::string()
               : fmt::format("the image {} is written {}: {}", in_quotes(program_.buffers[found->first].name),
                             when, arrival);
  }

private:
  static constexpr std::string_view arrival =
      "what is written to an image reaches other work-groups when the launch ends";

  struct Touched {
    std::uint32_t wave = 0;
    bool written = false;
  };

  [[nodiscard]] std::vector<KernelObject> with(std::uint32_t wave) const {
    std::vector<KernelObject> objects = objects_;
    for (const auto& of_phase : storage_) {
      add_objects(program_.waves[wave], of_phase, objects);
    }
    return objects;
  }

  const Job& program_;
  const std::vector<std::vector<std::uint32_t>>& storage_;
  const ObjectLimits limits_;
  std::vector<KernelObject> objects_;        // parameters so far
  std::map<std::uint32_t, Touched> touched_; // in this launch, by image
};

// Makes the stages of groups. Waves that cannot share a launch get separate stages after the others of their group.
class StageMaker {
public:
  StageMaker(const Job& program, const OutlinedOps& ops, std::vector<std::string> obstacles,
             Strategy strategy, const KernelLimits& limits, Schedule& schedule)
      : program_(program), ops_(ops), obstacles_(std::move(obstacles)), strategy_(strategy),
        one_call_(limits.one_call_with_barriers), schedule_(schedule),
        images_(program, schedule.storage, limits.objects) {}

  void add(std::span<const std::uint32_t> group) {
    // Groups are ordered by section. A launch that wrote images ends with its section: the next one may repeat.
    const Section section = group.empty() ? Section::after : program_.waves[group.front()].section;
    if (std::exchange(section_, section) != section) {
      end_launch(group.front(), images_.ends("before it"));
    }
    const bool apart = strategy_ == Strategy::plain;
    const bool own_launch = apart || (strategy_ == Strategy::launch && group.size() == 1);
    std::vector<Stage> alone;
    for (const std::uint32_t wave : group) {
      if (std::string reason = obstacle(wave, own_launch); !reason.empty()) {
        const std::uint32_t tiles = program_.waves[wave].range.tiles();
        schedule_.fallbacks.push_back({.wave = wave, .reason = std::move(reason)});
        alone.push_back({.waves = {wave}, .tiles = tiles, .packs = tiles, .plain = true});
        continue;
      }
      const bool in_rounds = program_.waves[wave].in_rounds(); // the stage repeats it
      const std::uint32_t packs = schedule_.packs(program_, wave);
      if (in_rounds ||
          stage_.packs > std::numeric_limits<std::int32_t>::max() - packs) { // 31 bits count packs
        end_stage();
      }
      if (!own_launch) {
        if (std::string ends = images_.ends_before(wave); !ends.empty()) {
          end_stage();
          end_launch(wave, std::move(ends));
        }
        images_.add(wave);
        if (section == Section::each && program_.iterations > 1 && is_persistent(strategy_) &&
            !schedule_.launch_per_iteration) {
          if (std::string ends = images_.ends("in every iteration"); !ends.empty()) {
            schedule_.launch_per_iteration = true;
            schedule_.new_launches.push_back({.wave = wave, .reason = std::move(ends)});
          }
        }
      }
      stage_.waves.push_back(wave);
      stage_.tiles += tiles_as_written(program_.waves[wave]);
      stage_.packs += packs;
      if (in_rounds || apart) {
        end_stage();
      }
    }
    end_stage();
    if (!alone.empty()) {
      images_.next_launch();
    }
    std::ranges::move(alone, std::back_inserter(schedule_.stages));
    schedule_.repeat_begin = section == Section::before ? schedule_.stages.size() : schedule_.repeat_begin;
    schedule_.repeat_end = section != Section::after ? schedule_.stages.size() : schedule_.repeat_end;
  }

private:
  void end_launch(std::uint32_t wave, std::string reason) {
    if (reason.empty()) {
      return;
    }
    if (is_persistent(strategy_)) {
      launch_ends_ = true;
      schedule_.new_launches.push_back({.wave = wave, .reason = std::move(reason)});
    }
    images_.next_launch();
  }

  void end_stage() {
    if (!stage_.waves.empty()) {
      // A window is not a user's kernel.
      stage_.plain = !is_persistent(strategy_) && stage_.waves.size() == 1 &&
                     program_.waves[stage_.waves.front()].joined_waves == 1;
      stage_.new_launch = std::exchange(launch_ends_, false);
      schedule_.stages.push_back(std::exchange(stage_, {}));
    }
    if (!is_persistent(strategy_)) {
      images_.next_launch();
    }
  }

  // Returns why a wave cannot share a launch, or an empty string.
  std::string obstacle(std::uint32_t wave, bool own_launch) {
    std::string reason = strategy_ == Strategy::plain ? "" : obstacles_[wave];
    if (reason.empty() && !own_launch) {
      reason = images_.obstacle(wave);
    }
    if (reason.empty() && !own_launch && one_call_ &&
        ops_.kernels[program_.waves[wave].op].needs_whole_group && !is_same_call(program_.waves[wave])) {
      return "its kernel has barriers or local memory and is called with several images or samplers, which "
             "compilers for CPUs do not keep apart";
    }
    if (reason.empty() && is_persistent(strategy_) && program_.waves[wave].in_rounds() &&
        !is_same_turn(turn_op(program_.waves[wave]))) {
      return "its queue has other priorities or pure ops than an earlier one, or only one of them publishes "
             "items, and a launch ends the rounds of all queues alike";
    }
    return reason;
  }

  // Returns false if the kernel would contain another call of the wave's op, with other images or samplers.
  bool is_same_call(const ProgramWave& wave) {
    return std::ranges::all_of(schedule_.storage, [&](const std::vector<std::uint32_t>& of_phase) {
      std::vector<KernelObject> objects;
      for (const ProgramArgument& argument : wave.arguments) {
        if (argument.is_object()) {
          objects.push_back(kernel_object(argument, of_phase));
        }
      }
      return calls_.try_emplace(wave.op, objects).first->second == objects;
    });
  }

  // Returns true if the function that ends the rounds of a queue is that of earlier queues: a persistent kernel ends the
  // rounds of all by one, as with several calls under a condition PoCL (3.1) lets every work-item run them. Queues whose
  // ops publish have other ones, by the priorities in use.
  bool is_same_turn(std::uint32_t op) {
    const opencl_c::TranslationUnit& unit = program_.unit(op).unit;
    std::string text;
    for (const std::string& name : unit.facts->reachable({program_.function(op).name})) {
      if (const opencl_c::Function* const function = unit.definition(name)) {
        text += opencl_c::text_of(unit, {.begin = function->begin, .end = function->end});
      }
    }
    turn_ = turn_.value_or(text);
    return *turn_ == text;
  }

  const Job& program_;
  const OutlinedOps& ops_;
  const std::vector<std::string> obstacles_; // by wave
  const Strategy strategy_;
  const bool one_call_;
  Schedule& schedule_;
  ImageConflicts images_;
  std::map<std::uint32_t, std::vector<KernelObject>> calls_; // by op with barriers: of its only call
  std::optional<std::string> turn_;
  bool launch_ends_ = false; // before the next shared stage
  Section section_ = Section::before;
  Stage stage_; // the shared one that is being made
};

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

void number_rows(const Job& program, Schedule& schedule) {
  schedule.places.resize(program.waves.size());
  for (std::uint32_t stage = 0; stage < schedule.stages.size(); ++stage) {
    schedule.stages[stage].row = schedule.rows_before(stage);
    std::uint32_t first = 0;
    for (const std::uint32_t wave : schedule.stages[stage].waves) {
      schedule.places[wave] = {.stage = stage, .first_pack = first};
      first += schedule.packs(program, wave);
    }
  }
}

Result<Schedule> make_schedule(const Job& program, const OutlinedOps& ops,
                               const planning::BarrierGroups& groups, Strategy strategy,
                               const KernelLimits& limits) {
  SharedLaunch shared = shared_launch(program, ops, limits);
  Schedule schedule{.group_size = shared.group_size, .main_options = shared.main_options};
  for (const ProgramWave& wave : program.waves) {
    // Shifts compute the tile of a work-item.
    const std::uint32_t size = wave.range.group_size();
    const bool shares =
        limits.tiles_side_by_side != 0 && std::has_single_bit(size) && !ops.kernels[wave.op].idles;
    schedule.tiles_per_pack.push_back(shares ? std::max(schedule.group_size / size, 1U) : 1);
  }
  TIDEGATE_TRY(schedule.storage, storage_of(program));
  StageMaker maker(program, ops, std::move(shared.obstacles), strategy, limits, schedule);
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    maker.add(groups.group(group));
  }
  number_rows(program, schedule);
  return schedule;
}

KernelObject kernel_object(const ProgramArgument& argument, const std::vector<std::uint32_t>& storage) {
  if (argument.kind == ProgramArgument::Kind::sampler) {
    return {.is_sampler = true, .sampler = argument.sampler};
  }
  return {.image = storage[argument.buffer], .access = argument.access};
}

void add_objects(const ProgramWave& wave, const std::vector<std::uint32_t>& storage,
                 std::vector<KernelObject>& objects) {
  for (const ProgramArgument& argument : wave.arguments) {
    if (argument.is_object()) {
      const KernelObject object = kernel_object(argument, storage);
      if (std::ranges::find(objects, object) == objects.end()) {
        objects.push_back(object);
      }
    }
  }
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

} // namespace tidegate::engine
