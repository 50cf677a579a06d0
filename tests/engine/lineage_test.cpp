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

TEST_CASE("random programs in several iterations, against every pair of accesses and every dependency") {
  Numbers random(seed());
  for (int round = 0; round < 400; ++round) {
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
        if (contributes(program.waves[before], program.waves[after]) || random.chance(10)) {
          program.dependencies.push_back({.before = before, .after = after});
        }
      }
    }
    Regions of_runs; // by iteration and wave
    for (std::size_t at = 0; at < iterations * rules.size(); ++at) {
      const std::size_t wave = at % rules.size();
      of_runs.push_back(rules[wave]);
      for (std::size_t earlier = 0; earlier < at; ++earlier) {
        if (contributes(program.waves[earlier % rules.size()], program.waves[wave])) {
          of_runs[at] |= of_runs[earlier];
        }
      }
      for (const ResolvedDependency& dependency : program.dependencies) {
        of_runs[at] |= dependency.after == wave ? of_runs[at - wave + dependency.before] : 0;
      }
    }
    const auto groups = layers_of(program);
    Regions expected;
    for (std::size_t i = 0; i < iterations * groups.group_count(); ++i) {
      expected.push_back(0);
      for (const std::uint32_t wave : groups.group(i % groups.group_count())) {
        expected.back() |= of_runs[i / groups.group_count() * rules.size() + wave];
      }
    }
    INFO("round ", round);
    const Lineage lineage = trace(program, groups, iterations);
    if (std::ranges::all_of(rules, [](std::uint32_t mask) { return mask == 0; })) {
      CHECK(lineage.regions.empty());
      continue;
    }
    CHECK(lineage.items == 10U * static_cast<std::uint64_t>(
                                     std::ranges::count_if(of_runs, [](auto mask) { return mask != 0; })));
    REQUIRE(lineage.regions.size() >= groups.group_count());
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

TEST_CASE("occupancy: lanes with an item, of those that ran") {
  CompiledProgram compiled;
  compiled.program = program_of(1, {});
  compiled.program.waves = {wave_of(0, {}, range_of(3 * 64, 64)), wave_of(0, {}, range_of(5 * 32, 32))};
  const std::vector<WaveProgress> progress{{.processed = 3 * 64}, {.processed = 5 * 32}};
  compiled.schedule.group_size = 64;
  compiled.parts = {{0}, {1}};
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
