// Cost model: the parts of estimates, and decisions that depend on them: numbers of work-groups, the order of tiles, the first slice.
#include "../program_support.hpp"
#include "engine/strategy.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;
using Waits = StageLoad::Waits;

namespace {

// A wave of `tiles` tiles of 256 work-items that reads and writes `bytes` per work-item, in every iteration.
ProgramLoad chain(std::uint32_t tiles, std::uint64_t bytes, std::uint32_t side_by_side,
                  bool interpreted = false) {
  const std::uint64_t all = 2 * 256 * bytes * tiles;
  return {.stages = {{.waits = Waits::few,
                      .packs = (tiles + side_by_side - 1) / side_by_side,
                      .work_items = 256 * std::uint64_t{tiles},
                      .bytes = all}},
          .repeat_end = 1,
          .iterations = 1000,
          .interpreted = interpreted,
          .group_size = 256 * side_by_side,
          .footprint_bytes = all};
}

} // namespace

TEST_CASE("what runs before and after the repetition counts once, and plain stages start launches again") {
  const DeviceModel model;
  ProgramLoad load{.repeat_begin = 2, .repeat_end = 3, .iterations = 100, .group_size = 256};
  load.stages.assign(5, {.packs = 132, .work_items = 132 * 256});
  const auto cost = [&](Strategy strategy) {
    const device::CostParts parts = estimate(load, {.strategy = strategy, .workers = 132}, model);
    CHECK(parts.sum() == parts.start + parts.launches + parts.barriers + parts.waits + parts.work);
    return parts;
  };
  const double host_ns = model.round_trip_ns - model.launch_ns;
  CHECK(cost(Strategy::launch).launches == 104 * model.launch_ns);
  CHECK(cost(Strategy::launch).start == host_ns);
  CHECK(cost(Strategy::barrier).launches == 0);
  CHECK(cost(Strategy::barrier).waits == 0);
  CHECK(cost(Strategy::barrier).barriers ==
        doctest::Approx(104 * (model.costs.barrier_ns + 132 * model.costs.barrier_group_ns)));
  CHECK(cost(Strategy::barrier).start == model.costs.persistent_start_ns);
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
  CHECK(cost(Strategy::counters).barriers == 0);
}

TEST_CASE("waits for all tiles of a wave are longer, the more groups have them") {
  ProgramLoad load = chain(132, 16, 1);
  for (const auto& [awaited, groups] :
       {std::pair(10U, 10U), std::pair(132U, 66U)}) { // each group has two of 132
    load.stages[0].awaited_packs = awaited;
    CHECK(estimate(load, {.strategy = Strategy::counters, .workers = 66}, DeviceModel()).waits ==
          doctest::Approx(1000 * (850 + groups * 2 * 2.56)));
  }
}

TEST_CASE("as many work-groups as the waits and the turns make best") {
  const DeviceModel model;
  const auto workers = [&](const ProgramLoad& load, Strategy strategy, std::uint32_t resident = 1056) {
    return best_workers(load, strategy, TileMapping::strided, model, resident);
  };
  // As in examples/programs/heat: 150 tiles that cannot overlap, on 132 units; no group gets a second tile.
  ProgramLoad heat = chain(150, 8, 1);
  heat.stages[0].waits = Waits::all;
  heat.stages[0].meets = true;
  CHECK(workers(heat, Strategy::barrier) == 150);
  CHECK(workers(heat, Strategy::counters) == 150);
  CHECK(workers(heat, Strategy::barrier, 100) == 75); // two tiles each, instead of one and two
  // Each further group makes a barrier more expensive, but not waits for neighbours.
  CHECK(workers(chain(4224, 4, 1), Strategy::counters) == 1056);
  CHECK(workers(chain(4224, 4, 1), Strategy::barrier) < 1056);
  CHECK(best_workers(heat, Strategy::barrier, TileMapping::strided, model, 1056, 40) == 40);
  CHECK(best_workers(heat, Strategy::barrier, TileMapping::strided, model, 1056, 4000) == 150);
  DeviceModel cpu;
  cpu.cpu = true;
  cpu.compute_units = 16;
  CHECK(best_workers(heat, Strategy::barrier, TileMapping::strided, cpu, 16) == 16);
}

TEST_CASE("tiles are walked back and forth where the caches do not hold them") {
  DeviceModel model;
  CHECK(best_mapping(chain(132, 16, 1), Strategy::barrier, model) == TileMapping::strided);
  CHECK(best_mapping(chain(132, 16, 1), Strategy::counters, model) == TileMapping::blocked);
  CHECK(best_mapping(chain(8448, 16, 1), Strategy::barrier, model) == TileMapping::serpentine);
  model.cpu = true;
  CHECK(best_mapping(chain(8448, 16, 1), Strategy::barrier, model) == TileMapping::strided);
}

TEST_CASE("the first slice is longer where nothing loops") {
  const DeviceModel model;
  ProgramLoad load = chain(150, 8, 1);
  const LaunchShape shape{.strategy = Strategy::barrier, .workers = 150};
  const std::uint64_t turns = first_slice_turns(load, shape, model, 150'000'000);
  CHECK(turns > 1000); // heat in one slice
  CHECK(turns < 10'000);
  CHECK(first_slice_turns(load, shape, model, 1) == 256);
  load.stages[0].loops = true;
  CHECK(first_slice_turns(load, shape, model, 150'000'000) == 256);
}

TEST_CASE("a program's load follows from its schedule") {
  Job program = program_of(2, {4096, 1 << 20});
  program.waves = {wave_of(0, {reads(0), writes(1)}, range_of(1024, 64)), wave_of(1, {updates(1)})};
  program.dependencies = {{.before = 0, .after = 1}};
  program.iterations = std::numeric_limits<std::uint32_t>::max();
  program.until = ResolvedUntil{};
  OutlinedOps ops;
  ops.kernels.resize(2, {.function = "f", .locals = ""});
  ops.kernels[1].needs_whole_group = true;
  ops.kernels[1].loop_depth = 2;
  ops.kernels[1].accesses = 7;
  ops.alone.resize(2);
  const auto schedule =
      make_schedule(program, ops, layers_of(program), Strategy::barrier, {.group_size = 64});
  REQUIRE(schedule);
  const MemoryLayout memory{.offsets = {0, 4096}, .lifetimes = {}};
  const auto waits = synchronize(program, *schedule, memory, Strategy::barrier);
  const ProgramLoad load = load_of(program, ops, *schedule, waits, true);
  REQUIRE(load.stages.size() == 2);
  CHECK(load.iterations == 1000); // an upper bound only
  CHECK((load.until && load.interpreted));
  CHECK(load.group_size == 64);
  CHECK(load.footprint_bytes == 4096 + (1 << 20));
  const auto text_of = [](const StageLoad& stage) {
    return fmt::format("{} {} {} {} {} {} {}", stage.packs, stage.work_items, stage.bytes, stage.meets,
                       stage.loops, stage.accesses, stage.awaited_packs);
  };
  CHECK(text_of(load.stages[0]) ==
        fmt::format("16 1024 {} false false 0 0", // all of the small buffer, and one
                    4096 + 16 * 1024));           // vector per item of the other
  CHECK(text_of(load.stages[1]) == fmt::format("1 64 {} true true 7 0", 16 * 64));
  CHECK(load.stages[1].waits == Waits::all);
  Synchronization whole = waits;
  whole.stages[1] = {.waits = {{.wave = 1, .producer = 0, .halo = {}}}};
  CHECK(load_of(program, ops, *schedule, whole, true).stages[1].awaited_packs == 16);
  whole.stages[1].waits.front().halo = 1;
  CHECK(load_of(program, ops, *schedule, whole, true).stages[1].awaited_packs == 0);
}
