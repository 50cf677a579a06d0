// The choice between launches and a persistent launch.
#include "../program_support.hpp"
#include <tidegate/compiler/strategy.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace tidegate;
using namespace tidegate::compiler;
using namespace tidegate::compiler::test;

namespace {

// As an H200 measures itself: a barrier of 1056 groups of 256 3.3 us, launch 4.5 us, launch and wait 11 us.
device::DeviceInfo gpu() {
  device::DeviceInfo device{.name = "GPU", .type = device::DeviceType::gpu, .compute_units = 132};
  device.profile = device::DeviceProfile{.workgroup_size = 256,
                                         .co_resident_groups = 1056,
                                         .ordering = device::Ordering::ptx,
                                         .trials = {{.ordering = device::Ordering::ptx,
                                                     .verdict = device::TrialVerdict::passed,
                                                     .barrier_ns = 3300.0}},
                                         .launch_ns = 4500,
                                         .launch_round_trip_ns = 11000};
  return device;
}

// Stages of one wave each; of every `period` stages the first `plain` cannot share a launch.
Schedule schedule_of(std::uint32_t stages, std::uint32_t plain = 0, std::uint32_t period = 1) {
  Schedule schedule{.group_size = 256, .repeat_end = stages, .places = {{}}};
  for (std::uint32_t i = 0; i < stages; ++i) {
    schedule.stages.push_back({.waves = {i}, .tiles = 132, .packs = 132, .plain = i % period < plain});
  }
  return schedule;
}

Strategy chosen(const Schedule& persistent, std::uint32_t iterations = 1) {
  const device::DeviceInfo device = gpu();
  ResolvedProgram program = program_of(1, {});
  program.iterations = iterations;
  return choose_strategy({.device = &device}, program,
                         schedule_of(static_cast<std::uint32_t>(persistent.stages.size())), persistent)
      .strategy;
}

} // namespace

TEST_CASE("many stages pay, few do not") {
  CHECK(chosen(schedule_of(100)) == Strategy::barrier);
  CHECK(chosen(schedule_of(4)) == Strategy::launch);   // 22 us to start, 3.6 us gained a stage
  CHECK(chosen(schedule_of(10)) == Strategy::barrier); // measured: 1.11 times as fast as plain launches
  CHECK(chosen(schedule_of(4), 10) == Strategy::barrier);
}

TEST_CASE("what runs before and after the repetition counts once") {
  Schedule schedule = schedule_of(5);
  schedule.repeat_begin = 2;
  schedule.repeat_end = 3;
  const auto cost = [&](Strategy strategy, bool until) {
    return overhead_ns(schedule, strategy, until, 100, 132, *gpu().profile, {});
  };
  const double barrier = 3300 * (0.18 + 0.82 / 8); // of 132 groups, an eighth of those that are resident
  CHECK(cost(Strategy::launch, false) == 104 * 4500);
  CHECK(cost(Strategy::barrier, false) == doctest::Approx(2 * 11000 + 104 * barrier));
  CHECK(cost(Strategy::launch, true) == 104 * 4500 + 100 * 11000);
  schedule.stages[1].plain = true; // two persistent launches more than iterations: before, and after
  CHECK(cost(Strategy::barrier, false) == doctest::Approx(102 * 2 * 11000 + 103 * barrier + 4500));
}

TEST_CASE("waves that cannot share a launch are counted") {
  // Rodinia's lud: 63 of 94 waves alone, the others one by one between them.
  CHECK(chosen(schedule_of(94, 2, 3)) == Strategy::launch);
  CHECK(chosen(schedule_of(100, 1, 100)) == Strategy::barrier); // one of a hundred does not matter
}

TEST_CASE("the reason has the figures") {
  const device::DeviceInfo device = gpu();
  const ResolvedProgram program = program_of(1, {});
  CHECK(choose_strategy({.device = &device}, program, schedule_of(100), schedule_of(100, 1, 100)).reason ==
        "starting and meeting cost 119 us persistently and 450 us in launches (a barrier of the work-groups "
        "takes 0.9 us, a launch 4.5 us; 1 wave cannot share a launch)");
}

TEST_CASE("what is asked for, and what may not be") {
  device::DeviceInfo device = gpu();
  const ResolvedProgram program = program_of(1, {});
  const auto choice = [&](StrategyQuestion question) {
    question.device = &device;
    return choose_strategy(question, program, schedule_of(100), schedule_of(100));
  };
  CHECK(choice({.asked_for = Strategy::launch}).reason == "asked for");
  CHECK(choice({.asked_for = Strategy::barrier}).strategy == Strategy::barrier);
  CHECK(choice({.asked_for = Strategy::barrier, .distrust_litmus = true}).strategy == Strategy::launch);
  const device::Tuning measured{.strategy = device::PreferredStrategy::counters};
  CHECK(choice({.tuning = measured}).strategy == Strategy::counters);
  CHECK(choice({.tuning = measured}).reason == "measured as the fastest, by the profile");
  CHECK(choice({.asked_for = Strategy::launch, .tuning = measured}).strategy == Strategy::launch);
  CHECK(choice({.distrust_litmus = true, .tuning = measured}).strategy == Strategy::launch);
  device.type = device::DeviceType::cpu;
  CHECK(choice({}).strategy == Strategy::launch);
  device.profile.reset();
  CHECK(choice({.asked_for = Strategy::barrier}).strategy == Strategy::launch);
  CHECK(choice({.dry_run = true}).reason == "planned for a device whose self-test passes");
}

TEST_CASE("constants of the profile") {
  const device::DeviceInfo device = gpu();
  const ResolvedProgram program = program_of(1, {});
  const auto strategy = [&](const device::Tuning& tuning) {
    return choose_strategy({.device = &device, .tuning = tuning}, program, schedule_of(10), schedule_of(10))
        .strategy;
  };
  CHECK(strategy({}) == Strategy::barrier);
  CHECK(strategy({.persistent_margin = 2}) == Strategy::launch);
  CHECK(strategy({.barrier_fixed_share = 1}) == Strategy::launch);

  Schedule schedule = schedule_of(1);
  schedule.stages[0].tiles = schedule.stages[0].packs = 132 * 8;
  const auto workers = [&](const device::Tuning& tuning, Strategy waits = Strategy::barrier) {
    return choose_workers(schedule, waits, 132, 1056, tuning);
  };
  CHECK(workers({}) == 4 * 132);
  CHECK(workers({.groups_per_unit = 2}) == 2 * 132);
  CHECK(workers({.packs_per_group_barrier = 8}) == 132);
  CHECK(workers({.groups_per_unit = 8, .packs_per_group_counters = 1}, Strategy::counters) == 8 * 132);
  CHECK(workers({.work_items_filling_unit = 8 * 256}) == 1056);
  CHECK(workers({.workers = 100}) == 100);
  CHECK(workers({.workers = 5000}) == 1056); // no more than are resident

  CHECK(choose_order(program, Strategy::barrier, &device, {}) == TileOrder::strided);
  CHECK(choose_order(program, Strategy::barrier, &device, {.order = device::PreferredOrder::serpentine}) ==
        TileOrder::serpentine);
}
