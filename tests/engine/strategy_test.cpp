// The choice between launches and persistent launches.
#include "../program_support.hpp"
#include "engine/strategy.hpp"

#include <doctest/doctest.h>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

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

TEST_CASE("every way is there, with its figure") {
  const std::vector<Candidate> candidates = candidates_of(chain_of(100));
  REQUIRE(candidates.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(candidates[i].shape.strategy == static_cast<Strategy>(i));
    CHECK(candidates[i].cost.sum() > 0);
    CHECK(candidates[i].shape.workers == (i == 0 ? 0 : 132));
  }
}

TEST_CASE("the reason has the figures") {
  const device::DeviceInfo device = gpu();
  const auto reason = [&](const Chain& chain) {
    return choose_strategy({}, &device, candidates_of(chain)).reason;
  };
  CHECK(reason(chain_of(100, 1, 100)) ==
        "estimated: launch 456 us, barrier 155 us, counters 154 us; 1 wave cannot share a launch");
  CHECK(reason(chain_of(10)) == "estimated: launch 51.4 us, barrier 23.6 us, counters 22.6 us");
  CHECK(reason(chain_of(2)).ends_with("; starting and meeting count 1.25 times"));
}

TEST_CASE("explicit choices, and choices that are refused") {
  device::DeviceInfo device = gpu();
  const auto choice = [&](const CompileOptions& options) {
    return choose_strategy(options, &device, candidates_of(chain_of(100)));
  };
  CHECK(choice({.strategy = Strategy::launch}).reason == "requested");
  CHECK(choice({.strategy = Strategy::launch}).strategy == Strategy::launch);
  CHECK(choice({.strategy = Strategy::barrier}).strategy == Strategy::barrier);
  CHECK(choice({.strategy = Strategy::counters}).strategy == Strategy::counters);
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
