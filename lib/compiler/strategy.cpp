#include <tidegate/compiler/strategy.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>

namespace tidegate::compiler {
namespace {

double proved_barrier_ns(const device::DeviceProfile& profile) {
  for (const device::OrderingTrial& trial : profile.trials) {
    if (trial.ordering == profile.ordering && trial.barrier_ns) {
      return *trial.barrier_ns;
    }
  }
  return std::numeric_limits<double>::infinity();
}

// A barrier of as many groups as the schedule would have. The self-test measured one of all that are
// resident; on an H200 a barrier of an eighth of them takes 0.28 of that (0.93 and 3.3 us), most of it on the
// way to memory and back.
double barrier_ns(const Schedule& schedule, std::uint32_t compute_units, const device::DeviceProfile& profile,
                  const device::Tuning& tuning) {
  const double fixed = tuning.barrier_fixed_share;
  const double resident = std::max(1.0, static_cast<double>(profile.co_resident_groups) *
                                            profile.workgroup_size / std::max(schedule.group_size, 1U));
  const auto workers = static_cast<double>(choose_workers(schedule, Strategy::barrier, compute_units,
                                                          static_cast<std::uint32_t>(resident), tuning));
  return proved_barrier_ns(profile) * (fixed + (1 - fixed) * std::min(workers / resident, 1.0));
}
using Stages = std::span<const Stage>;

// Runs of stages that share a persistent launch, between the plain ones.
std::size_t segments(Stages stages) {
  std::size_t count = 0;
  bool inside = false;
  for (const Stage& stage : stages) {
    count += !stage.plain && !inside ? 1 : 0;
    inside = !stage.plain;
  }
  return count;
}

std::size_t plain_stages(Stages stages) {
  return static_cast<std::size_t>(std::ranges::count_if(stages, &Stage::plain));
}

StrategyChoice choose_by_cost(const ResolvedProgram& program, const Schedule& launches,
                              const Schedule& persistent, std::uint32_t compute_units,
                              const device::DeviceProfile& profile, const device::Tuning& tuning) {
  // How often `until` lets the waves repeat is not known; what matters then is the cost of one iteration.
  const double iterations = program.until && program.iterations == std::numeric_limits<std::uint32_t>::max()
                                ? 1000
                                : program.iterations;
  const bool until = program.until.has_value();
  const double launch_ns =
      overhead_ns(launches, Strategy::launch, until, iterations, compute_units, profile, tuning);
  const double persistent_ns =
      overhead_ns(persistent, Strategy::barrier, until, iterations, compute_units, profile, tuning);
  std::string reason =
      fmt::format("starting and meeting cost {:.3g} us persistently and {:.3g} us in launches (a barrier of "
                  "the work-groups takes "
                  "{:.1f} us, a launch {:.1f} us",
                  persistent_ns / 1000, launch_ns / 1000,
                  barrier_ns(persistent, compute_units, profile, tuning) / 1000, profile.launch_ns / 1000);
  if (const std::size_t alone = plain_stages(persistent.stages); alone != 0) {
    reason += fmt::format("; {} cannot share a launch", plural(alone, "wave"));
  }
  // In one kernel every op has the registers of the hungriest: what gains little in starting loses it in the
  // work, hence the margin.
  return {.strategy =
              tuning.persistent_margin * persistent_ns < launch_ns ? Strategy::barrier : Strategy::launch,
          .reason = reason + ')'};
}

} // namespace

std::optional<Strategy> preferred(device::PreferredStrategy strategy) {
  return strategy == device::PreferredStrategy::automatic
             ? std::nullopt
             : std::optional(static_cast<Strategy>(static_cast<int>(strategy) - 1));
}

std::optional<TileOrder> preferred(device::PreferredOrder order) {
  return order == device::PreferredOrder::automatic
             ? std::nullopt
             : std::optional(static_cast<TileOrder>(static_cast<int>(order) - 1));
}

std::uint32_t choose_workers(const Schedule& schedule, Strategy strategy, std::uint32_t compute_units,
                             std::uint32_t resident, const device::Tuning& tuning) {
  std::uint32_t tiles = 1; // or packs of them
  for (const Stage& stage : schedule.stages) {
    tiles = stage.plain ? tiles : std::max(tiles, stage.packs);
  }
  const std::uint32_t units = std::max(compute_units, 1U);
  const std::uint32_t tiles_per_unit = (tiles + units - 1) / units;
  const std::uint32_t full_from =
      std::max(tuning.work_items_filling_unit / std::max(schedule.group_size, 256U), 1U); // for each unit
  const std::uint32_t tiles_per_group = std::max(
      strategy == Strategy::counters ? tuning.packs_per_group_counters : tuning.packs_per_group_barrier, 1U);
  const std::uint32_t groups = (tiles_per_unit - 1) / tiles_per_group + 1;
  const std::uint32_t most_groups = std::max(tuning.groups_per_unit, 1U);
  const std::uint32_t workers = tuning.workers != 0           ? tuning.workers
                                : tiles_per_unit >= full_from ? resident
                                                              : std::clamp(groups, 1U, most_groups) * units;
  return std::max(std::min({resident, workers, tiles}), 1U);
}

std::uint32_t choose_side_by_side(const ResolvedProgram& program, const OutlinedOps& ops,
                                  const device::DeviceInfo* device, const device::Tuning& tuning) {
  const std::uint32_t work_items = std::max(tuning.side_by_side_work_items, 1U);
  std::uint32_t tiles = 1;
  std::uint32_t size = 1;
  for (const ProgramWave& wave : program.waves) {
    if (ops.alone[wave.op].empty() && ops.kernels[wave.op].needs_whole_group) {
      return 1;
    }
    if (wave.range.tiles() > tiles) {
      tiles = wave.range.tiles();
      size = wave.range.group_size();
    }
  }
  const std::uint32_t units = device == nullptr ? 1 : std::max(device->compute_units, 1U);
  return std::bit_floor(std::clamp(work_items / size, 1U, std::max((tiles + units - 1) / units, 1U)));
}

TileOrder choose_order(const ResolvedProgram& program, Strategy strategy, const device::DeviceInfo* device,
                       const device::Tuning& tuning) {
  if (const auto order = preferred(tuning.order)) {
    return *order;
  }
  std::uint64_t most = 0; // bytes of a wave
  for (const ProgramWave& wave : program.waves) {
    std::uint64_t bytes = 0;
    for (const ProgramArgument& argument : wave.arguments) {
      bytes += argument.is_memory() ? program.buffers[argument.buffer].bytes : 0;
    }
    most = std::max(most, bytes);
  }
  const bool gpu = device != nullptr && device->type == device::DeviceType::gpu;
  const bool exceeds = gpu && device->global_cache_bytes != 0 && most > device->global_cache_bytes;
  return exceeds                          ? TileOrder::serpentine
         : strategy == Strategy::counters ? TileOrder::blocked
                                          : TileOrder::strided;
}

double overhead_ns(const Schedule& schedule, Strategy strategy, bool until, double iterations,
                   std::uint32_t compute_units, const device::DeviceProfile& profile,
                   const device::Tuning& tuning) {
  const double round_trip = profile.launch_round_trip_ns;
  // Filling the counters of a persistent launch, reading its progress back and waiting for both are about two
  // launches with a wait.
  const double start = 2 * round_trip;
  const double barrier = barrier_ns(schedule, compute_units, profile, tuning);
  const bool one_launch = is_persistent(strategy) && !schedule.any_plain();
  const auto once = [&](Stages stages) {
    const auto plain = static_cast<double>(plain_stages(stages));
    const auto count = static_cast<double>(stages.size());
    if (!is_persistent(strategy)) {
      return count * profile.launch_ns;
    }
    return (one_launch ? 0 : static_cast<double>(segments(stages)) * start) +
           (count > plain ? (count - plain) * barrier : 0) + plain * profile.launch_ns;
  };
  const Stages all = schedule.stages;
  const Stages each = all.subspan(schedule.repeat_begin, schedule.repeat_end - schedule.repeat_begin);
  const double asking = until && !one_launch ? round_trip : 0;
  return (one_launch ? start : 0) + once(all.first(schedule.repeat_begin)) +
         iterations * (once(each) + asking) + once(all.subspan(schedule.repeat_end));
}

StrategyChoice choose_strategy(const StrategyQuestion& question, const ResolvedProgram& program,
                               const Schedule& launches, const Schedule& persistent) {
  const device::DeviceInfo* const device = question.device;
  if (question.asked_for == Strategy::launch) {
    return {Strategy::launch, "asked for"};
  }
  if (question.dry_run && (device == nullptr || !device->profile)) {
    return {question.asked_for.value_or(Strategy::barrier),
            question.asked_for ? "asked for" : "planned for a device whose self-test passes"};
  }
  if (device == nullptr || !device->profile || !device->profile->ordering || question.distrust_litmus) {
    return {Strategy::launch,
            "the device has not passed the self-test: no memory ordering between work-groups "
            "is proved, so nothing may wait inside a launch"};
  }
  if (question.asked_for) {
    return {*question.asked_for, "asked for"};
  }
  if (const auto strategy = preferred(question.tuning.strategy)) {
    return {*strategy, "measured as the fastest, by the profile"};
  }
  if (device->type == device::DeviceType::cpu) {
    return {Strategy::launch, "on a CPU a wait for a work-group whose core is busy costs more than a launch"};
  }
  if (launches.stages.size() == 1 && program.iterations == 1) {
    return {Strategy::launch, "there is one group of waves: nothing has to wait"};
  }
  return choose_by_cost(program, launches, persistent, device->compute_units, *device->profile,
                        question.tuning);
}

} // namespace tidegate::compiler
