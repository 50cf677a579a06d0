// Estimates: their parts, and what they decide: launches or persistent launches, numbers of work-groups, the order of tiles,
// the first slice.
#include "../program_support.hpp"
#include "engine/strategy.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;
using Waits = StageLoad::Waits;

namespace {

// Measurements of an H200.
device::DeviceInfo gpu() {
  device::DeviceInfo device{.name = "GPU", .type = device::DeviceType::gpu, .compute_units = 132};
  device.profile = device::DeviceProfile{.workgroup_size = 256,
                                         .co_resident_groups = 1056,
                                         .ordering = device::MemoryOrdering::ptx,
                                         .trials = {},
                                         .launch_ns = 4500,
                                         .launch_round_trip_ns = 10'900};
  return device;
}

// A chain of waves of 132 tiles; of every `period` waves, the first `plain` need separate launches.
struct Chain {
  Job program;
  OutlinedOps ops;
  Schedules schedules;
  MemoryLayout memory;
};

Chain chain_of(std::uint32_t waves, std::uint32_t plain = 0, std::uint32_t period = 1) {
  Chain chain{.program = program_of(1, {4 * 132 * 256}), .ops = {}, .schedules = {}, .memory = {}};
  chain.ops.kernels.resize(1, {.function = "f", .locals = ""});
  chain.ops.alone.resize(1);
  chain.memory.offsets = {0};
  for (std::uint32_t i = 0; i < waves; ++i) {
    chain.program.waves.push_back(wave_of(0, {updates(0)}, range_of(132 * 256, 256)));
  }
  for (const bool persistent : {false, false, true}) {
    Schedule schedule{.group_size = 256, .repeat_end = waves, .tiles_per_pack = {}, .storage = {{0}}};
    schedule.tiles_per_pack.assign(waves, 1);
    for (std::uint32_t i = 0; i < waves; ++i) {
      schedule.stages.push_back(
          {.waves = {i}, .tiles = 132, .packs = 132, .plain = !persistent || i % period < plain});
    }
    number_rows(chain.program, schedule);
    chain.schedules.all.push_back(std::move(schedule));
  }
  return chain;
}

std::vector<Candidate> candidates_of(const Chain& chain) {
  const device::DeviceInfo device = gpu();
  return find_candidates(chain.program, chain.ops, chain.schedules, chain.memory, {}, model_of(&device));
}

Strategy chosen(const Chain& chain) {
  const device::DeviceInfo device = gpu();
  return choose_strategy({}, &device, candidates_of(chain)).strategy;
}

Chain repeated(Chain chain, std::uint32_t iterations) {
  chain.program.iterations = iterations;
  return chain;
}

} // namespace

TEST_CASE("many stages pay, few do not, and waves that cannot share a launch count") {
  for (const auto& [chain, pays] : {std::pair(chain_of(100), true), std::pair(chain_of(1), false),
                                    std::pair(chain_of(2), false), // the gain is within the margin
                                    std::pair(chain_of(15), true), std::pair(repeated(chain_of(2), 10), true),
                                    std::pair(chain_of(94, 2, 3), false), // 63 of 94, the others one by one
                                    std::pair(chain_of(100, 1, 100), true)}) {
    CHECK(is_persistent(chosen(chain)) == pays);
  }
}

TEST_CASE("every way is there with its estimate, and the reason has the lowest of each") {
  const device::DeviceInfo device = gpu();
  const std::vector<Candidate> candidates = candidates_of(chain_of(100, 1, 100));
  REQUIRE(candidates.size() == 3);
  std::vector<std::string> estimates;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(candidates[i].shape.strategy == static_cast<Strategy>(i));
    CHECK(candidates[i].estimated_ns == candidates[i].cost.sum());
    CHECK(candidates[i].shape.workers == (i == 0 ? 0 : 132));
    estimates.push_back(fmt::format("{} {}", strategy_names[i], short_time_text(candidates[i].estimated_ns)));
  }
  CHECK(choose_strategy({}, &device, candidates).reason ==
        fmt::format("estimated: {}; 1 wave cannot share a launch", fmt::join(estimates, ", ")));
  CHECK(choose_strategy({}, &device, candidates_of(chain_of(2)))
            .reason.ends_with("; starting and meeting count 1.25 times"));
}

TEST_CASE("explicit choices, and choices that are refused") {
  device::DeviceInfo device = gpu();
  const auto choice = [&](const CompileOptions& options) {
    return choose_strategy(options, &device, candidates_of(chain_of(100)));
  };
  for (const Strategy strategy : {Strategy::launch, Strategy::barrier, Strategy::counters}) {
    CHECK(choice({.strategy = strategy}).reason == "requested");
    CHECK(choice({.strategy = strategy}).strategy == strategy);
  }
  device.profile->ordering.reset();
  const StrategyChoice distrusted = choice({.strategy = Strategy::barrier});
  CHECK(distrusted.strategy == Strategy::launch);
  CHECK(!distrusted.candidates[0].refused);
  CHECK(distrusted.candidates[1].refused == distrusted.reason);
  CHECK(distrusted.reason.starts_with("the device has not passed the self-test: "));
  const device::Tuning measured{.strategy = Strategy::counters};
  CHECK(choice({.tuning = measured}).strategy == Strategy::launch);
  device::DeviceInfo untested = device;
  untested.profile.reset();
  const StrategyChoice early = choose_strategy({}, &untested, candidates_of(chain_of(100)));
  CHECK(early.strategy == Strategy::launch);
  CHECK(early.reason.starts_with("the device's self-test has not run here"));
  device.profile->ordering = device::MemoryOrdering::ptx;
  CHECK(choice({.tuning = measured}).strategy == Strategy::counters);
  CHECK(choice({.tuning = measured, .why = "so it was measured"}).reason == "so it was measured");
  CHECK(choice({.strategy = Strategy::launch, .tuning = measured}).strategy == Strategy::launch);
  device.type = device::DeviceType::cpu;
  CHECK(choice({}).strategy == Strategy::launch);
  CHECK(choice({}).reason == "on a CPU a wait for a work-group whose core is busy costs more than a launch");
  CHECK(choice({.strategy = Strategy::barrier}).strategy == Strategy::barrier);
  device.profile.reset();
  CHECK(choice({.strategy = Strategy::barrier}).strategy == Strategy::launch);
  CHECK(choice({.dry_run = true}).reason.starts_with("planned for a device whose self-test passes: "));
  CHECK(is_persistent(choice({.dry_run = true}).strategy));
}

TEST_CASE("tiles run side by side where each unit has some left, unless a choice is stated") {
  Job program = program_of(1, {});
  program.waves = {wave_of(0, {}, range_of(1056 * 256, 256))};
  CHECK(packings(program, 132, {}) == std::vector{2U, 1U});
  CHECK(packings(program, 132, {.mode = Mode::interpreter}) == std::vector{1U});
  CHECK(packings(program, 132, {.side_by_side = 4}) == std::vector{4U});
  CHECK(packings(program, 132, {.tuning = {.side_by_side = 8}}) == std::vector{8U});
  CHECK(packings(chain_of(10).program, 132, {}) == std::vector{1U}); // a tile for each unit
}

namespace {

// A wave of `tiles` tiles of 256 work-items that reads and writes `bytes` per work-item, in every iteration.
ProgramLoad load_with(std::uint32_t tiles, std::uint64_t bytes, std::uint32_t side_by_side) {
  const std::uint64_t all = 2 * 256 * bytes * tiles;
  return {.stages = {{.waits = Waits::few,
                      .packs = (tiles + side_by_side - 1) / side_by_side,
                      .work_items = 256 * std::uint64_t{tiles},
                      .bytes = all}},
          .repeat_end = 1,
          .iterations = 1000,
          .group_size = 256 * side_by_side,
          .footprint_bytes = all};
}

} // namespace

TEST_CASE("what runs before and after the repetition counts once, and plain stages start launches again") {
  const DeviceModel model;
  ProgramLoad load{.repeat_begin = 2, .repeat_end = 3, .iterations = 100, .group_size = 256};
  load.stages.assign(5, {.packs = 132, .work_items = 132 * 256});
  const auto cost = [&](Strategy strategy) {
    return estimate(load, {.strategy = strategy, .workers = 132}, model);
  };
  const double host_ns = model.round_trip_ns - model.launch_ns;
  CHECK(cost(Strategy::launch).launches == 104 * model.launch_ns);
  load.until = true; // the host checks after every iteration, unless the device does
  CHECK(cost(Strategy::launch).start == host_ns + 100 * model.round_trip_ns);
  CHECK(cost(Strategy::barrier).start == model.costs.persistent_start_ns);
  load.until = false;
  load.stages[1].plain = true; // three persistent launches: before, all iterations, and after
  CHECK(cost(Strategy::barrier).launches == model.launch_ns);
  CHECK(cost(Strategy::barrier).start ==
        host_ns + 3 * (model.costs.persistent_start_ns + model.round_trip_ns));
  for (StageLoad& stage : load.stages) {
    stage.waits = Waits::few;
  }
  CHECK(cost(Strategy::counters).waits == 104 * model.costs.wait_ns - model.costs.wait_ns);
}

TEST_CASE("as many work-groups as the waits and the turns make best") {
  const DeviceModel model;
  const auto workers = [&](const ProgramLoad& load, Strategy strategy, std::uint32_t resident = 1056) {
    return best_workers(load, strategy, TileMapping::strided, model, resident);
  };
  // As in examples/programs/heat: 150 tiles that cannot overlap, on 132 units; no group gets a second tile.
  ProgramLoad heat = load_with(150, 8, 1);
  heat.stages[0].waits = Waits::all;
  heat.stages[0].meets = true;
  CHECK(workers(heat, Strategy::barrier) == 150);
  CHECK(workers(heat, Strategy::counters) == 150);
  CHECK(workers(heat, Strategy::barrier, 100) == 75); // two tiles each, instead of one and two
  // Each further group makes a barrier more expensive, but not waits for neighbours.
  CHECK(workers(load_with(4224, 4, 1), Strategy::counters) == 1056);
  CHECK(workers(load_with(4224, 4, 1), Strategy::barrier) < 1056);
  CHECK(best_workers(heat, Strategy::barrier, TileMapping::strided, model, 1056, 40) == 40);
  CHECK(best_workers(heat, Strategy::barrier, TileMapping::strided, model, 1056, 4000) == 150);
  DeviceModel cpu;
  cpu.cpu = true;
  cpu.compute_units = 16;
  CHECK(best_workers(heat, Strategy::barrier, TileMapping::strided, cpu, 16) == 16);
}

TEST_CASE("tiles are walked back and forth where the caches do not hold them") {
  DeviceModel model;
  CHECK(best_mapping(load_with(132, 16, 1), Strategy::barrier, model) == TileMapping::strided);
  CHECK(best_mapping(load_with(132, 16, 1), Strategy::counters, model) == TileMapping::blocked);
  CHECK(best_mapping(load_with(8448, 16, 1), Strategy::barrier, model) == TileMapping::serpentine);
  model.cpu = true;
  CHECK(best_mapping(load_with(8448, 16, 1), Strategy::barrier, model) == TileMapping::strided);
}

TEST_CASE("the first slice is longer where nothing loops") {
  const DeviceModel model;
  ProgramLoad load = load_with(150, 8, 1);
  const LaunchShape shape{.strategy = Strategy::barrier, .workers = 150};
  const std::uint64_t turns = first_slice_turns(load, shape, model, 150'000'000);
  CHECK(turns > 1000); // heat in one slice
  CHECK(turns < 10'000);
  CHECK(first_slice_turns(load, shape, model, 1) == 256);
  load.stages[0].loops = true;
  CHECK(first_slice_turns(load, shape, model, 150'000'000) == 256);
}
