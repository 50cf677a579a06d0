// Probable mistakes in programs: conflicts that a list of dependencies leaves open, reads of unwritten data,
// results that nothing keeps.
#include "../program_support.hpp"
#include "engine/compile.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;

namespace {

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

TEST_CASE("a conflict that no dependency orders is named with both waves and the buffer") {
  const auto waves = [] { return std::vector{wave_of(0, {writes(0)}), wave_of(0, {reads(0), writes(1)})}; };
  CHECK(messages(listed(waves(), {})) ==
        Messages{"no dependency orders wave 0 (op0), which writes \"b0\", and wave 1 (op0), which reads it"});
  CHECK(messages(listed(waves(), {{0, 1}})).empty());
  CHECK(messages(listed(waves(), {{1, 0}})).empty()); // the list may mean the other order
  Job derived = listed(waves(), {});
  derived.derived = true;
  CHECK(messages(derived).empty());
}

TEST_CASE("a path of dependencies is enough") {
  const std::vector waves{wave_of(0, {updates(0)}), wave_of(0, {updates(1)}), wave_of(0, {reads(0)})};
  CHECK(messages(listed(waves, {{0, 1}, {1, 2}})).empty());
  CHECK(messages(listed(waves, {{0, 1}})) == Messages{"no dependency orders wave 0 (op0), which reads and "
                                                      "writes \"b0\", and wave 2 (op0), which reads it"});
}

TEST_CASE("reads do not conflict, and stated accesses are taken at their word") {
  CHECK(messages(listed({wave_of(0, {reads(0)}), wave_of(0, {reads(0)})}, {})).empty());
  CHECK(messages(listed({wave_of(0, {stated(writes(0))}), wave_of(0, {stated(writes(0))})}, {})).empty());
  CHECK(messages(listed({wave_of(0, {stated(writes(0))}), wave_of(0, {writes(0)})}, {})).size() == 1);
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
  Numbers numbers(seed());
  MESSAGE("seed " << seed());
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t count = 2 + numbers.below(8);
    std::vector<ProgramWave> waves;
    for (std::uint32_t wave = 0; wave < count; ++wave) {
      std::vector<ProgramArgument> arguments;
      for (std::uint32_t buffer = 0; buffer < 3; ++buffer) {
        if (numbers.chance(50)) {
          arguments.push_back(numbers.chance(60) ? reads(buffer) : updates(buffer));
        }
      }
      waves.push_back(wave_of(0, arguments));
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (std::uint32_t a = 0; a < count; ++a) {
      for (std::uint32_t b = a + 1; b < count; ++b) {
        if (numbers.chance(40)) {
          list.emplace_back(a, b);
        }
      }
    }
    const auto path = paths(count, list);
    bool open = false;
    for (std::uint32_t a = 0; a < count; ++a) {
      for (std::uint32_t b = a + 1; b < count; ++b) {
        open |= conflict(waves[a], waves[b]) && !path[a][b];
      }
    }
    REQUIRE(messages(listed(waves, list, 3)).empty() == !open);
  }
}
