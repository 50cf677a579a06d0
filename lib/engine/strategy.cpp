#include "engine/strategy.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::engine {
namespace {

using device::CostParts;
using StageLoads = std::span<const StageLoad>;

// Assumed number of queue turns of a queue whose ops requeue.
constexpr double rounds_of_a_queue = 8;

// Assumed upper limit of a buffer's bytes per work-item; a kernel that accesses more has a loop.
constexpr std::uint64_t most_bytes_per_item = 16;

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

// Returns the share of compute units that work while `groups` are dealt out; units with one group fewer wait.
double busy_share(std::uint64_t groups, const DeviceModel& model) {
  groups = std::max<std::uint64_t>(groups, 1);
  const std::uint64_t units = std::max(model.compute_units, 1U);
  return static_cast<double>(groups) / static_cast<double>(units * divided_up(groups, units));
}

double traffic_ns(const StageLoad& stage, const ProgramLoad& load, TileMapping mapping,
                  const DeviceModel& model) {
  const auto bytes = static_cast<double>(stage.bytes);
  const double cache = model.costs.cache_bytes;
  // The previous stage's last data comes first, and half of the cache still holds it.
  const double kept = static_cast<double>(load.footprint_bytes) <= cache ? bytes
                      : mapping == TileMapping::serpentine               ? std::min(bytes, cache) / 2
                                                                         : 0;
  return kept / model.costs.cached_bytes_per_ns + (bytes - kept) / model.costs.memory_bytes_per_ns;
}

// Returns the time of a stage's work, of which a compute unit runs `turns` tiles one after another.
double work_ns(const StageLoad& stage, const ProgramLoad& load, TileMapping mapping, const DeviceModel& model,
               std::uint64_t turns, std::uint64_t groups) {
  const double descriptor = load.interpreted && !stage.plain ? model.costs.descriptor_ns : 0;
  const double tiles = std::max(stage.accesses / 2, 1.0); // of the self-test, with a read and a write each
  const double first = model.costs.tile_ns * tiles + descriptor;
  const double next = stage.meets ? first : model.costs.next_tile_ns * tiles + descriptor;
  return first + static_cast<double>(turns - 1) * next +
         traffic_ns(stage, load, mapping, model) / busy_share(groups, model);
}

CostParts of_launch(const StageLoad& stage, const ProgramLoad& load, const DeviceModel& model) {
  const std::uint64_t turns = std::max<std::uint64_t>(
      divided_up(stage.work_items, std::max<std::uint64_t>(model.resident_work_items, 1)), 1);
  const double work = work_ns(stage, load, TileMapping::strided, model, turns, stage.packs);
  return {.launches = model.launch_ns + stage.queue_rounds * (model.launch_ns + model.round_trip_ns),
          .work = std::max(work - model.launch_ns, 0.0)};
}

CostParts of_persistent(const StageLoad& stage, const ProgramLoad& load, const LaunchShape& shape,
                        const DeviceModel& model) {
  const bool everybody = shape.strategy == Strategy::barrier || stage.waits == StageLoad::Waits::all;
  const double meetings = (everybody ? 1 : 0) + 2 * stage.queue_rounds;
  // Polling a line of each group takes twice as long as an arrival of each at one counter.
  const double lines = std::min(stage.awaited_packs, shape.workers);
  const double few = model.costs.wait_ns + 2 * lines * model.costs.barrier_group_ns;
  return {.barriers = meetings * (model.costs.barrier_ns + model.costs.barrier_group_ns * shape.workers),
          .waits = !everybody && stage.waits == StageLoad::Waits::few ? few : 0,
          .work = work_ns(stage, load, shape.mapping.value_or(TileMapping::strided), model,
                          divided_up(stage.packs, shape.workers), std::min(shape.workers, stage.packs))};
}

// The host waits for the end of a persistent launch and reads the position.
double start_ns(const DeviceModel& model) {
  return model.costs.persistent_start_ns + model.round_trip_ns;
}

// Sums the cost of consecutive stages, `inside` a persistent launch that began before them or not. Each run of
// shared stages between plain ones starts such a launch.
CostParts of_stages(StageLoads stages, const ProgramLoad& load, const LaunchShape& shape,
                    const DeviceModel& model, bool inside) {
  CostParts sum;
  for (const StageLoad& stage : stages) {
    const bool alone = stage.plain || !is_persistent(shape.strategy);
    add(sum, alone ? of_launch(stage, load, model) : of_persistent(stage, load, shape, model), 1);
    sum.start += !alone && !inside ? start_ns(model) : 0;
    inside = !alone;
  }
  return sum;
}

} // namespace

ProgramLoad load_of(const Job& program, const OutlinedOps& ops, const Schedule& schedule,
                    const Synchronization& synchronization, bool interpreted) {
  // The number of iterations with `until` is unknown; the cost of one iteration then decides.
  constexpr double many = 1000;
  const bool endless = program.until && program.iterations == std::numeric_limits<std::uint32_t>::max();
  ProgramLoad load{.stages = {},
                   .repeat_begin = schedule.repeat_begin,
                   .repeat_end = schedule.repeat_end,
                   .iterations = endless ? many : program.iterations,
                   .until = program.until.has_value(),
                   .interpreted = interpreted,
                   .group_size = std::max(schedule.group_size, 1U)};
  std::set<std::uint32_t> touched;
  for (std::size_t i = 0; i < schedule.stages.size(); ++i) {
    const Stage& stage = schedule.stages[i];
    StageLoad own{.plain = stage.plain, .packs = stage.packs};
    const StageWaits& waits = synchronization.stages[i];
    own.waits = waits.everybody       ? StageLoad::Waits::all
                : waits.waits.empty() ? StageLoad::Waits::none
                                      : StageLoad::Waits::few;
    for (const Wait& wait : waits.waits) {
      own.awaited_packs = std::max(own.awaited_packs, wait.halo ? 0 : schedule.stage_of(wait.producer).packs);
    }
    for (const std::uint32_t index : stage.waves) {
      const ProgramWave& wave = program.waves[index];
      const opencl_c::OutlinedKernel& kernel = ops.kernels[wave.op];
      const std::uint64_t items = std::uint64_t{wave.range.tiles()} * wave.range.group_size();
      own.queue_rounds += wave.in_rounds() ? rounds_of_a_queue : 0;
      own.work_items += items;
      own.meets |= kernel.needs_whole_group;
      own.loops |= kernel.loop_depth != 0;
      own.accesses = std::max(own.accesses, kernel.accesses);
      for (const ProgramArgument& argument : wave.arguments) {
        if (argument.is_memory()) {
          const ProgramBuffer& buffer = program.buffers[argument.buffer];
          own.bytes +=
              std::min(buffer.bytes, most_bytes_per_item * items); // most kernels write what they could read
          load.footprint_bytes += touched.insert(argument.buffer).second ? buffer.bytes : 0;
        }
      }
    }
    load.stages.push_back(own);
  }
  return load;
}

DeviceModel model_of(const device::DeviceInfo* device) {
  DeviceModel model;
  if (device == nullptr) {
    return model;
  }
  model.compute_units = std::max(device->compute_units, 1U);
  model.resident_work_items = std::uint64_t{2048} * model.compute_units;
  if (device->profile) {
    const device::DeviceProfile& profile = *device->profile;
    model.measured = true;
    model.resident_work_items = std::uint64_t{profile.co_resident_groups} * profile.workgroup_size;
    model.launch_ns = profile.launch_ns;
    model.round_trip_ns = profile.launch_round_trip_ns;
    model.costs = profile.costs;
  }
  model.cpu = device->type == device::DeviceType::cpu;
  return model;
}

CostParts estimate(const ProgramLoad& load, const LaunchShape& shape, const DeviceModel& model) {
  const bool persistent = is_persistent(shape.strategy);
  const StageLoads all = load.stages;
  const StageLoads repeated = all.subspan(load.repeat_begin, load.repeat_end - load.repeat_begin);
  const bool repeats_inside = persistent && std::ranges::none_of(repeated, &StageLoad::plain);
  const bool one_launch = repeats_inside && std::ranges::none_of(all, &StageLoad::plain);
  CostParts sum{.start = one_launch ? model.costs.persistent_start_ns
                                    : std::max(model.round_trip_ns - model.launch_ns, 0.0)};
  add(sum, of_stages(all.first(load.repeat_begin), load, shape, model, one_launch), 1);
  add(sum, of_stages(repeated, load, shape, model, repeats_inside), load.iterations);
  sum.start += repeats_inside && !one_launch ? start_ns(model) : 0;
  add(sum, of_stages(all.subspan(load.repeat_end), load, shape, model, one_launch), 1);
  if (load.until && !repeats_inside) { // the host tests the condition
    sum.start += load.iterations * model.round_trip_ns;
  }
  return sum;
}

std::uint32_t best_workers(const ProgramLoad& load, Strategy strategy, TileMapping mapping,
                           const DeviceModel& model, std::uint32_t resident,
                           std::optional<std::uint32_t> wanted) {
  std::uint32_t packs = 1; // of the largest stage
  for (const StageLoad& stage : load.stages) {
    packs = stage.plain ? packs : std::max(packs, stage.packs);
  }
  const std::uint32_t most = std::max(std::min(packs, resident), 1U);
  if (wanted || model.cpu) {
    return std::clamp(wanted.value_or(most), 1U, most);
  }
  constexpr std::uint64_t most_turns = 64; // that a smaller number of groups cannot achieve
  std::set<std::uint32_t> numbers{most};
  for (std::uint64_t times = 1; times <= most_turns; times *= 2) {
    numbers.insert(static_cast<std::uint32_t>(divided_up(packs, times * divided_up(packs, most))));
  }
  for (std::uint64_t groups = model.compute_units; groups <= most; groups *= 2) {
    numbers.insert(static_cast<std::uint32_t>(groups));
  }
  std::uint32_t best = most;
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t workers : numbers) {
    const double cost =
        estimate(load, {.strategy = strategy, .mapping = mapping, .workers = workers}, model).sum();
    if (cost < least) {
      least = cost;
      best = workers;
    }
  }
  return best;
}

TileMapping best_mapping(const ProgramLoad& load, Strategy strategy, const DeviceModel& model) {
  const TileMapping usual = strategy == Strategy::counters ? TileMapping::blocked : TileMapping::strided;
  const auto traffic = [&](TileMapping mapping) {
    double sum = 0;
    for (const StageLoad& stage : load.stages) {
      sum += traffic_ns(stage, load, mapping, model);
    }
    return sum;
  };
  // Each core of a CPU has separate caches.
  return !model.cpu && traffic(TileMapping::serpentine) < traffic(usual) ? TileMapping::serpentine : usual;
}

std::uint64_t first_slice_turns(const ProgramLoad& load, const LaunchShape& shape, const DeviceModel& model,
                                std::uint64_t slice_ns) {
  constexpr double few = 256;
  constexpr double many = 65'536;
  constexpr double wrong_by = 32; // largest error of the model if no kernel loops
  const bool loops = std::ranges::any_of(load.stages, &StageLoad::loops);
  if (loops || model.cpu || !is_persistent(shape.strategy)) {
    return static_cast<std::uint64_t>(few);
  }
  double longest = 1; // longest stage, an upper bound on a turn
  for (const StageLoad& stage : load.stages) {
    longest = std::max(longest, stage.plain ? 0 : of_persistent(stage, load, shape, model).sum());
  }
  return static_cast<std::uint64_t>(
      std::clamp(static_cast<double>(slice_ns) / (wrong_by * longest), few, many));
}

namespace {

using Candidates = std::vector<Candidate>;

// Returns the cheapest candidate that satisfies `may`.
template <class Condition>
std::size_t least(const Candidates& candidates, Condition may) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (may(candidates[i]) && (!best || candidates[i].estimated_ns < candidates[*best].estimated_ns)) {
      best = i;
    }
  }
  return best.value_or(0);
}

auto of(Strategy strategy) {
  return [strategy](const Candidate& candidate) { return candidate.shape.strategy == strategy; };
}

bool is_persistent_one(const Candidate& candidate) {
  return is_persistent(candidate.shape.strategy);
}

// Lists the cheapest candidate of each strategy.
std::string estimates_text(const Candidates& candidates) {
  std::string text;
  for (std::size_t i = 0; i < strategy_names.size(); ++i) {
    const Candidate& best = candidates[least(candidates, of(static_cast<Strategy>(i)))];
    if (best.shape.strategy == static_cast<Strategy>(i)) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", strategy_names[i],
                          short_time_text(best.estimated_ns));
    }
  }
  return text;
}

// In one kernel every op uses the registers of the most demanding one. A small gain in starts and barriers is
// lost in the work, hence the margin on them.
std::size_t cheapest(const Candidates& candidates, std::string& reason) {
  constexpr double margin = 1.25;
  const std::size_t launch = least(candidates, std::not_fn(is_persistent_one));
  const std::size_t persistent = least(candidates, is_persistent_one);
  const device::CostParts& cost = candidates[persistent].cost;
  const bool pays = is_persistent_one(candidates[persistent]) &&
                    margin * (cost.sum() - cost.work) + cost.work < candidates[launch].estimated_ns;
  const bool close = !pays && cost.sum() < candidates[launch].estimated_ns;
  reason = "estimated: " + estimates_text(candidates);
  if (close) {
    reason += fmt::format("; starting and meeting count {:.3g} times", margin);
  }
  if (const auto alone = std::ranges::count_if(candidates[persistent].load.stages, &StageLoad::plain);
      alone != 0 && is_persistent_one(candidates[persistent])) {
    reason += fmt::format("; {} cannot share a launch", plural(static_cast<std::size_t>(alone), "wave"));
  }
  return pays ? persistent : launch;
}

void refuse_persistent(Candidates& candidates, std::string_view reason) {
  for (Candidate& candidate : candidates) {
    if (is_persistent_one(candidate)) {
      candidate.refused = reason;
    }
  }
}

} // namespace

std::vector<std::uint32_t> packings(const Job& program, std::uint32_t compute_units,
                                    const CompileOptions& options) {
  constexpr std::uint32_t most_work_items = 512; // of a work-group that runs tiles side by side
  const auto stated = options.side_by_side.value_or(options.tuning.side_by_side);
  if (stated != 0 || options.mode.value_or(Mode::jit) != Mode::jit) {
    return {std::max(stated, 1U)};
  }
  std::uint32_t tiles = 1;
  std::uint32_t size = 1;
  for (const ProgramWave& wave : program.waves) {
    if (wave.range.tiles() > tiles) {
      tiles = wave.range.tiles();
      size = wave.range.group_size();
    }
  }
  const std::uint32_t units = std::max(compute_units, 1U);
  const std::uint32_t most = std::bit_floor(
      std::clamp(most_work_items / size, 1U, std::max(tiles / units + (tiles % units != 0 ? 1 : 0), 1U)));
  return most == 1 ? std::vector{1U} : std::vector{most, 1U};
}

std::vector<Candidate> find_candidates(const Job& program, const OutlinedOps& ops, const Schedules& schedules,
                                       const MemoryLayout& memory, const CompileOptions& options,
                                       const DeviceModel& model) {
  Candidates candidates;
  const auto add = [&](Strategy strategy, std::size_t index) {
    const Schedule& schedule = schedules.all[index];
    Candidate candidate{.shape = {.strategy = strategy},
                        .schedule = index,
                        .waits = synchronize(program, schedule, memory, strategy)};
    candidate.load =
        load_of(program, ops, schedule, candidate.waits, options.mode.value_or(Mode::jit) != Mode::jit);
    const ProgramLoad& load = candidate.load;
    if (is_persistent(strategy)) {
      const auto resident = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
          model.resident_work_items / load.group_size, 1, std::numeric_limits<std::int32_t>::max()));
      const std::optional<TileMapping> stated = options.mapping ? options.mapping : options.tuning.mapping;
      TileMapping mapping = stated.value_or(best_mapping(load, strategy, model));
      if (strategy == Strategy::counters && mapping == TileMapping::strided) {
        mapping = TileMapping::blocked; // groups wait for consecutive tiles
      }
      const std::uint32_t workers = options.workers.value_or(options.tuning.workers);
      candidate.shape = {.strategy = strategy,
                         .mapping = mapping,
                         .workers = best_workers(load, strategy, mapping, model, resident,
                                                 workers == 0 ? std::nullopt : std::optional(workers))};
      candidate.waits.mapping = mapping;
      candidate.side_by_side =
          schedule.tiles_per_pack.empty() ? 1 : std::ranges::max(schedule.tiles_per_pack);
    }
    candidate.cost = estimate(load, candidate.shape, model);
    candidate.estimated_ns = candidate.cost.sum();
    candidates.push_back(std::move(candidate));
  };
  add(Strategy::launch, Schedules::launch);
  for (const Strategy strategy : {Strategy::barrier, Strategy::counters}) {
    for (std::size_t i = Schedules::first_persistent; i < schedules.all.size(); ++i) {
      add(strategy, i);
    }
  }
  // If launches share no waves, they are plain already.
  if (schedules.all[Schedules::plain].stages.size() != schedules.all[Schedules::launch].stages.size() ||
      options.wanted() == Strategy::plain) {
    add(Strategy::plain, Schedules::plain);
  }
  return candidates;
}

StrategyChoice choose_strategy(const CompileOptions& options, const device::DeviceInfo* device,
                               std::vector<Candidate> candidates) {
  StrategyChoice choice;
  const auto take = [&](std::size_t taken, std::string reason) {
    choice.strategy = candidates[taken].shape.strategy;
    choice.reason = std::move(reason);
    candidates[taken].taken = true;
    choice.candidates = std::move(candidates);
    return std::move(choice);
  };
  const bool unknown = device == nullptr || !device->profile;
  const std::optional<Strategy> wanted = options.wanted();
  const std::string why = options.strategy ? "requested" : options.why;
  if (!(options.dry_run && unknown) && (unknown || !device->profile->ordering)) {
    refuse_persistent(
        candidates, unknown ? "the device's self-test has not run here, and nothing may wait inside a launch "
                              "before: a persistent --strategy or `tidegate devices --probe` runs it"
                            : "the device has not passed the self-test: no memory ordering between "
                              "work-groups is proved, so nothing may wait inside a launch");
    const bool launches = wanted && !is_persistent(*wanted);
    const auto refused = std::ranges::find_if(candidates, is_persistent_one);
    return take(launches ? least(candidates, of(*wanted)) : 0, launches ? why : *refused->refused);
  }
  if (wanted && (options.strategy || !unknown)) {
    return take(least(candidates, of(*wanted)), why);
  }
  if (unknown) {
    return take(least(candidates, is_persistent_one),
                "planned for a device whose self-test passes: " + estimates_text(candidates) +
                    " by the costs of an H200");
  }
  if (device->type == device::DeviceType::cpu) {
    refuse_persistent(candidates,
                      "on a CPU a wait for a work-group whose core is busy costs more than a launch");
    return take(0, std::ranges::find_if(candidates, is_persistent_one)->refused.value());
  }
  std::string reason;
  const std::size_t taken = cheapest(candidates, reason);
  return take(taken, std::move(reason));
}

} // namespace tidegate::engine
