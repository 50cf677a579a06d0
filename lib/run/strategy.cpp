#include <tidegate/core/text.hpp>
#include <tidegate/run/strategy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace tidegate::run {
namespace {

double proved_barrier_ns(const device::DeviceProfile& profile) {
  for (const device::OrderingTrial& trial : profile.trials) {
    if (trial.ordering == profile.ordering && trial.barrier_ns) {
      return *trial.barrier_ns;
    }
  }
  return std::numeric_limits<double>::infinity();
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
                              const Schedule& persistent, const device::DeviceProfile& profile) {
  // How often `until` lets the waves repeat is not known; what matters then is the cost of one iteration.
  const double iterations = program.until && program.iterations == std::numeric_limits<std::uint32_t>::max()
                                ? 1000
                                : program.iterations;
  const bool until = program.until.has_value();
  const double launch_ns = overhead_ns(launches, Strategy::launch, until, iterations, profile);
  const double barrier_ns = overhead_ns(persistent, Strategy::barrier, until, iterations, profile);
  std::string reason = fmt::format(
      "starting and meeting cost {:.3g} us persistently and {:.3g} us in launches (a barrier of all "
      "work-groups takes {:.1f} us, a launch {:.1f} us",
      barrier_ns / 1000, launch_ns / 1000, proved_barrier_ns(profile) / 1000, profile.launch_ns / 1000);
  if (const std::size_t alone = plain_stages(persistent.stages); alone != 0) {
    reason += fmt::format("; {} cannot share a launch", plural(alone, "wave"));
  }
  return {.strategy = barrier_ns < launch_ns ? Strategy::barrier : Strategy::launch, .reason = reason + ')'};
}

} // namespace

double overhead_ns(const Schedule& schedule, Strategy strategy, bool until, double iterations,
                   const device::DeviceProfile& profile) {
  const double round_trip = profile.launch_round_trip_ns;
  // Filling the counters of a persistent launch, reading its progress back and waiting for both are about two
  // launches with a wait.
  const double start = 2 * round_trip;
  const double barrier = proved_barrier_ns(profile);
  const bool one_launch = strategy == Strategy::barrier && !schedule.any_plain();
  const auto once = [&](Stages stages) {
    const auto plain = static_cast<double>(plain_stages(stages));
    const auto count = static_cast<double>(stages.size());
    if (strategy == Strategy::launch) {
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
  if (device->type == device::DeviceType::cpu) {
    return {Strategy::launch, "on a CPU a wait for a work-group whose core is busy costs more than a launch"};
  }
  if (launches.stages.size() == 1 && program.iterations == 1) {
    return {Strategy::launch, "there is one group of waves: nothing has to wait"};
  }
  return choose_by_cost(program, launches, persistent, *device->profile);
}

} // namespace tidegate::run
