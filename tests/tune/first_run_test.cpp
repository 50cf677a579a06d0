// The first run of a program and `tune measure`, on a stand-in for the device: what is compared, timed, thrown
// out and taken.
#include "../stand_in_run.hpp"
#include "tune/measure.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

using namespace tidegate;
using namespace tidegate::engine::test;
using namespace tidegate::tuning;

namespace {

constexpr std::uint64_t budget_ns = 10'000'000'000;

struct Measured : StandInRun {
  MeasureProgress progress;

  Measured() { options.compile.strategy.reset(); }

  Result<FirstRunResult> first(bool measure, std::uint64_t repeat = 3, std::uint64_t budget = budget_ns,
                               std::string_view type = "u32") {
    std::string text = document(repeat);
    for (auto at = text.find("u32"); at != std::string::npos; at = text.find("u32", at + 3)) {
      text.replace(at, 3, type);
    }
    const auto program = documents::decode<engine::WaveProgram>(text);
    REQUIRE(program);
    return first_run(lowering_of(*program), device, options, budget, measure, monitor, progress);
  }

  Result<TuningReport> tune() {
    const auto program = documents::decode<engine::WaveProgram>(document(3));
    REQUIRE(program);
    return measure(lowering_of(*program), device, {.run = options, .budget_ns = budget_ns}, monitor,
                   progress);
  }

  [[nodiscard]] engine::Lowering lowering_of(const engine::WaveProgram& program) const {
    return {program, folder.path().string(), &device, options};
  }
};

const KnobReport& knob(const TuningReport& report, Knob which) {
  return *std::ranges::find(report.knobs, which, &KnobReport::knob);
}

} // namespace

TEST_CASE("the faster way is taken, and its outputs are compared with plain launches") {
  Measured run;
  run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }; // each plain launch
  const auto found = run.first(true);
  REQUIRE(found);
  CHECK(found->report.compared);
  CHECK(found->report.equal);
  CHECK(found->report.measured);
  CHECK(found->report.plain_ns > 3 * 2e6);
  CHECK(found->report.taken_ns < found->report.plain_ns);
  CHECK(found->report.reason == "the fastest on the first run on this device");
  CHECK((found->settings.tuning.strategy == engine::Strategy::barrier ||
         found->settings.tuning.strategy == engine::Strategy::counters));
  CHECK(!found->different);
  REQUIRE(!found->report.tried.empty());
  CHECK(found->report.tried.front().value == "counters"); // the lowest estimate is built first
}

TEST_CASE("a way with other outputs is thrown out, and plain launches are taken") {
  for (const bool measure : {false, true}) {
    CAPTURE(measure);
    Measured run;
    run.wrong_persistent = true;
    run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
    run.options.compile.tuning.strategy = engine::Strategy::barrier;
    const auto found = run.first(measure);
    REQUIRE(found);
    CHECK(found->report.compared);
    CHECK(!found->report.equal);
    CHECK(found->settings.tuning.strategy == engine::Strategy::plain);
    REQUIRE(found->different);
    CHECK(found->different->parity.first_difference->buffer == "x");
    CHECK(found->different->parity.first_difference->element == 63);
    CHECK(found->different->parity.likely_cause == engine::DifferenceCause::unknown);
    CHECK(found->different->kernel.find("tidegate_persistent") != std::string::npos);
    CHECK(found->fault_at == "/waves/0");
    CHECK(found->report.reason.starts_with("outputs of "));
  }
}

TEST_CASE("a way that rounds differently is left out, and others that are equal are taken") {
  Measured run;
  run.wrong_persistent = true;
  run.wrong_bit = 1;
  run.last_wrong = 2; // the first candidate, which runs twice
  run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const auto found = run.first(true, 3, budget_ns, "f32");
  REQUIRE(found);
  CHECK(found->report.equal);
  CHECK(found->report.taken_ns < found->report.plain_ns);
  CHECK(found->settings.tuning.strategy != engine::Strategy::plain);
  REQUIRE(found->different);
  CHECK(found->report.difference->likely_cause == engine::DifferenceCause::rounding);
  CHECK(found->report.reason ==
        "the fastest on the first run on this device of those equal to plain launches");
}

TEST_CASE("a first run without time for any candidate says so, and is not complete") {
  Measured run;
  run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  const auto found = run.first(true, 1, 200'000'000);
  REQUIRE(found);
  CHECK_FALSE(found->complete);
  CHECK(found->report.tried.empty());
  CHECK(found->report.reason == "the time for the first run was up before other candidates were built");
}

TEST_CASE("of a long repetition as much is compared as fits") {
  Measured run;
  run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  const auto found = run.first(false, 10'000);
  REQUIRE(found);
  CHECK(found->report.iterations >= 1);
  CHECK(found->report.iterations < 1000); // of 1 ms, in a 200th of 10 s, with steps of 8
}

TEST_CASE("a configuration that the device refuses is thrown out with the reason") {
  Measured run;
  run.failures = {{.call = "build", .number = 3}}; // after those of plain launches, in two ways
  const auto report = run.tune();
  REQUIRE(report);
  bool refused = false;
  for (const KnobReport& each : report->knobs) {
    for (const auto& out : each.thrown_out) {
      refused |= out.reason.find("building a kernel failed: CL_OUT_OF_RESOURCES") != std::string::npos;
    }
  }
  CHECK(refused);
}

TEST_CASE(
    "where NVIDIA's assembler can be asked, a persistent launch is tried with registers for fewer and more work-items") {
  for (const bool takes_ptx : {false, true}) {
    CAPTURE(takes_ptx);
    Measured run;
    if (takes_ptx) {
      run.device.profile->trials = {
          {.ordering = device::MemoryOrdering::ptx, .verdict = device::TrialVerdict::passed}};
    }
    const auto report = run.tune();
    REQUIRE(report);
    CHECK(knob(*report, Knob::work_items_per_unit).configurations == (takes_ptx ? 2 : 0));
  }
}

TEST_CASE("nothing that waits is tried on a device without a proved ordering") {
  Measured run;
  run.device.profile->ordering.reset();
  const auto report = run.tune();
  REQUIRE(report);
  CHECK(knob(*report, Knob::strategy).verdict == KnobVerdict::nothing_to_try);
  CHECK(knob(*report, Knob::workers).verdict == KnobVerdict::nothing_to_try);
}

TEST_CASE("an unchanged program with wrong outputs is not tuned") {
  Measured run;
  run.options.compile.tuning.strategy = engine::Strategy::barrier;
  run.wrong_persistent = true;
  const auto report = run.tune();
  REQUIRE(!report);
  CHECK(report.error().code == ErrorCode::outputs_differ);
  CHECK(report.error().message == "element 63 of \"x\" is 16777282, plain launches make it 66");
}
