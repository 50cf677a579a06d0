// Dependencies: derived ones, against a checker that compares every pair of waves, and probable mistakes of a program: conflicts
// that a list of dependencies leaves open, reads of unwritten data, results that nothing keeps.
#include "../program_support.hpp"
#include "engine/compile.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

std::vector<ProgramWave> random_waves(Numbers& random, std::uint32_t buffers, std::uint32_t count,
                                      std::uint32_t most_arguments) {
  std::vector<ProgramWave> waves;
  const std::uint64_t readers = random.below(101);
  for (; count > 0; --count) {
    std::vector<ProgramArgument> arguments;
    for (std::uint32_t k = random.below(most_arguments + 1); k > 0; --k) {
      const std::uint32_t buffer = random.below(buffers);
      if (random.chance(10)) {
        arguments.push_back(random.chance(50) ? local(64) : value({1, 2, 3, 4}));
      } else if (random.chance(readers)) {
        arguments.push_back(reads(buffer));
      } else {
        arguments.push_back(random.chance(50) ? writes(buffer) : updates(buffer));
      }
    }
    waves.push_back(wave_of(0, std::move(arguments)));
  }
  return waves;
}

Job listed(std::vector<ProgramWave> waves,
           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& dependencies,
           std::size_t buffers = 2) {
  Job program = program_of(1, std::vector<std::uint64_t>(buffers, 64));
  for (ProgramBuffer& buffer : program.buffers) {
    buffer.first = [] { return std::vector<std::byte>(); };
    buffer.output = "out.npy";
  }
  program.waves = std::move(waves);
  for (ProgramWave& wave : program.waves) {
    wave.users_kernel = false; // there is no kernel to read
  }
  for (const auto& [before, after] : dependencies) {
    program.dependencies.push_back({.before = before, .after = after});
  }
  return program;
}

std::vector<std::string> messages(const Job& program) {
  std::vector<std::string> result;
  for (const Warning& warning : find_hazards(program)) {
    result.push_back(warning.message);
  }
  return result;
}

using Messages = std::vector<std::string>;

ProgramArgument stated(ProgramArgument argument) {
  argument.access_stated = true;
  return argument;
}

} // namespace

TEST_CASE("every conflict is ordered, and nothing else") {
  Numbers random(seed());
  std::size_t conflicts = 0;
  for (int round = 0; round < 500; ++round) {
    const std::uint32_t buffers = 1 + random.below(8);
    const auto waves = random_waves(random, buffers, random.below(40), 4);
    const auto dependencies = derive_dependencies(waves, buffers);
    INFO("round ", round);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const ResolvedDependency& dependency : dependencies) {
      REQUIRE(dependency.before < dependency.after);
      REQUIRE(dependency.after < waves.size());
      CHECK(conflict(waves[dependency.before], waves[dependency.after]));
      CHECK_FALSE(dependency.tile_local());
      edges.emplace_back(dependency.before, dependency.after);
    }
    CHECK(std::set(edges.begin(), edges.end()).size() == edges.size());
    const auto before = paths(waves.size(), edges);
    for (std::size_t a = 0; a < waves.size(); ++a) {
      for (std::size_t b = a + 1; b < waves.size(); ++b) {
        if (conflict(waves[a], waves[b])) {
          ++conflicts;
          CHECK(before[a][b]);
        }
      }
    }
  }
  CHECK(conflicts > 1000);
  // A wave waits for the last one that changed a buffer and for the readers since, not for all before it.
  std::vector<ProgramWave> turns;
  for (int turn = 0; turn < 50; ++turn) {
    turns.push_back(wave_of(0, {reads(0)}));
    turns.push_back(wave_of(0, {updates(0)}));
  }
  CHECK(derive_dependencies(turns, 1).size() == 3 * 50 - 2);
}

TEST_CASE("the waves as the planners take them") {
  Job program = program_of(1, {100, 50});
  program.waves = {wave_of(0, {}), wave_of(0, {})};
  program.waves[0].bytes = {.frontier_bytes = 1, .scratch_bytes = 2, .output_bytes = 3};
  program.dependencies = {{.before = 0, .after = 1, .halo = {{0, 0, 0}}}};
  const planning::WaveDag dag = wave_dag(program, 149);
  CHECK(dag.waves == std::vector<planning::Wave>{program.waves[0].bytes, {}});
  CHECK(dag.dependencies == std::vector<planning::Dependency>{{0, 1}});
  CHECK(dag.budget_bytes == 149);
  // A budget that holds all buffers never binds; 0 means none.
  CHECK(wave_dag(program, 150).budget_bytes == ~std::uint64_t{0});
  CHECK(wave_dag(program, 0).budget_bytes == ~std::uint64_t{0});
  program.buffers[0].bytes = ~std::uint64_t{0};
  CHECK(wave_dag(program, 150).budget_bytes == 150);
}

TEST_CASE("a conflict that no dependency orders is named with both waves and the buffer") {
  using Waves = std::vector<ProgramWave>;
  using List = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const Waves pair{wave_of(0, {writes(0)}), wave_of(0, {reads(0), writes(1)})};
  const Waves path{wave_of(0, {updates(0)}), wave_of(0, {updates(1)}), wave_of(0, {reads(0)})};
  const auto between = [](const ProgramArgument& a, const ProgramArgument& b) {
    return Waves{wave_of(0, {a}), wave_of(0, {b})};
  };
  for (const auto& [waves, list, named] : std::vector<std::tuple<Waves, List, std::string>>{
           {pair, {}, "wave 0 (op0), which writes \"b0\", and wave 1 (op0), which reads it"},
           {pair, {{0, 1}}, ""},
           {pair, {{1, 0}}, ""}, // the list may mean the other order
           {path, {{0, 1}, {1, 2}}, ""},
           {path, {{0, 1}}, "wave 0 (op0), which reads and writes \"b0\", and wave 2 (op0), which reads it"},
           {between(reads(0), reads(0)), {}, ""},
           {between(stated(writes(0)), stated(writes(0))), {}, ""}, // taken at their word
           {between(stated(writes(0)), writes(0)),
            {},
            "wave 0 (op0), which writes \"b0\", and wave 1 (op0), which writes it"}}) {
    CHECK(messages(listed(waves, list)) ==
          (named.empty() ? Messages{} : Messages{"no dependency orders " + named}));
  }
  Job derived = listed(pair, {});
  derived.derived = true;
  CHECK(messages(derived).empty());
}

TEST_CASE("transient buffers read before they are written, and results that nothing keeps") {
  Job program = listed({wave_of(0, {reads(0), writes(1)}), wave_of(0, {reads(1), writes(0)})}, {{0, 1}});
  program.buffers[0].first = nullptr;
  program.buffers[0].output.reset();
  CHECK(messages(program) ==
        Messages{"wave 0 (op0) reads \"b0\" before any wave has written it: it has no init, "
                 "and holds whatever lay there"});
  CHECK(find_hazards(program).front().pointer == "/waves/0/args/0");
  program.buffers[1].output.reset();
  CHECK(messages(program).back() == "the program keeps none of its results");
}

TEST_CASE("a warning exactly where two waves conflict and no path joins them") {
  Numbers random(seed());
  for (int round = 0; round < 3000; ++round) {
    const auto waves = random_waves(random, 3, 2 + random.below(8), 2);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (std::uint32_t a = 0; a < waves.size(); ++a) {
      for (std::uint32_t b = a + 1; b < waves.size(); ++b) {
        if (random.chance(40)) {
          list.emplace_back(a, b);
        }
      }
    }
    const auto path = paths(waves.size(), list);
    bool open = false;
    for (std::size_t a = 0; a < waves.size(); ++a) {
      for (std::size_t b = a + 1; b < waves.size(); ++b) {
        open |= conflict(waves[a], waves[b]) && !path[a][b];
      }
    }
    REQUIRE(messages(listed(waves, list, 3)).empty() == !open);
  }
}
