// For what the stages of a persistent launch wait: by hand, and random programs held against the checker,
// which is held against waits that were broken on purpose.
#include "../program_support.hpp"
#include <tidegate/compiler/launch_tables.hpp>
#include <tidegate/compiler/synchronization.hpp>
#include <tidegate/compiler/wait_check.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tidegate;
using namespace tidegate::compiler;
using namespace tidegate::compiler::test;

namespace {

ProgramArgument near(ProgramArgument argument, std::uint32_t halo) {
  argument.halo = {halo, 0, 0};
  argument.element_bytes = 4;
  return argument;
}

struct Launch {
  Schedule schedule;
  MemoryLayout memory;
  Synchronization synchronization;
  LaunchTables tables;
};

// Buffers one behind the other, so that none shares memory, unless offsets are given.
Launch launch(const ResolvedProgram& program, Strategy strategy = Strategy::counters,
              std::vector<std::uint64_t> offsets = {}) {
  OutlinedOps ops;
  ops.kernels.resize(program.ops.size(), {.function = "f", .locals = ""});
  ops.alone.resize(program.ops.size());
  auto schedule = make_schedule(program, ops, layers_of(program), strategy, {.group_size = 64});
  REQUIRE(schedule);
  Launch made{.schedule = std::move(*schedule), .memory = {}, .synchronization = {}, .tables = {}};
  std::uint64_t next = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    made.memory.offsets.push_back(next);
    next += buffer.bytes;
  }
  if (!offsets.empty()) {
    made.memory.offsets = std::move(offsets);
  }
  made.synchronization = synchronize(program, made.schedule, made.memory, strategy);
  made.tables = make_tables(program, made.schedule, made.memory, made.synchronization, Mode::interpreter,
                            Cases::per_op);
  return made;
}

std::string violation(const ResolvedProgram& program, const Launch& made, std::uint32_t groups) {
  return wait_violation(program, made.schedule, made.memory, made.tables, made.synchronization.order, groups);
}

// Stages divided by " | ": "everybody", or waits as "2<1+3" (wave 2 for wave 1, three tiles to each side),
// "2<1" for all tiles, with ' for the iteration before; then ! if it is announced.
std::string text(const Synchronization& synchronization) {
  std::string text;
  for (const StageWaits& stage : synchronization.stages) {
    text += text.empty() ? "" : " | ";
    std::string waits = stage.everybody ? "everybody" : "";
    for (const Wait& wait : stage.waits) {
      waits += (waits.empty() ? "" : " ") + std::to_string(wait.wave) + "<" + std::to_string(wait.producer) +
               (wait.earlier_iteration ? "'" : "") + (wait.halo ? "+" + std::to_string(*wait.halo) : "");
    }
    text += (waits.empty() ? "-" : waits) + (stage.announced ? "!" : "");
  }
  return text;
}

// A chain that goes back and forth between two buffers; each tile reads its neighbours'.
ResolvedProgram chain(std::uint32_t waves, std::uint32_t iterations) {
  ResolvedProgram program = program_of(1, {4096, 4096});
  for (std::uint32_t i = 0; i < waves; ++i) {
    program.waves.push_back(
        wave_of(0, {near(reads(i % 2), 1), near(writes(1 - i % 2), 0)}, range_of(1024, 64)));
  }
  program.iterations = iterations;
  program.derived = true;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  return program;
}

} // namespace

TEST_CASE("a stencil waits for its neighbours, in this iteration and in the one before") {
  const ResolvedProgram program = chain(2, 10);
  const Launch made = launch(program);
  CHECK(text(made.synchronization) == "0<1'+1! | 1<0+1!");
  CHECK(made.synchronization.order == TileOrder::blocked);
  REQUIRE(made.tables.waits.size() == 2);
  CHECK(made.tables.steps == 2);
  CHECK(made.tables.waits[0].steps == 1); // from the first stage back to the last of the iteration before
  CHECK(made.tables.waits[1].steps == 1);
  CHECK(made.tables.waits[0].halo == 1);
  for (const std::uint32_t groups : {1, 2, 3, 5, 16}) {
    CHECK(violation(program, made, groups) == "");
  }
}

TEST_CASE("what is ordered by others is not waited for again") {
  // Wave 2 writes what wave 0 reads: through wave 1 it has waited for two tiles to each side.
  CHECK(text(launch(chain(4, 1)).synchronization) == "-! | 1<0+1! | 2<1+1! | 3<2+1");
}

TEST_CASE("a stage that most of another depends on waits for everybody") {
  ResolvedProgram program = chain(2, 10);
  program.waves[1].arguments[0].halo.reset();
  CHECK(text(launch(program).synchronization) == "everybody | everybody"); // both ways
  CHECK(violation(program, launch(program), 3) == "");
  CHECK(text(launch(program, Strategy::barrier).synchronization) == "everybody | everybody");
  CHECK(launch(program, Strategy::barrier).synchronization.order == TileOrder::strided);
}

TEST_CASE("waves that share no memory go their own way") {
  // Two chains side by side: neither waits for the other.
  ResolvedProgram program = program_of(1, {64, 64, 64, 64});
  for (std::uint32_t i = 0; i < 2; ++i) {
    program.waves.push_back(wave_of(0, {reads(0), writes(1)}, range_of(1024, 64)));
    program.waves.push_back(wave_of(0, {reads(2), writes(3)}, range_of(1024, 64)));
    program.waves.push_back(wave_of(0, {reads(1), writes(0)}, range_of(512, 64)));
    program.waves.push_back(wave_of(0, {reads(3), writes(2)}, range_of(512, 64)));
  }
  program.derived = true;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  const Launch made = launch(program);
  CHECK(text(made.synchronization) == "-! | 2<0 3<1! | 4<2 5<3! | 6<4 7<5");
  CHECK(violation(program, made, 4) == "");
}

TEST_CASE("where every group has the same tiles there is nobody to wait for") {
  ResolvedProgram program = program_of(1, {4096, 4096, 4096});
  program.waves = {wave_of(0, {near(reads(0), 0), near(writes(1), 0)}, range_of(1024, 64)),
                   wave_of(0, {near(reads(1), 0), near(writes(2), 0)}, range_of(1024, 64))};
  program.derived = true;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  const Launch made = launch(program);
  CHECK(text(made.synchronization) == "- | -");
  CHECK(violation(program, made, 5) == "");
}

TEST_CASE("buffers that share memory are kept apart by waits") {
  ResolvedProgram program = program_of(3, {64, 64, 64, 64});
  program.waves = {wave_of(0, {writes(0)}, range_of(1024, 64)),
                   wave_of(1, {reads(0), writes(1)}, range_of(64, 64)),
                   wave_of(2, {reads(1), writes(2)}, range_of(1024, 64))};
  program.derived = true;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  const Launch apart = launch(program);
  CHECK(text(apart.synchronization) == "- | everybody! | 2<1");
  const Launch shared = launch(program, Strategy::counters, {0, 64, 0, 128}); // b2 lies where b0 was
  CHECK(violation(program, shared, 3) == "");
}

TEST_CASE("a dependency that the program states is waited for, and as far as it says") {
  ResolvedProgram program = chain(2, 1);
  program.derived = false;
  program.dependencies = {{.before = 0, .after = 1, .halo = {{3, 0, 0}}}};
  CHECK(text(launch(program).synchronization) == "-! | 1<0+3");
  program.dependencies[0].halo.reset(); // it may be for what no argument shows
  CHECK(text(launch(program).synchronization) == "- | everybody");
}

TEST_CASE("halos of rows and layers count in tiles of the whole range") {
  ResolvedProgram program = program_of(1, {4096, 4096});
  const NdRange range{.dimensions = 3, .global = {8, 8, 8}, .local = {2, 2, 2}, .groups = {4, 4, 4}};
  ProgramArgument read = reads(0);
  read.halo = {1, 2, 1};
  ProgramArgument written = writes(1);
  written.halo.emplace();
  ProgramArgument back = reads(1);
  back.halo.emplace();
  program.waves = {wave_of(0, {read, written}, range), wave_of(0, {back, writes(0)}, range)};
  program.derived = true;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  // What wave 1 writes has no halo: all of it must have been read.
  CHECK(text(launch(program).synchronization) == "- | everybody");
  program.waves[1].arguments[1].halo.emplace();
  CHECK(text(launch(program).synchronization) == "-! | 1<0+25"); // 1 + 4 * 2 + 16 * 1
}

TEST_CASE("phases are divided by everybody") {
  ResolvedProgram program = chain(3, 4);
  program.waves[0].phase = WavePhase::before;
  program.waves[2].phase = WavePhase::after;
  program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  const Launch made = launch(program);
  CHECK(text(made.synchronization) == "- | - | everybody");
  CHECK(made.tables.stages[0].flags == StageRow::arrives);
  CHECK((made.tables.stages[1].flags & StageRow::arrives) != 0);
  for (const std::uint32_t groups : {1, 2, 3}) {
    CHECK(violation(program, made, groups) == "");
  }
}

TEST_CASE("the checker finds waits that are missing, too short, or for what never comes") {
  const ResolvedProgram program = chain(3, 5);
  const Launch good = launch(program);
  REQUIRE(violation(program, good, 4) == "");

  Launch missing = good;
  missing.tables.stages[1].wait_count = 0;
  CHECK(violation(program, missing, 4) ==
        "wave 1 (op0) of iteration 0 begins in group 0 before group 1 has ended wave 0 (op0) of "
        "iteration 0");

  Launch narrow = good;
  narrow.tables.waits[narrow.tables.stages[1].first_wait].halo = 0;
  CHECK(violation(program, narrow, 4) ==
        "wave 1 (op0) of iteration 0 begins in group 0 before group 1 has ended wave 0 (op0) of "
        "iteration 0");

  Launch itself = good;
  itself.tables.waits[itself.tables.stages[1].first_wait].steps = 0;
  CHECK(violation(program, itself, 4) == "stage 1 waits for itself");

  Launch silent = good;
  silent.tables.stages[0].flags = 0;
  CHECK(violation(program, silent, 4) == "stage 1 waits for group 0 to tell of step 1, it tells of 0");

  Launch lonely = launch(program, Strategy::barrier);
  REQUIRE(violation(program, lonely, 4) == "");
  lonely.tables.stages[0].flags = StageRow::everybody;
  CHECK(violation(program, lonely, 4) == "stage 1 waits for arrivals that stage 0 does not make");
}

TEST_CASE("random programs: every wait that is there suffices, and fewer do not always") {
  const std::uint64_t start = seed();
  MESSAGE("TIDEGATE_SEED=" << start);
  Numbers random(start);
  std::uint32_t broken = 0;
  std::uint32_t found = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t buffers = 2 + random.below(4);
    const std::uint32_t waves = 2 + random.below(6);
    ResolvedProgram program = program_of(waves, std::vector<std::uint64_t>(buffers, 64));
    for (std::uint32_t i = 0; i < waves; ++i) {
      const std::array<std::uint32_t, 3> sizes{64, 512, 640};
      std::vector<ProgramArgument> arguments;
      for (std::uint32_t k = 0, count = 1 + random.below(3); k < count; ++k) {
        const std::uint32_t buffer = random.below(buffers);
        ProgramArgument argument = random.chance(50)   ? reads(buffer)
                                   : random.chance(50) ? writes(buffer)
                                                       : updates(buffer);
        if (random.chance(70)) {
          argument = near(argument, random.below(3));
        }
        arguments.push_back(argument);
      }
      program.waves.push_back(
          wave_of(i, arguments, range_of(sizes[random.below(random.chance(60) ? 1 : 3)] * 2, 64)));
      program.waves.back().phase = random.chance(85)   ? WavePhase::each
                                   : random.chance(50) ? WavePhase::before
                                                       : WavePhase::after;
    }
    program.waves.front().phase = WavePhase::each;
    program.iterations = 1 + random.below(5);
    if (random.chance(30)) {
      program.swaps = {{0, 1}};
      program.buffers[0].swapped = program.buffers[1].swapped = true;
    }
    program.derived = true;
    program.dependencies = derive_dependencies(program.waves, buffers);
    std::vector<std::uint64_t> offsets;
    if (random.chance(20) && program.swaps.empty() && buffers > 2) { // the last lies where the first does
      for (std::uint32_t i = 0; i < buffers; ++i) {
        offsets.push_back(i + 1 == buffers ? 0 : 64 * std::uint64_t{i});
      }
    }
    const Launch made = launch(program, random.chance(80) ? Strategy::counters : Strategy::barrier, offsets);
    const std::uint32_t groups = 1 + random.below(6);
    // Buffers that share memory must not be touched by waves of one stage; layers say nothing of that.
    if (offsets.empty()) {
      REQUIRE_MESSAGE(violation(program, made, groups) == "", "round " << round);
    }
    // One wait less.
    if (made.tables.waits.empty() || groups < 2 || !offsets.empty()) {
      continue;
    }
    Launch less = made;
    WaitRow& wait = less.tables.waits[random.below(less.tables.waits.size())];
    wait.end = wait.begin;
    ++broken;
    found += violation(program, less, 6).empty() ? 0 : 1;
  }
  // Some waits are for a tile of the group itself, as the tiles are dealt out, and are not missed.
  CHECK(broken > 50);
  CHECK(found * 2 > broken);
}
