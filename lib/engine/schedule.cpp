// Divides the waves of a program into groups separated by barriers, and makes the stages of launches from them.
#include "engine/schedule.hpp"

#include "opencl_c/facts.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

constexpr std::size_t most_phases = 64;

// The tiles of a wave, or of all waves of a window.
std::uint64_t tiles_as_written(const ProgramWave& wave) {
  return std::uint64_t{wave.range.tiles()} * wave.joined_waves;
}

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

// Makes the stages of groups. Waves that cannot share a launch get separate stages after the others of their group.
struct StageMaker {
  const Job& program;
  const OutlinedOps& ops;
  const std::vector<std::string>& obstacles; // by wave
  const Strategy strategy;
  const KernelLimits& limits;
  Schedule& schedule;
  std::map<std::uint32_t, std::vector<KernelObject>> calls{}; // by op with barriers: objects of its only call
  std::optional<std::string> turn{};
  Stage shared{}; // that is being made

  void add(std::span<const std::uint32_t> group) {
    const Section section = group.empty() ? Section::after : program.waves[group.front()].section;
    const bool apart = strategy == Strategy::plain;
    const bool shares = is_persistent(strategy) || (!apart && group.size() > 1);
    std::vector<Stage> alone;
    for (const std::uint32_t wave : group) {
      std::string reason = obstacle(wave);
      if (reason.empty() && shares) {
        reason = add_objects(wave);
      }
      if (!reason.empty()) {
        const std::uint32_t tiles = program.waves[wave].range.tiles();
        schedule.fallbacks.push_back({.wave = wave, .reason = std::move(reason)});
        alone.push_back({.waves = {wave}, .tiles = tiles, .packs = tiles, .plain = true});
        continue;
      }
      const bool in_rounds = program.waves[wave].in_rounds(); // the stage repeats it
      const std::uint32_t packs = schedule.packs(program, wave);
      if (in_rounds ||
          shared.packs > std::numeric_limits<std::int32_t>::max() - packs) { // 31 bits count packs
        end_stage();
      }
      shared.waves.push_back(wave);
      shared.tiles += tiles_as_written(program.waves[wave]);
      shared.packs += packs;
      if (in_rounds || apart) {
        end_stage();
      }
    }
    end_stage();
    std::ranges::move(alone, std::back_inserter(schedule.stages));
    schedule.repeat_begin = section == Section::before ? schedule.stages.size() : schedule.repeat_begin;
    schedule.repeat_end = section != Section::after ? schedule.stages.size() : schedule.repeat_end;
  }

  void end_stage() {
    if (!shared.waves.empty()) {
      // A window is not a user's kernel.
      shared.plain = !is_persistent(strategy) && shared.waves.size() == 1 &&
                     program.waves[shared.waves.front()].joined_waves == 1;
      schedule.stages.push_back(std::exchange(shared, {}));
    }
  }

  // Returns why a wave cannot share a launch, or an empty string.
  std::string obstacle(std::uint32_t wave) {
    std::string reason = strategy == Strategy::plain ? "" : obstacles[wave];
    if (reason.empty() && is_persistent(strategy) && program.waves[wave].in_rounds() &&
        !is_same_turn(turn_op(program.waves[wave]))) {
      return "its queue has other priorities or pure ops than an earlier one, or only one of them publishes "
             "items, and a launch ends the rounds of all queues alike";
    }
    return reason;
  }

  // Adds the images and samplers of a wave to the kernel's parameters, or returns why it cannot have them.
  std::string add_objects(std::uint32_t wave) {
    const ProgramWave& spec = program.waves[wave];
    std::vector<KernelObject> all = schedule.objects;
    for (std::uint32_t phase = 0; phase < schedule.phases(); ++phase) {
      std::vector<KernelObject> call;
      for (const ProgramArgument& argument : spec.arguments) {
        if (argument.is_object()) {
          call.push_back(schedule.object_of(argument, phase));
          if (std::ranges::find(all, call.back()) == all.end()) {
            all.push_back(call.back());
          }
        }
      }
      if (limits.one_call_with_barriers && ops.kernels[spec.op].needs_whole_group &&
          calls.try_emplace(spec.op, call).first->second != call) {
        return "its kernel has barriers or local memory and is called with several images or samplers, which "
               "compilers for CPUs do not keep apart";
      }
    }
    const auto images = static_cast<std::size_t>(
        std::ranges::count_if(all, [](const KernelObject& object) { return object.image.has_value(); }));
    if (images > limits.read_images || all.size() - images > limits.samplers) {
      return fmt::format(
          "with it the waves that share a kernel would have {} and {}; the device takes {} and {}",
          plural(images, "image"), plural(all.size() - images, "sampler"), limits.read_images,
          limits.samplers);
    }
    schedule.objects = std::move(all);
    return {};
  }

  // Returns true if the function that ends the rounds of a queue is that of earlier queues: a persistent kernel ends the
  // rounds of all by one, as with several calls under a condition PoCL (3.1) lets every work-item run them. Those of
  // queues differ by the priorities in use.
  bool is_same_turn(std::uint32_t op) {
    const opencl_c::TranslationUnit& unit = program.unit(op).unit;
    std::string text;
    for (const std::string& name : unit.facts->reachable({program.function(op).name})) {
      if (const opencl_c::Function* const function = unit.definition(name)) {
        text += opencl_c::text_of(unit, {.begin = function->begin, .end = function->end});
      }
    }
    turn = turn.value_or(text);
    return *turn == text;
  }
};

} // namespace

bool Schedule::repeats_in_one_launch() const {
  return std::ranges::none_of(std::span(stages).subspan(repeat_begin, repeat_end - repeat_begin),
                              &Stage::plain);
}

bool Schedule::is_one_launch() const {
  return std::ranges::none_of(stages, &Stage::plain);
}

KernelObject Schedule::object_of(const ProgramArgument& argument, std::uint32_t phase) const {
  return argument.kind == ProgramArgument::Kind::sampler
             ? KernelObject{.sampler = argument.sampler}
             : KernelObject{.image = storage[phase][argument.buffer]};
}

void number_rows(const Job& program, Schedule& schedule) {
  schedule.places.resize(program.waves.size());
  schedule.row_stages.clear();
  for (std::uint32_t stage = 0; stage < schedule.stages.size(); ++stage) {
    schedule.stages[stage].row = static_cast<std::uint32_t>(schedule.row_stages.size());
    if (!schedule.stages[stage].plain) {
      schedule.row_stages.push_back(stage);
    }
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
  const SharedLaunch shared = shared_launch(program, ops, limits);
  Schedule schedule{.group_size = shared.group_size, .main_options = shared.main_options};
  for (const ProgramWave& wave : program.waves) {
    // Shifts compute the tile of a work-item.
    const std::uint32_t size = wave.range.group_size();
    const bool shares = limits.tiles_side_by_side != 0 && std::has_single_bit(size);
    schedule.tiles_per_pack.push_back(shares ? std::max(schedule.group_size / size, 1U) : 1);
  }
  TIDEGATE_TRY(schedule.storage, storage_of(program));
  StageMaker maker{program, ops, shared.obstacles, strategy, limits, schedule};
  for (std::size_t group = 0; group < groups.group_count(); ++group) {
    maker.add(groups.group(group));
  }
  number_rows(program, schedule);
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

// Names the largest buffer of a wave, the first candidate to shrink.
std::string largest_buffer(const Job& program, std::uint32_t wave) {
  const std::vector<MemoryUse> uses = uses_of(program.waves[wave].arguments);
  if (uses.empty()) {
    return {};
  }
  const auto bytes = [&](const MemoryUse& use) { return program.buffers[use.buffer].bytes; };
  const ProgramBuffer& largest = program.buffers[std::ranges::max(uses, {}, bytes).buffer];
  return fmt::format("; its largest buffer is {}, {}", in_quotes(largest.name), bytes_text(largest.bytes));
}

// The planner's error with its place in the program.
Error refusal(Error error, const Job& program) {
  error = planning::worded(std::move(error), [&program](std::uint64_t wave) {
    return program.wave_text(static_cast<std::uint32_t>(wave));
  });
  if (error.code == ErrorCode::cycle) { // resolve() refuses self-dependencies
    for (const ResolvedDependency& each : program.dependencies) {
      if (each.before == *error.before && each.after == *error.after && each.index) {
        error.pointer = fmt::format("/dependencies/{}", *each.index);
      }
    }
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

namespace {

// Returns true if tiles of `lanes` work-items with barriers can share a work-group: there are 15 named
// barriers, of whole warps.
bool packable(std::uint32_t lanes, std::uint32_t group_size) {
  constexpr std::uint32_t warp = 32;
  constexpr std::uint32_t named_barriers = 15;
  return std::has_single_bit(lanes) && group_size % lanes == 0 && group_size % warp == 0 &&
         (warp % lanes == 0 || (lanes % warp == 0 && group_size / lanes <= named_barriers));
}

// Returns by buffer: true for an image that some wave writes, or whose place such a one may take.
std::vector<bool> written_images(const Job& program) {
  std::vector<bool> written(program.buffers.size());
  bool swapped = false;
  for (const ProgramWave& wave : program.waves) {
    for (const ProgramArgument& argument : wave.arguments) {
      if (argument.kind == ProgramArgument::Kind::image && argument.writes()) {
        written[argument.buffer] = true;
        swapped |= program.buffers[argument.buffer].swapped;
      }
    }
  }
  for (std::size_t i = 0; i < written.size() && swapped; ++i) {
    written[i] = written[i] || (program.buffers[i].swapped && program.buffers[i].is_object());
  }
  return written;
}

// Returns the key with the largest weight; the first of equals.
template <class Key>
Key heaviest(const std::map<Key, double>& weights, Key otherwise) {
  return weights.empty()
             ? otherwise
             : std::ranges::max_element(weights, {}, [](const auto& of) { return of.second; })->first;
}

// Decides which waves a launch with this work-group size and these options can run.
struct Shareability {
  const Job& program;
  const OutlinedOps& ops;
  const KernelLimits& limits;
  const std::vector<bool> written = written_images(program); // by buffer
  const std::uint32_t group_size = choose_group_size();
  const std::uint32_t unit = main_options(); // whose compiler options the launch has

  // Returns why a wave cannot join it, or an empty string.
  [[nodiscard]] std::string obstacle(const ProgramWave& wave) const {
    const opencl_c::OutlinedKernel& kernel = ops.kernels[wave.op];
    const std::uint32_t size = wave.range.group_size();
    if (!ops.alone[wave.op].empty()) {
      return ops.alone[wave.op];
    }
    if (const auto image = written_image(wave)) {
      return fmt::format(
          "it uses the image {}, which waves write: that reaches other work-groups when a launch ends",
          in_quotes(program.buffers[*image].name));
    }
    if (program.unit(wave.op).built_in.empty() &&
        program.unit(wave.op).parsed_options.others != program.units[unit].parsed_options.others) {
      return "its compiler options differ from those of the other ops";
    }
    if (!kernel.sub_group_functions.empty()) {
      return fmt::format("its kernel calls {}: a compiler chooses the sub-groups again for every kernel",
                         *kernel.sub_group_functions.begin());
    }
    if (!kernel.needs_whole_group) {
      return {};
    }
    if (!limits.barrier_kernels_share) {
      return "its kernel has barriers or local memory, and no self-test has found such kernels right on this "
             "device as cases of one kernel";
    }
    if (size != group_size && !packs(wave)) {
      return fmt::format("its kernel has barriers or local memory and work-groups of {}, the others of {}",
                         size, group_size);
    }
    return wave.range.ragged() ? "its kernel has barriers or local memory and its last work-group is smaller"
                               : std::string();
  }

  // Returns true if several of its virtual work-groups may share one work-group.
  [[nodiscard]] bool packs(const ProgramWave& wave) const {
    const opencl_c::OutlinedKernel& kernel = ops.kernels[wave.op];
    const std::uint32_t lanes = wave.range.group_size();
    return limits.named_barriers && kernel.packs && packable(lanes, group_size) &&
           kernel.local_bytes * (group_size / lanes) <= limits.local_bytes;
  }

  // Returns an image of a wave that some wave writes.
  [[nodiscard]] std::optional<std::uint32_t> written_image(const ProgramWave& wave) const {
    for (const ProgramArgument& argument : wave.arguments) {
      if (argument.kind == ProgramArgument::Kind::image && written[argument.buffer]) {
        return argument.buffer;
      }
    }
    return {};
  }

  // Returns the work-group size: the one that most tiles of kernels with barriers need, else the size of most work-items
  // that run, as a smaller work-group runs a tile in several passes; multiplied by the number of concurrent tiles.
  [[nodiscard]] std::uint32_t choose_group_size() const {
    const std::uint32_t max_group_size = limits.group_size;
    std::map<std::uint32_t, double> strict; // tiles
    std::map<std::uint32_t, double> all;    // work-items
    for (const ProgramWave& wave : program.waves) {
      const std::uint32_t size = wave.range.group_size();
      if (size > max_group_size || !program.unit(wave.op).built_in.empty() || !ops.alone[wave.op].empty() ||
          written_image(wave) || !ops.kernels[wave.op].sub_group_functions.empty()) {
        continue;
      }
      const auto tiles = static_cast<double>(tiles_as_written(wave));
      all[size] += tiles * size * static_cast<double>(program.runs_of(wave));
      if (ops.kernels[wave.op].needs_whole_group && !wave.range.ragged()) {
        strict[size] += tiles;
      }
    }
    // If smaller tiles can share a work-group, the largest size fits all.
    const std::uint32_t size = !strict.empty() && limits.named_barriers
                                   ? strict.rbegin()->first
                                   : heaviest(strict.empty() ? all : strict, std::min(max_group_size, 256U));
    const bool may_pack = std::has_single_bit(size) && (strict.empty() || limits.named_barriers);
    const std::uint32_t most = may_pack ? std::max(max_group_size / size, 1U) : 1;
    return size * std::clamp(limits.tiles_side_by_side, 1U, most);
  }

  // Returns the first unit of those whose compiler options cover most tiles.
  [[nodiscard]] std::uint32_t main_options() const {
    std::map<std::vector<std::string>, double> weights;
    for (const ProgramWave& wave : program.waves) {
      if (program.unit(wave.op).built_in.empty()) {
        weights[program.unit(wave.op).parsed_options.others] += static_cast<double>(tiles_as_written(wave));
      }
    }
    const auto options = heaviest(weights, std::vector<std::string>());
    for (std::uint32_t i = 0; i < program.units.size(); ++i) {
      if (program.units[i].parsed_options.others == options) {
        return i;
      }
    }
    return 0;
  }
};

} // namespace

SharedLaunch shared_launch(const Job& program, const OutlinedOps& ops, const KernelLimits& limits) {
  const Shareability launch{program, ops, limits};
  SharedLaunch shared{.group_size = launch.group_size, .main_options = launch.unit};
  for (const ProgramWave& wave : program.waves) {
    shared.obstacles.push_back(launch.obstacle(wave));
  }
  return shared;
}

} // namespace tidegate::engine
