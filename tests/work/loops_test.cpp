// Loops of waves, unrolled: the order, the rounds that values count, and refusals.
#include "../temporary_folder.hpp"
#include "work/program.hpp"
#include "work/resolve.hpp"
#include <tidegate/core/describe.hpp>

using namespace tidegate;
using namespace tidegate::engine;
using tidegate::test::TemporaryFolder;

namespace {

// Waves a, b, c and d, each of which gets a number; `rest` is the end of the program.
Result<Job> looped(const std::string& rest, const std::string& number = R"({"u32": 7})",
                   const std::string& key = R"("op": "k")") {
  const TemporaryFolder folder;
  folder.write("k.cl", "kernel void k(global uint* x, uint n) {}\n");
  std::string waves;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    waves += fmt::format(R"({}{{"name": "{}", {}, "global_size": 4, "args": [{{"buffer": "x"}}, {}]}})",
                         waves.empty() ? "" : ", ", name, key, name == 'a' ? R"({"u32": 7})" : number);
  }
  auto program = documents::decode<WaveProgram>(fmt::format(
      R"({{"buffers": {{"x": {{"type": "u32", "count": 4}}, "f": {{"type": "u32", "count": 1}}}}, "ops": {{"k": {{"source": "k.cl"}}}},
                      "waves": [{}]{}}})",
      waves, rest));
  REQUIRE_MESSAGE(program, describe(program.error()));
  return resolve({*program, folder.path(), {}});
}

std::string names(const Result<Job>& job) {
  if (!job) {
    return fmt::format("{}: {}", job.error().pointer.value_or(""), job.error().message);
  }
  std::string text;
  for (const ProgramWave& wave : job->waves) {
    text += (text.empty() ? "" : ", ") + wave.name;
  }
  return text;
}

std::string numbers(const Result<Job>& job, std::uint32_t iteration) {
  REQUIRE_MESSAGE(job, describe(job.error()));
  std::string text;
  for (const ProgramWave& wave : job->waves) {
    std::uint32_t number = 0;
    const auto bytes = value_in(wave.arguments[1].value, wave.arguments[1].changes, iteration);
    std::memcpy(&number, bytes.data(), sizeof number);
    text += fmt::format("{} ", number);
  }
  return text;
}

} // namespace

TEST_CASE("waves of a loop run again and again, in their order") {
  CHECK(names(looped("")) == "a, b, c, d");
  CHECK(names(looped(R"(, "loops": [{"first": "b", "last": 2, "repeat": 2}])")) ==
        "a, b round 0, c round 0, b round 1, c round 1, d");
  CHECK(names(looped(R"(, "loops": [{"first": 3, "repeat": 3}])")) ==
        "a, b, c, d round 0, d round 1, d round 2");
  // The inner loop is listed first; loops need no order.
  CHECK(names(looped(
            R"(, "loops": [{"first": "c", "repeat": 2}, {"first": "b", "last": "d", "repeat": 2}])")) ==
        "a, b round 0, c round 0.0, c round 0.1, d round 0, b round 1, c round 1.0, c round 1.1, d round 1");
  CHECK(names(looped(
            R"(, "loops": [{"first": "a", "repeat": 2}, {"first": "c", "last": "d", "repeat": 2}])")) ==
        "a round 0, a round 1, b, c round 0, d round 0, c round 1, d round 1");
}

TEST_CASE("each wave of a loop waits for the one before, and is found in the document") {
  const auto job = looped(R"(, "loops": [{"first": "b", "last": "c", "repeat": 2}])");
  REQUIRE(job);
  std::string edges;
  for (const ResolvedDependency& dependency : job->dependencies) {
    edges += fmt::format("{}>{} ", dependency.before, dependency.after);
  }
  CHECK(edges == "0>1 1>2 2>3 3>4 4>5 ");
  CHECK(job->wave_text(3) == "\"b round 1\"");
  CHECK(job->wave_pointer(3) == "/waves/1");
  CHECK(job->wave_pointer(5) == "/waves/3");
}

TEST_CASE("numbers count rounds of the innermost loop, or iterations") {
  const std::string loops =
      R"(, "loops": [{"first": "b", "last": "c", "repeat": 3}, {"first": "d", "repeat": 2}])";
  const std::string by_round = R"({"u32": 1, "iteration": {"multiply": 3, "round": true}})";
  CHECK(numbers(looped(loops, by_round), 0) == "7 1 1 3 3 9 9 1 3 ");
  CHECK(numbers(looped(loops, by_round), 5) == "7 1 1 3 3 9 9 1 3 ");
  CHECK(numbers(looped(loops, R"({"u32": 1, "iteration": {"add": 2}})"), 5) == "7 11 11 11 11 11 11 11 11 ");
  CHECK(names(looped("", by_round)) ==
        "/waves/1/args/1: iteration counts the rounds of a loop, and the wave is in none");
}

TEST_CASE("what no loop can be") {
  for (const auto& [loops, refusal] : std::vector<std::pair<std::string, std::string>>{
           {R"({"first": "e", "repeat": 2})", "/loops/0/first: there is no wave \"e\""},
           {R"({"first": 4, "repeat": 2})", "/loops/0/first: there is no wave 4"},
           {R"({"first": "c", "last": "b", "repeat": 2})",
            "/loops/0/last: wave 1, the last, comes before wave 2, the first"},
           {R"({"first": "a", "last": "c", "repeat": 2}, {"first": "b", "last": "d", "repeat": 2})",
            "/loops/1: the loop shares waves with loop 0, and neither holds the other"},
           {R"({"first": "a", "repeat": 2}], "dependencies": [)",
            "/dependencies: the program lists its dependencies and has loops"},
           {R"({"first": 0, "repeat": 65536}, {"first": 1, "repeat": 65536})",
            "/loops: with its loops an iteration has more than 65536 waves"}}) {
    CHECK(names(looped(R"(, "loops": [)" + loops + "]")) == refusal);
  }
  CHECK(names(looped(R"(, "loops": [{"first": "a", "repeat": 2}])", R"({"u32": 7})",
                     R"("op": "k", "active": {"buffer": "f"})")) ==
        "/loops/0: wave 0 has active tiles, which cannot run in a loop");
}
