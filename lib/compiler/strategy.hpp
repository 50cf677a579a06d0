// In how many launches a program runs, and why.
#pragma once

#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/compiler/schedule.hpp>
#include <tidegate/compiler/synchronization.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/tuning.hpp>

#include <optional>
#include <string>

namespace tidegate::compiler {

struct StrategyChoice {
  Strategy strategy = Strategy::launch;
  std::string reason; // for people
};

// What the choice rests on.
struct StrategyQuestion {
  std::optional<Strategy> asked_for;
  const device::DeviceInfo* device = nullptr; // null: planned for none in particular
  bool dry_run = false;
  bool distrust_litmus = false; // as if the self-test had proved no ordering
  device::Tuning tuning;
};

// What a profile asks for; nothing where it leaves the choice to the estimates.
std::optional<Strategy> preferred(device::PreferredStrategy strategy);
std::optional<TileOrder> preferred(device::PreferredOrder order);

// Persistent where the self-test proved an ordering, and the profile prefers it or the estimate says that it
// pays: no profile makes anything wait on a device that has not passed. `launches` and
// `persistent` are the schedules that the program would have.
StrategyChoice choose_strategy(const StrategyQuestion& question, const ResolvedProgram& program,
                               const Schedule& launches, const Schedule& persistent);

// Tiles that a work-group of a persistent launch runs side by side, where the profile does not say: twice 256
// work-items and two groups of them for each compute unit were best or near it on an H200 wherever there were
// tiles enough (RESULTS.md).
// Kernels with barriers keep their size: what they do in local memory is cut to it.
std::uint32_t choose_side_by_side(const ResolvedProgram& program, const OutlinedOps& ops,
                                  const device::DeviceInfo* device, const device::Tuning& tuning);

// Walking back over what was touched last pays where the caches do not hold all of it; neighbours' tiles in
// one group keep waits few. Otherwise tiles are dealt out one by one, which evens out what costs unlike.
TileOrder choose_order(const ResolvedProgram& program, Strategy strategy, const device::DeviceInfo* device,
                       const device::Tuning& tuning);

// Work-groups of a persistent launch for a schedule, of those that are `resident` together. Every group more
// makes the barrier dearer, every group less hides less of the memory's latency: measured on an H200
// (RESULTS.md), one pack of tiles for each group with counters, two with barriers, and four groups for each
// compute unit are best until there are tiles enough to fill it: the defaults of the profile.
std::uint32_t choose_workers(const Schedule& schedule, Strategy strategy, std::uint32_t compute_units,
                             std::uint32_t resident, const device::Tuning& tuning);

// Nanoseconds that a schedule spends on starting and meeting, beside the work itself, in `iterations` of its
// iterations: the model behind the choice. Figures of the profile's self-test.
double overhead_ns(const Schedule& schedule, Strategy strategy, bool until, double iterations,
                   std::uint32_t compute_units, const device::DeviceProfile& profile,
                   const device::Tuning& tuning);

} // namespace tidegate::compiler
