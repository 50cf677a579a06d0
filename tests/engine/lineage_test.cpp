// Source rules, traced from waves to their descendants.
#include "../program_support.hpp"
#include "engine/report.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

Job with_rules(const std::vector<std::uint32_t>& rules) {
  Job program = program_of(1, {});
  for (const std::uint32_t mask : rules) {
    program.waves.push_back(wave_of(0, {}));
    program.waves.back().rules = mask;
  }
  return program;
}

using Regions = std::vector<std::uint32_t>;

// Of waves that have run so often, with ten items each, in which all buffers keep their memory.
Lineage trace(const Job& program, const planning::BarrierGroups& groups, std::uint64_t runs = 1) {
  std::vector<std::uint32_t> memory(program.buffers.size());
  std::iota(memory.begin(), memory.end(), 0U);
  const std::vector<WaveProgress> progress(
      program.waves.size(), {.items = 10, .in_all = 10 * runs, .processed = 10 * runs, .runs = runs});
  return trace_lineage(program, groups, {memory}, progress);
}

} // namespace

TEST_CASE("random programs in several iterations, against every pair of accesses") {
  const std::uint64_t start = seed();
  MESSAGE("TIDEGATE_SEED=" << start);
  Numbers random(start);
  for (int round = 0; round < 200; ++round) {
    constexpr std::uint32_t buffers = 5;
    constexpr std::size_t iterations = 4;
    std::vector<std::uint32_t> rules;
    for (std::uint32_t count = 1 + random.below(6); count > 0; --count) {
      rules.push_back(random.chance(50) ? 1U << random.below(32) : 0);
    }
    Job program = with_rules(rules);
    program.buffers.resize(buffers);
    for (ProgramWave& wave : program.waves) {
      for (std::uint32_t buffer = 0; buffer < buffers; ++buffer) {
        if (random.chance(30)) {
          ProgramArgument argument;
          argument.kind = ProgramArgument::Kind::buffer;
          argument.buffer = buffer;
          argument.access = random.chance(50) ? Access::read : Access::write;
          wave.arguments.push_back(argument);
        }
      }
    }
    // The later wave reads or writes what the earlier one wrote.
    const auto contributes = [](const ProgramWave& earlier, const ProgramWave& later) {
      return std::ranges::any_of(earlier.arguments, [&later](const ProgramArgument& one) {
        return one.access == Access::write &&
               std::ranges::find(later.arguments, one.buffer, &ProgramArgument::buffer) !=
                   later.arguments.end();
      });
    };
    for (std::uint32_t after = 0; after < rules.size(); ++after) {
      for (std::uint32_t before = 0; before < after; ++before) {
        if (contributes(program.waves[before], program.waves[after])) {
          program.dependencies.push_back({.before = before, .after = after});
        }
      }
    }
    Regions expected;
    for (std::size_t at = 0; at < iterations * rules.size(); ++at) {
      expected.push_back(rules[at % rules.size()]);
      for (std::size_t earlier = 0; earlier < at; ++earlier) {
        if (contributes(program.waves[earlier % rules.size()], program.waves[at % rules.size()])) {
          expected[at] |= expected[earlier];
        }
      }
    }
    std::vector<std::vector<std::uint32_t>> alone;
    for (std::uint32_t wave = 0; wave < rules.size(); ++wave) {
      alone.push_back({wave});
    }
    INFO("TIDEGATE_SEED=", start, " round ", round);
    const Lineage lineage = trace(program, groups_of(alone), iterations);
    if (std::ranges::all_of(rules, [](std::uint32_t mask) { return mask == 0; })) {
      CHECK(lineage.regions.empty());
      continue;
    }
    CHECK(lineage.items == 10U * static_cast<std::uint64_t>(
                                     std::ranges::count_if(expected, [](auto mask) { return mask != 0; })));
    expected.resize(lineage.regions.size()); // those that differ from the iteration before
    CHECK(lineage.regions == expected);
  }
}

TEST_CASE("only groups that ran as a whole are listed, and only items that ran are counted") {
  const Job program = with_rules({1, 1});
  const std::vector<WaveProgress> progress{{.items = 10, .runs = 3}, {.items = 10, .runs = 2, .partial = 4}};
  const Lineage lineage = trace_lineage(program, groups_of({{0}, {1}}), {{}}, progress);
  CHECK(lineage.items == 30 + 24);
  CHECK(lineage.regions == Regions{1, 1}); // later iterations are like the first
}

TEST_CASE("random programs, against every path") {
  const std::uint64_t start = seed();
  MESSAGE("TIDEGATE_SEED=" << start);
  Numbers random(start);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> rules;
    for (std::uint32_t count = 1 + random.below(20); count > 0; --count) {
      rules.push_back(random.chance(30) ? 1U << random.below(32) : 0);
    }
    Job program = with_rules(rules);
    for (std::uint32_t after = 1; after < rules.size(); ++after) {
      for (std::uint32_t edges = random.below(3); edges > 0; --edges) {
        program.dependencies.push_back({.before = random.below(after), .after = after});
      }
    }
    const auto groups = layers_of(program);
    std::vector<std::uint32_t> inherited = rules;
    for (std::size_t pass = 0; pass < rules.size(); ++pass) {
      for (const ResolvedDependency& dependency : program.dependencies) {
        inherited[dependency.after] |= inherited[dependency.before];
      }
    }
    const Lineage lineage = trace(program, groups);
    INFO("TIDEGATE_SEED=", start, " round ", round);
    const bool any = std::ranges::any_of(rules, [](std::uint32_t mask) { return mask != 0; });
    if (!any) {
      CHECK(lineage.regions.empty());
      continue;
    }
    REQUIRE(lineage.regions.size() == groups.group_count());
    std::uint64_t items = 0;
    for (std::size_t group = 0; group < groups.group_count(); ++group) {
      std::uint32_t region = 0;
      for (const std::uint32_t wave : groups.group(group)) {
        region |= inherited[wave];
        items += inherited[wave] != 0 ? 10U : 0U;
      }
      CHECK(lineage.regions[group] == region);
    }
    CHECK(lineage.items == items);
  }
}

TEST_CASE("occupancy: lanes with an item, of those that ran") {
  CompiledProgram compiled;
  compiled.program = program_of(1, {});
  compiled.program.waves = {wave_of(0, {}, range_of(3 * 64, 64)), wave_of(0, {}, range_of(5 * 32, 32))};
  const std::vector<WaveProgress> progress{{.processed = 3 * 64}, {.processed = 5 * 32}};
  compiled.schedule.group_size = 64;
  compiled.schedule.repeat_end = 1;
  compiled.schedule.stages = {{.waves = {0, 1}, .packs = 8}};
  const Position end{.iteration = 1};
  CHECK(occupancy_bps(compiled, end, 0, progress, {}) == 10'000 * (3 * 64 + 5 * 32) / (8 * 64)); // a launch
  CHECK(occupancy_bps(compiled, end, 3, progress, {}) ==
        10'000 * (3 * 64 + 5 * 32) / (3 * 3 * 64)); // three turns
  CHECK(occupancy_bps(compiled, {}, 3, progress, {}) == 0);
  compiled.schedule.repeat_end = 2;
  compiled.schedule.stages = {{.waves = {0}, .plain = true}, {.waves = {1}, .plain = true}};
  CHECK(occupancy_bps(compiled, end, 0, progress, {}) == 10'000);
}
