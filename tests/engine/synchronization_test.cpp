// Waits between the stages of a persistent launch: by hand, and random programs that the checker verifies and
// work-groups run in random order. The checker must also find waits that were broken on purpose.
#include "../program_support.hpp"
#include "engine/launch_tables.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

ProgramArgument near(ProgramArgument argument, std::uint32_t halo) {
  argument.halo = {halo, 0, 0};
  argument.id_bytes = {4, 0, 0};
  return argument;
}

struct Launch {
  Schedule schedule;
  MemoryLayout memory;
  Synchronization synchronization;
  LaunchTables tables;
};

// Buffers in sequence, so that none shares memory, unless offsets are given. Waves with `alone` arguments are launched alone.
Launch launch(Job program, Strategy strategy = Strategy::counters, std::vector<std::uint64_t> offsets = {},
              std::uint32_t side_by_side = 0, std::size_t alone = 0) {
  // Waves of one op have equal numbers of arguments.
  for (ProgramWave& wave : program.waves) {
    wave.op = static_cast<std::uint32_t>(wave.arguments.size());
    program.ops.resize(std::max<std::size_t>(program.ops.size(), wave.op + 1), program.ops.front());
  }
  OutlinedOps ops;
  ops.kernels.resize(program.ops.size(), {.function = "f", .locals = ""});
  ops.alone.resize(program.ops.size());
  if (alone != 0 && alone < ops.alone.size()) {
    ops.alone[alone] = "as the test says";
  }
  auto schedule = make_schedule(program, ops, layers_of(program), strategy,
                                {.group_size = 64, .tiles_side_by_side = side_by_side});
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
  made.tables = make_tables(program, made.schedule, made.memory, made.synchronization, {.most = 0});
  return made;
}

std::string violation(const Job& program, const Launch& made, std::uint32_t groups) {
  return wait_violation(program, made.schedule, made.memory, made.tables, made.synchronization.mapping,
                        groups);
}

// Stages divided by " | ": "everybody", or waits as "2<1+3" (wave 2 for wave 1, three tiles to each side),
// "2<1" for all tiles, with ' for the previous iteration; then ! if it is announced.
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

// A chain between two buffers, alternating; each tile reads its neighbours' elements.
Job chain(std::uint32_t waves, std::uint32_t iterations) {
  Job program = program_of(1, {4096, 4096});
  for (std::uint32_t i = 0; i < waves; ++i) {
    program.waves.push_back(
        wave_of(0, {near(reads(i % 2), 1), near(writes(1 - i % 2), 0)}, range_of(1024, 64)));
  }
  program.iterations = iterations;
  derive(program);
  return program;
}

} // namespace

TEST_CASE("a stage waits for what its waves depend on, in this iteration and in the one before") {
  const NdRange tiles16 = range_of(1024, 64);
  const auto program_with = [](std::vector<ProgramWave> waves, std::uint32_t iterations = 1) {
    Job program = program_of(1, std::vector<std::uint64_t>(4, 4096));
    program.waves = std::move(waves);
    program.iterations = iterations;
    derive(program);
    return program;
  };
  const auto changed = [](Job program, const std::function<void(Job&)>& change) {
    change(program);
    return program;
  };
  const auto rederived = [](Job& program) {
    program.dependencies = derive_dependencies(program.waves, program.buffers.size());
  };
  const auto stated = [](std::optional<Tiles> halo) {
    return [halo](Job& program) {
      program.derived = false;
      program.dependencies = {{.before = 0, .after = 1, .halo = halo}};
    };
  };
  // Halos of rows and layers count in tiles of the whole range; without one for the output, all of it must have been read.
  const auto layers = [&](bool output_known) {
    const NdRange range{.dimensions = 3, .global = {8, 8, 8}, .local = {2, 2, 2}, .groups = {4, 4, 4}};
    const auto with = [](ProgramArgument argument, std::optional<Tiles> halo) {
      argument.halo = halo;
      return argument;
    };
    return program_with({wave_of(0, {with(reads(0), Tiles{1, 2, 1}), with(writes(1), Tiles{})}, range),
                         wave_of(0,
                                 {with(reads(1), Tiles{}),
                                  with(writes(0), output_known ? std::optional(Tiles{}) : std::nullopt)},
                                 range)});
  };
  // Two chains of two waves that share no memory.
  std::vector<ProgramWave> two_chains;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t in = (i % 2) * 2 + (i / 2) % 2;
    two_chains.push_back(wave_of(0, {reads(in), writes(in ^ 1U)}, range_of(i / 2 % 2 == 0 ? 1024 : 512, 64)));
  }
  struct WaitCase {
    std::string name;
    Job program;
    std::string waits;
    Strategy strategy = Strategy::counters;
    std::size_t alone = 0;                   // waves with that many arguments are launched alone
    std::vector<std::uint64_t> offsets = {}; // buffers share memory
  };
  for (
      const WaitCase& expected : std::vector<WaitCase>{
          {"a stencil", chain(2, 10), "0<1'+1! | 1<0+1!"},
          {"a wave that is launched alone, whose end ends a launch",
           changed(chain(2, 10),
                   [&](Job& program) {
                     program.waves.push_back(
                         wave_of(0, {near(reads(1), 1), near(reads(1), 1), near(writes(0), 0)}, tiles16));
                     rederived(program);
                   }),
           "-! | 1<0+1 | -", Strategy::counters, 3},
          // Wave 2 writes the input of wave 0: through wave 1 it has waited for two tiles to each side.
          {"what is ordered by others", chain(4, 1), "-! | 1<0+1! | 2<1+1! | 3<2+1"},
          // Wave 2 also reads what wave 0 wrote in the tiles next to its own; through wave 1 it has waited for its own alone.
          {"what reaches further than the waits of others",
           program_with({wave_of(0, {near(writes(0), 0)}, tiles16),
                         wave_of(0, {near(reads(0), 1), near(writes(1), 0)}, tiles16),
                         wave_of(0, {near(reads(1), 0), near(reads(0), 2), near(writes(2), 0)}, tiles16)}),
           "-! | 1<0+1 | 2<0+2"},
          {"most of another stage, in both directions",
           changed(chain(2, 10), [](Job& program) { program.waves[1].arguments[0].halo.reset(); }),
           "everybody | everybody"},
          {"barriers", chain(2, 10), "everybody | everybody", Strategy::barrier},
          {"two chains", program_with(two_chains), "-! | 2<0 3<1! | 4<2 5<3! | 6<4 7<5"},
          {"the same tiles in every stage",
           program_with({wave_of(0, {near(reads(0), 0), near(writes(1), 0)}, tiles16),
                         wave_of(0, {near(reads(1), 0), near(writes(2), 0)}, tiles16)}),
           "- | -"},
          {"a stated halo", changed(chain(2, 1), stated(Tiles{3, 0, 0})), "-! | 1<0+3"},
          {"a stated dependency without one, which may cover more than the arguments",
           changed(chain(2, 1), stated({})), "- | everybody"},
          {"an output without a halo", layers(false), "- | everybody"},
          {"rows and layers", layers(true), "-! | 1<0+25"}, // 1 + 4 * 2 + 16 * 1
          {"phases",
           changed(chain(3, 4),
                   [&](Job& program) {
                     program.waves[0].section = Section::before;
                     program.waves[2].section = Section::after;
                     rederived(program);
                   }),
           "- | - | everybody"},
          // Wave 0 before the repetition; 1, 2 and 3 in it, of which 1 touches nothing of the others.
          {"an iteration before the first",
           changed(program_with({wave_of(0, {writes(2)}), wave_of(0, {near(updates(2), 0)}, tiles16),
                                 wave_of(0, {near(reads(0), 1), near(writes(1), 0)}, tiles16),
                                 wave_of(0, {near(reads(1), 1), near(writes(0), 0)}, tiles16)},
                                3),
                   [](Job& program) {
                     program.waves[0].section = Section::before;
                     program.dependencies = {{.before = 1, .after = 2}, {.before = 2, .after = 3}};
                   }),
           "-! | - | 2<3'+1! | 3<2+1!"},
          {"buffers of their own",
           program_with({wave_of(0, {writes(0)}, tiles16), wave_of(0, {reads(0), writes(1)}),
                         wave_of(0, {reads(1), writes(2)}, tiles16)}),
           "- | everybody! | 2<1"},
          {"a buffer that shares memory with one before it",
           program_with({wave_of(0, {writes(0)}, tiles16), wave_of(0, {reads(0), writes(1)}),
                         wave_of(0, {reads(1), writes(2)}, tiles16)}),
           "- | everybody! | 2<1",
           Strategy::counters,
           0,
           {0, 4096, 0, 8192}}}) {
    INFO(expected.name);
    const Launch made = launch(expected.program, expected.strategy, expected.offsets, 0, expected.alone);
    CHECK(text(made.synchronization) == expected.waits);
    const bool strided = expected.strategy == Strategy::barrier;
    CHECK(made.synchronization.mapping == (strided ? TileMapping::strided : TileMapping::blocked));
    CHECK(made.schedule.stages.back().plain == (expected.alone != 0));
    for (const std::uint32_t groups : {1, 2, 3, 5, 7, 16}) {
      CHECK(violation(expected.program, made, groups) == "");
    }
  }
}

TEST_CASE("the checker finds waits that are missing, too short, or for what never comes") {
  const Job program = chain(3, 5);
  const Launch good = launch(program);
  REQUIRE(violation(program, good, 4) == "");

  const std::string early =
      "wave 1 (op0) of iteration 0 begins in group 0 before group 1 has ended wave 0 (op0) of iteration 0";
  const auto wait = [](LaunchTables& tables) -> WaitRow& {
    return tables.waits[tables.stages[1].first_wait];
  };
  using Change = std::function<void(LaunchTables&)>;
  for (const auto& [change, named] : std::vector<std::pair<Change, std::string>>{
           {[](LaunchTables& tables) { tables.stages[1].wait_count = 0; }, early},
           {[&](LaunchTables& tables) { wait(tables).halo = 0; }, early},
           {[&](LaunchTables& tables) { wait(tables).steps = 0; }, "stage 1 waits for itself"},
           {[](LaunchTables& tables) { tables.stages[0].flags = 0; },
            "stage 1 waits for group 1 to announce step 1, which it never does"}}) {
    Launch made = good;
    change(made.tables);
    CHECK(violation(program, made, 4) == named);
  }
  Launch lonely = launch(program, Strategy::barrier);
  REQUIRE(violation(program, lonely, 4) == "");
  lonely.tables.stages[0].flags = TG_EVERYBODY;
  CHECK(violation(program, lonely, 4) == "stage 1 waits for arrivals that stage 0 does not make");
}

TEST_CASE("waits for runs of tiles do not serve strided ones") {
  const Job program = chain(2, 3);
  Launch made = launch(program);
  for (const TileMapping mapping : {TileMapping::blocked, TileMapping::serpentine}) {
    made.synchronization.mapping = mapping;
    CHECK(violation(program, made, 3) == "");
  }
  made.synchronization.mapping = TileMapping::strided;
  CHECK(violation(program, made, 3) ==
        "wave 1 (op0) of iteration 0 begins in group 0 before group 2 has ended wave 0 (op0) of iteration 0");
}

TEST_CASE("waves of one stage touch no memory that one of them writes") {
  Job program = program_of(1, {64, 64});
  program.waves = {wave_of(0, {writes(0)}), wave_of(0, {writes(1)})};
  program.derived = true;
  CHECK(violation(program, launch(program), 2) == "");
  CHECK(violation(program, launch(program, Strategy::barrier, {0, 32}), 2) ==
        "wave 0 (op0) and wave 1 (op0) run at the same time and touch the same memory");
  program.waves[1].arguments = {writes(0)};
  CHECK(violation(program, launch(program), 2) ==
        "wave 0 (op0) and wave 1 (op0) run at the same time and touch the same memory");
  program.derived = false; // the program states that they access different parts
  CHECK(violation(program, launch(program), 2) == "");
}

namespace {

// Runs a program tile by tile on cells of 128 bytes: stage by stage, or by work-groups in random order that
// wait as the tables say. A tile mixes the cells that it reads and adds the result to those that it writes:
// the order of a wave's tiles does not matter, but a tile that runs too early leaves other values.
class Machine {
public:
  using Cells = std::vector<std::uint64_t>; // of the arena

  Machine(const Job& program, const Launch& made) : program_(program), made_(made) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      cells_.resize(std::max(cells_.size(), (made.memory.offsets[i] + program.buffers[i].bytes) / 128), 1);
    }
    for (std::uint64_t iteration = 0; iteration <= program_.iterations; ++iteration) {
      for (std::uint32_t row = 0; row < made_.schedule.stages.size(); ++row) {
        const bool before = row < made_.schedule.repeat_begin;
        const bool after = row >= made_.schedule.repeat_end;
        if (before ? iteration == 0 : after == (iteration == program_.iterations)) {
          steps_.push_back({.iteration = iteration, .row = row});
        }
      }
    }
  }

  Cells in_order() {
    for (const Step& step : steps_) {
      current_ = step;
      for (std::uint32_t pack = 0; pack < made_.schedule.stages[step.row].packs; ++pack) {
        run_pack(pack);
      }
    }
    return cells_;
  }

  Cells in_turns(std::uint32_t groups, Numbers& random) {
    std::vector<Group> all(groups);
    std::size_t ended = 0;
    for (std::uint32_t turns = 0; ended < groups && turns < 1'000'000; ++turns) {
      const std::uint32_t at = random.below(groups);
      Group& group = all[at];
      // Some groups run ahead: one continues for a while before the next.
      for (std::uint32_t more = 1 + random.below(20); more > 0 && group.step < steps_.size(); --more) {
        const auto [begin, end] = share(made_.tables.stages[steps_[group.step].row].tiles, at, groups);
        current_ = steps_[group.step];
        if (group.tile == 0 && !may_begin(all, at)) {
          break;
        }
        if (begin + group.tile < end) {
          run_pack(begin + group.tile++);
        }
        if (begin + group.tile >= end) {
          group = {.step = group.step + 1};
          ended += group.step == steps_.size() ? 1 : 0;
        }
      }
    }
    return cells_;
  }

private:
  struct Step {
    std::uint64_t iteration = 0;
    std::uint32_t row = 0;
  };
  struct Group {
    std::size_t step = 0;
    std::uint32_t tile = 0; // the group's tile in this step
  };

  static std::pair<std::uint32_t, std::uint32_t> share(std::uint32_t tiles, std::uint32_t group,
                                                       std::uint32_t groups) {
    return {tiles * group / groups, tiles * (group + 1) / groups};
  }

  bool may_begin(const std::vector<Group>& all, std::uint32_t at) {
    const auto groups = static_cast<std::uint32_t>(all.size());
    const std::size_t now = all[at].step;
    const Step& step = steps_[now];
    const StageRow& stage = made_.tables.stages[step.row];
    const auto reached = [&](std::uint32_t group, std::size_t wanted) { return all[group].step >= wanted; };
    if ((stage.flags & TG_EVERYBODY) != 0 ||
        (step.row == made_.schedule.repeat_begin && step.iteration == 0)) {
      for (std::uint32_t group = 0; group < groups; ++group) {
        if (!reached(group, now)) {
          return false;
        }
      }
      return true;
    }
    const auto own = share(stage.tiles, at, groups);
    for (std::uint32_t i = stage.first_wait; i < stage.first_wait + stage.wait_count; ++i) {
      const WaitRow& wait = made_.tables.waits[i];
      std::uint32_t first = groups; // first group that it waits for, groups between two owners included
      std::uint32_t last = 0;
      for (std::uint32_t tile = std::max(own.first, wait.begin); tile < std::min(own.second, wait.end);
           ++tile) {
        for (std::uint32_t from = wait.from_begin; from < wait.from_end; ++from) {
          const std::int64_t apart = std::int64_t{tile} - wait.begin - from + wait.from_begin;
          for (std::uint32_t group = 0; group < groups; ++group) {
            const auto [begin, end] = share(wait.from_tiles, group, groups);
            if ((wait.halo == TG_WHOLE || std::abs(apart) <= wait.halo) && begin <= from && from < end) {
              first = std::min(first, group);
              last = std::max(last, group);
            }
          }
        }
      }
      for (std::uint32_t group = first; group <= last; ++group) {
        if (group != at && now + 1 > wait.steps && !reached(group, now + 1 - wait.steps)) {
          return false;
        }
      }
    }
    return true;
  }

  void run_pack(std::uint32_t pack) {
    for (const std::uint32_t wave : made_.schedule.stages[current_.row].waves) {
      const std::uint32_t packs = made_.schedule.packs(program_, wave);
      const std::uint32_t tiles = made_.schedule.tiles_per_pack[wave];
      if (pack < packs) {
        const std::uint32_t end = std::min((pack + 1) * tiles, program_.waves[wave].range.tiles());
        for (std::uint32_t tile = pack * tiles; tile < end; ++tile) {
          run_tile(wave, tile);
        }
        return;
      }
      pack -= packs;
    }
  }

  void run_tile(std::uint32_t wave, std::uint32_t tile) {
    const auto& arguments = program_.waves[wave].arguments;
    const auto& storage = made_.schedule.storage[current_.iteration % made_.schedule.phases()];
    const auto for_each = [&](auto&& act) {
      for (const ProgramArgument& argument : arguments) {
        const auto same = [&](const ProgramArgument& other) { return other.buffer == argument.buffer; };
        const bool only = std::ranges::count_if(arguments, same) == 1;
        const std::uint32_t owner = storage[argument.buffer];
        const std::int64_t cells_of_tile =
            program_.waves[wave].range.local[0] *
            static_cast<std::uint32_t>(std::max(argument.id_bytes[0], std::uint64_t{4})) / 128;
        for (std::int64_t cell = 0; cell < static_cast<std::int64_t>(program_.buffers[owner].bytes / 128);
             ++cell) {
          if (!argument.halo || std::abs(cell / cells_of_tile - tile) <= (*argument.halo)[0]) {
            act(argument, cells_[made_.memory.offsets[owner] / 128 + static_cast<std::uint64_t>(cell)],
                static_cast<std::uint64_t>(cell), only);
          }
        }
      }
    };
    std::uint64_t mixed = (wave + 1) * 1'000'003 + tile * 7919 + current_.iteration;
    for_each([&](const ProgramArgument& argument, std::uint64_t value, std::uint64_t cell, bool only) {
      if (only && argument.access == Access::read) { // other tiles of the wave do not write it
        mixed = (mixed ^ (value + cell)) * 0x9e3779b97f4a7c15;
      }
    });
    for_each([&](const ProgramArgument& argument, std::uint64_t& value, std::uint64_t cell, bool only) {
      const bool one_tile = only && argument.halo && (*argument.halo)[0] == 0;
      if (argument.access != Access::read) {
        value = (one_tile ? value * 31 : value) + mixed * (2 * cell + 1);
      }
    });
  }

  const Job& program_;
  const Launch& made_;
  Cells cells_;
  std::vector<Step> steps_;
  Step current_; // of the running group
};

} // namespace

TEST_CASE("random programs: every wait that is there suffices, and fewer do not always") {
  Numbers random(seed());
  std::uint32_t broken = 0;
  std::uint32_t found = 0;
  std::uint32_t differing = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t buffers = 2 + random.below(4);
    const std::uint32_t waves = 2 + random.below(6);
    const bool stated = random.chance(20); // halos stated by the program instead of derived from its kernels
    Job program = program_of(waves, std::vector<std::uint64_t>(buffers, 20 * 512));
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
          argument.id_bytes = {stated ? 0U : random.chance(80) ? 4U : 8U, 0, 0};
        }
        arguments.push_back(argument);
      }
      program.waves.push_back(
          wave_of(i, arguments,
                  range_of(sizes[random.below(random.chance(60) ? 1 : 3)] * 2, random.chance(80) ? 64 : 32)));
      program.waves.back().section = random.chance(85)   ? Section::each
                                     : random.chance(50) ? Section::before
                                                         : Section::after;
    }
    program.waves.front().section = Section::each;
    program.iterations = 1 + random.below(5);
    if (random.chance(30)) {
      program.swaps = {{0, 1}};
      program.buffers[0].swapped = program.buffers[1].swapped = true;
    }
    derive(program);
    std::vector<std::uint64_t> offsets;
    if (random.chance(50)) { // buffers that are not alive together share memory
      offsets = plan_memory(program, layers_of(program), 128, 0)->offsets;
    }
    const Launch made = launch(program, random.chance(80) ? Strategy::counters : Strategy::barrier, offsets,
                               random.chance(50) ? 1 : 0);
    const std::uint32_t groups = 1 + random.below(6);
    REQUIRE_MESSAGE(violation(program, made, groups) == "", "round " << round);
    REQUIRE_MESSAGE(Machine(program, made).in_turns(groups, random) == Machine(program, made).in_order(),
                    "round " << round);
    const Launch divided = launch(program, Strategy::counters, offsets, 0, 1 + random.below(3));
    REQUIRE_MESSAGE(violation(program, divided, groups) == "", "round " << round);
    // Removes one wait.
    if (made.tables.waits.empty() || groups < 2) {
      continue;
    }
    Launch less = made;
    WaitRow& wait = less.tables.waits[random.below(less.tables.waits.size())];
    wait.end = wait.begin;
    ++broken;
    found += violation(program, less, 6).empty() ? 0 : 1;
    if (Machine(program, less).in_turns(6, random) != Machine(program, less).in_order()) {
      ++differing;
      CHECK_MESSAGE(violation(program, less, 6) != "", "round " << round);
    }
  }
  // Some waits are for a tile of the same group, so removing them changes nothing.
  CHECK(broken > 50);
  CHECK(found * 2 > broken);
  CHECK(differing * 8 > broken);
}
