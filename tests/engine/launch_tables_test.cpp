// Descriptors, cases and entries, read back as the kernels read them.
#include "../program_support.hpp"
#include "engine/launch_tables.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

// Every stage waits for all tiles of the previous one.
Synchronization wait_for_all(const Schedule& schedule) {
  return {.mapping = TileMapping::strided,
          .stages = std::vector<StageWaits>(schedule.stages.size(),
                                            {.everybody = true, .announced = false, .waits = {}})};
}

ProgramArgument sized(std::size_t bytes) {
  return value(std::vector<std::uint8_t>(bytes, 1));
}

Schedule schedule_of(const std::vector<std::vector<std::uint32_t>>& stages, const Job& program,
                     std::vector<std::vector<std::uint32_t>> storage) {
  Schedule schedule{.group_size = 64, .storage = std::move(storage)};
  schedule.tiles_per_pack.assign(program.waves.size(), 1);
  for (const auto& waves : stages) {
    Stage stage{.waves = waves};
    for (const std::uint32_t wave : waves) {
      stage.tiles += program.waves[wave].range.tiles();
    }
    stage.packs = static_cast<std::uint32_t>(stage.tiles);
    schedule.stages.push_back(std::move(stage));
  }
  number_rows(program, schedule);
  return schedule;
}

MemoryLayout memory_of(const std::vector<std::uint64_t>& offsets) {
  MemoryLayout memory;
  memory.offsets = offsets;
  return memory;
}

// Two ops and three buffers: op 0 runs twice with equal arguments and once with others.
Job example() {
  Job program = program_of(2, {64, 64, 64});
  program.waves = {wave_of(0, {reads(0), writes(1), value({5, 0, 0, 0})}),
                   wave_of(0, {reads(0), writes(1), value({6, 0, 0, 0})}, range_of(128, 64)),
                   wave_of(1, {reads(1), writes(2)}), wave_of(0, {reads(0), writes(1), value({5, 0, 0, 0})})};
  return program;
}

// Compares the tables word by word with the program, the schedule and the memory layout.
void check_tables(const Job& program, const Schedule& schedule, const MemoryLayout& memory,
                  const LaunchTables& tables) {
  std::size_t entry = 0;
  for (std::uint32_t phase = 0; phase < schedule.phases(); ++phase) {
    std::size_t row = 0;
    for (const Stage& stage : schedule.stages) {
      if (stage.plain) {
        continue;
      }
      REQUIRE(row < tables.stages.size());
      CHECK(tables.stages[row].tiles == stage.tiles);
      CHECK(tables.stages[row].entry_count == stage.waves.size());
      CHECK(phase * tables.entries_per_phase + tables.stages[row].first_entry == entry);
      ++row;
      std::uint32_t tile = 0;
      for (const std::uint32_t wave : stage.waves) {
        const ProgramWave& spec = program.waves[wave];
        REQUIRE(entry < tables.entries.size());
        const EntryRow& found = tables.entries[entry++];
        CHECK(found.first_tile == tile);
        CHECK(found.tiles == spec.range.tiles());
        tile += found.tiles;
        CHECK(found.descriptor % 16 == 0);
        REQUIRE(found.code < tables.cases.size());
        const Case& served = tables.cases[found.code];
        CHECK(served.op == spec.op);
        REQUIRE(found.descriptor + served.words.size() <= tables.words.size());
        const std::uint64_t* const words = tables.words.data() + found.descriptor;
        CHECK(words[0] == spec.range.dimensions);
        for (std::size_t d = 0; d < 3; ++d) {
          CHECK(words[1 + d] == spec.range.global[d]);
          CHECK(words[4 + d] == spec.range.local[d]);
          CHECK(words[7 + d] == spec.range.groups[d]);
          CHECK(words[10 + d] == spec.range.offset[d]);
        }
        const auto indices = argument_indices(spec.arguments);
        for (std::size_t i = 0; i < indices.size(); ++i) {
          const ProgramArgument& argument = spec.arguments[i];
          if (argument.kind == ProgramArgument::Kind::buffer) {
            CHECK(words[indices[i].word] == memory.offsets[schedule.storage[phase][argument.buffer]]);
          } else if (argument.kind == ProgramArgument::Kind::local) {
            CHECK(words[indices[i].word] == indices[i].local_offset);
            CHECK(indices[i].local_offset + argument.local_bytes <= tables.dynamic_local_bytes);
          } else {
            CHECK(std::memcmp(&words[indices[i].word], argument.value.data(), argument.value.size()) == 0);
          }
        }
        // A fixed word of a case has one value in all waves that it serves.
        for (std::size_t i = 0; i < served.words.size(); ++i) {
          CHECK((!served.fixed[i] || served.words[i] == words[i]));
        }
      }
    }
    CHECK(row == tables.stages.size()); // plain stages are in no table
  }
  CHECK(entry == tables.entries.size());
  CHECK(tables.entries.size() == std::size_t{tables.entries_per_phase} * schedule.phases());
  if (program.until) {
    for (std::uint32_t phase = 0; phase < schedule.phases(); ++phase) {
      REQUIRE(tables.until_word + phase < tables.words.size());
      CHECK(tables.words[tables.until_word + phase] ==
            memory.offsets[schedule.storage[phase][program.until->buffer]]);
    }
  }
}

} // namespace

TEST_CASE("arguments follow the sizes, each aligned to its size, and local ones for every type") {
  for (std::size_t first = 1; first <= 128; first *= 2) {
    for (std::size_t second = 1; second <= 128; second *= 2) {
      const std::vector<ProgramArgument> arguments{
          sized(first), reads(0), local(first), sized(second), local(second), sized(first), local(first + 1)};
      std::uint64_t end = range_words;
      std::uint64_t local_end = 0;
      const auto indices = argument_indices(arguments);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        const bool is_local = arguments[i].kind == ProgramArgument::Kind::local;
        const std::uint64_t words =
            is_local ? 2 : std::max<std::uint64_t>(1, arguments[i].value.size() / sizeof(std::uint64_t));
        CHECK(indices[i].word >= end);
        CHECK(indices[i].word % words == 0);
        CHECK(indices[i].word < end + words);
        end = indices[i].word + words;
        if (is_local) {
          CHECK(indices[i].local_offset >= local_end);
          CHECK(indices[i].local_offset % 128 == 0);
          CHECK(indices[i].local_offset < local_end + 128);
          local_end = indices[i].local_offset + arguments[i].local_bytes;
        }
      }
    }
  }
}

namespace {

// The tables of the example, compared word by word.
struct Example {
  Job program = example();
  Schedule schedule = schedule_of({{0, 1}, {2}, {3}}, program, {{0, 1, 2}});
  MemoryLayout memory = memory_of({0, 256, 512});

  LaunchTables tables(const CaseRules& rules) {
    LaunchTables made = make_tables(program, schedule, memory, wait_for_all(schedule), rules);
    check_tables(program, schedule, memory, made);
    return made;
  }
};

std::vector<bool> all_but(std::size_t words, const std::vector<std::size_t>& others) {
  std::vector<bool> fixed(words, true);
  for (const std::size_t word : others) {
    fixed[word] = false;
  }
  return fixed;
}

} // namespace

TEST_CASE("an interpreter has a case for each op") {
  for (const std::size_t most : {64U, 0U}) {
    const LaunchTables tables = Example().tables({.most = most});
    REQUIRE(tables.cases.size() == 2);
    CHECK(tables.cases[0].op == 0);
    CHECK(tables.cases[1].op == 1);
    CHECK(tables.entries[0].descriptor == tables.entries[3].descriptor); // equal arguments
    CHECK(tables.bytes() == 3 * sizeof(StageRow) + 4 * sizeof(EntryRow) + tables.words.size() * 8);
  }
}

TEST_CASE(
    "jit has a case for each different wave, unless there are too many: then what its waves agree on is fixed") {
  const LaunchTables tables = Example().tables({.mode = Mode::jit, .most = 3});
  REQUIRE(tables.cases.size() == 3);
  CHECK(tables.entries[0].code == tables.entries[3].code); // equal work
  CHECK(tables.entries[0].code != tables.entries[1].code);
  CHECK(tables.cases[1].wave == 1);
  for (const Case& served : tables.cases) {
    CHECK(served.fixed == all_but(served.words.size(), {}));
  }
  for (const std::size_t most : {2U, 0U}) {
    const LaunchTables fewer = Example().tables({.mode = Mode::jit, .most = most});
    REQUIRE(fewer.cases.size() == 2);
    CHECK(fewer.cases[0].wave == 0);
    CHECK(fewer.cases[0].fixed ==
          all_but(range_words + 3, {1, 7, range_words + 2})); // global_x, groups_x, the value
    CHECK(fewer.cases[1].fixed == all_but(range_words + 2, {}));
  }
}

TEST_CASE("hot ops have separate cases, before the others, in any mode") {
  const auto tables_with = [](std::uint32_t hot, std::size_t most = CaseRules().most) {
    return Example().tables({.most = most, .hot = {hot}});
  };
  const auto promoted = [](const LaunchTables& tables) {
    std::vector<bool> found;
    std::ranges::transform(tables.cases, std::back_inserter(found), &Case::promoted);
    return found;
  };
  CHECK(promoted(tables_with(1)) == std::vector{true, false});
  CHECK(tables_with(1).cases[0].op == 1);
  const LaunchTables other = tables_with(0);
  CHECK(promoted(other) == std::vector{true, true, false}); // waves of the hot op are distinguished
  CHECK(other.cases[1].fixed == all_but(other.cases[1].words.size(), {}));
  CHECK(tables_with(0, 2).cases.size() == 2); // with too many of them, the op has one case
}

TEST_CASE("random programs, read back") {
  Numbers random(seed());
  for (int round = 0; round < 50; ++round) {
    const std::uint32_t buffers = 1 + random.below(5);
    const std::uint32_t ops = 1 + random.below(4);
    Job program = program_of(ops, std::vector<std::uint64_t>(buffers, 64));
    std::vector<std::vector<std::size_t>> signatures(
        ops); // 0: a buffer; 1: local; otherwise the size of a value in bytes
    for (auto& signature : signatures) {
      for (std::uint32_t count = random.below(6); count > 0; --count) {
        signature.push_back(random.chance(40)   ? 0
                            : random.chance(20) ? 1
                                                : std::size_t{2} << random.below(7));
      }
    }
    std::vector<std::vector<std::uint32_t>> stages;
    const std::uint32_t waves = 1 + random.below(12);
    for (std::uint32_t wave = 0; wave < waves; ++wave) {
      const std::uint32_t op = random.below(ops);
      std::vector<ProgramArgument> arguments;
      for (const std::size_t kind : signatures[op]) {
        arguments.push_back(
            kind == 0   ? reads(random.below(buffers))
            : kind == 1 ? local(1 + random.below(300))
                        : value(std::vector<std::uint8_t>(kind, static_cast<std::uint8_t>(random.below(3)))));
      }
      program.waves.push_back(
          wave_of(op, std::move(arguments), range_of(1 + random.below(500), 1 + random.below(64))));
      program.waves.back().range.dimensions = 1 + random.below(3);
      program.waves.back().range.offset = {random.below(9), random.below(9), random.below(9)};
      if (stages.empty() || random.chance(50)) {
        stages.emplace_back();
      }
      stages.back().push_back(wave);
    }
    std::vector<std::uint64_t> offsets;
    std::vector<std::vector<std::uint32_t>> storage(1 + random.below(3));
    for (std::uint32_t i = 0; i < buffers; ++i) {
      offsets.push_back(std::uint64_t{128} * random.below(1000));
      for (auto& phase : storage) {
        phase.push_back(random.below(buffers));
      }
    }
    if (random.chance(50)) {
      program.until = ResolvedUntil{.buffer = random.below(buffers), .value = {}};
    }
    Schedule schedule = schedule_of(stages, program, storage);
    for (Stage& stage : schedule.stages) {
      stage.plain = stage.waves.size() == 1 && random.chance(30);
    }
    number_rows(program, schedule);
    const MemoryLayout memory = memory_of(offsets);
    INFO("round ", round);
    for (const Mode mode : {Mode::interpreter, Mode::jit}) {
      for (const std::size_t most : {random.below(10), 0U}) {
        check_tables(
            program, schedule, memory,
            make_tables(program, schedule, memory, wait_for_all(schedule), {.mode = mode, .most = most}));
      }
    }
  }
}

TEST_CASE("an op has a case for each set of images that it is called with") {
  const auto image = [](std::uint32_t index) {
    return ProgramArgument{.kind = ProgramArgument::Kind::image, .buffer = index, .value = {}};
  };
  Job program = program_of(1, {4, 4, 4});
  program.waves = {wave_of(0, {image(0), writes(2), value({1, 0, 0, 0})}),
                   wave_of(0, {image(1), writes(2), value({2, 0, 0, 0})}),
                   wave_of(0, {image(0), writes(2), value({3, 0, 0, 0})})};
  Schedule schedule = schedule_of({{0, 1, 2}}, program, {{0, 1, 2}, {1, 0, 2}}); // the images change places
  schedule.objects = {{.image = 0}, {.image = 1}};
  for (const CaseRules& rules : {CaseRules{}, CaseRules{.mode = Mode::jit, .most = 0}}) {
    const LaunchTables tables =
        make_tables(program, schedule, memory_of({0, 0, 0}), wait_for_all(schedule), rules);
    std::vector<std::uint32_t> codes;
    for (const EntryRow& entry : tables.entries) {
      codes.push_back(entry.code);
      const std::size_t argument = entry.descriptor + range_words;
      CHECK(tables.words[argument] == tables.cases[entry.code].words[range_words]);
      CHECK(tables.cases[entry.code].fixed[range_words]);
    }
    CHECK(codes == std::vector<std::uint32_t>{0, 1, 0, 1, 0, 1});
    CHECK(tables.cases.size() == 2);
  }
}
