// The first run of a program and `tune measure`, on a stand-in for the device: what is compared, timed, thrown
// out and taken.
#include "../stand_in_run.hpp"
#include "tune/measure.hpp"
#include "tune/workbench.hpp"
#include "work/run.hpp"

using namespace tidegate;
using namespace tidegate::engine::test;
using namespace tidegate::tuning;

namespace {

constexpr std::uint64_t budget_ns = 1'000'000'000'000; // on a machine of any speed

struct Measured : StandInRun {
  explicit Measured(std::uint64_t first_run_budget_ns = budget_ns) {
    options.compile.strategy.reset();
    options.first_run_budget_ns = first_run_budget_ns;
  }

  FirstRunResult first(FirstRunResult earlier = {}, std::uint64_t repeat = 3, std::string_view type = "u32") {
    return first_of(program_of(repeat, type), std::move(earlier));
  }

  FirstRunResult first_of(const engine::WaveProgram& program, FirstRunResult earlier = {}) {
    auto found = first_run(lowering_of(program), device, options, std::move(earlier), monitor);
    REQUIRE(found);
    return *std::move(found);
  }

  // With `options.first_run_budget_ns`, or more where this machine is so slow that no candidate has time.
  FirstRunResult first_with_time(const FirstRunResult& earlier = {}, std::uint64_t repeat = 3) {
    for (;; options.first_run_budget_ns *= 4) {
      auto found = first(earlier, repeat);
      if (!found.report.settled || options.first_run_budget_ns > budget_ns) {
        return found;
      }
    }
  }

  // Builds end when this is set; until then they are not finished in time. The threads that wait use the stand-in.
  std::shared_ptr<std::atomic<bool>> may_end = std::make_shared<std::atomic<bool>>(false);
  void build_slowly() {
    while_building = [end = may_end] { end->wait(false); };
  }
  void end_builds() const {
    *may_end = true;
    may_end->notify_all();
    while (abandoned_builds()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  FirstRunResult chosen() {
    auto found = compare_choice(lowering_of(program_of(3)), device, options, monitor);
    REQUIRE(found);
    return *std::move(found);
  }

  Result<TuningReport> tune() {
    return measure(lowering_of(program_of(3)), device, {.run = options, .budget_ns = budget_ns}, monitor);
  }

  static engine::WaveProgram program_of(std::uint64_t repeat, std::string_view type = "u32") {
    std::string text = document(repeat);
    for (auto at = text.find("u32"); at != std::string::npos; at = text.find("u32", at + 3)) {
      text.replace(at, 3, type);
    }
    const auto program = documents::decode<engine::WaveProgram>(text);
    REQUIRE(program);
    return *program;
  }

  [[nodiscard]] engine::Lowering lowering_of(const engine::WaveProgram& program) const {
    return {program, folder.path().string(), &device, options};
  }
};

void take_2_ms(int) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

std::ptrdiff_t tried(const FirstRunResult& found) {
  return std::ranges::count(found.report.candidates, true, &engine::FirstCandidate::tried);
}

const engine::FirstCandidate* candidate(const FirstRunResult& found, std::string_view value) {
  const auto at = std::ranges::find(found.report.candidates, value, &engine::FirstCandidate::value);
  return at == found.report.candidates.end() ? nullptr : &*at;
}

const KnobReport& knob(const TuningReport& report, Knob which) {
  return *std::ranges::find(report.knobs, which, &KnobReport::knob);
}

} // namespace

TEST_CASE("the fastest candidate is taken, and its outputs are compared with plain launches") {
  Measured run;
  run.then = take_2_ms; // each plain launch
  const auto found = run.first();
  CHECK((found.report.compared && found.report.equal && found.report.measured && found.report.settled));
  CHECK(std::ranges::all_of(found.report.candidates, &engine::FirstCandidate::tried));
  CHECK(found.report.plain_ns > 2e6); // of as many iterations as fit
  CHECK(found.report.next == "takes the same way");
  CHECK(found.settings.tuning.strategy != engine::Strategy::plain);
  CHECK(!found.different);
  CHECK(found.report.candidates.at(0).value == "counters"); // the lowest estimate is built first
  CHECK(std::ranges::count(found.report.candidates, true, &engine::FirstCandidate::taken) == 1);
}

TEST_CASE("a later run goes on where the time was up, and nothing is tried twice") {
  Measured run(400'000'000);
  run.then = take_2_ms;
  run.build_slowly();
  FirstRunResult state;
  for (int runs = 0; runs < 50 && !state.report.settled; ++runs) {
    const auto found = runs == 0 ? run.first_with_time() : run.first(state);
    run.end_builds();
    CHECK(tried(found) >= tried(state));
    if (runs == 0) {
      CHECK_FALSE(found.report.settled);
      CHECK(found.settings.tuning.strategy == engine::Strategy::plain);
      CHECK(found.report.next == "tries counters");
    }
    state = found;
    run.options.first_run_budget_ns = budget_ns;
    run.while_building = {};
  }
  CHECK(state.report.settled);
  CHECK(state.settings.tuning.strategy != engine::Strategy::plain);
  // A run after that finds all of them known, and times the leaders alone: which of two equal ones wins is chance.
  const auto again = run.first(state);
  CHECK(again.settings.tuning.strategy != engine::Strategy::plain);
  CHECK(again.report.candidates.size() == state.report.candidates.size());
}

TEST_CASE("the first run lists the candidates, and what was tried stays, whatever later runs measure") {
  for (const bool first_is_slow : {false, true}) {
    CAPTURE(first_is_slow);
    Measured run;
    run.device.type = device::DeviceType::cpu;
    run.device.platform = "Portable Computing Language";
    run.device.extensions = "cl_khr_int64_base_atomics";
    run.device.profile->launch_ns = 300'000;
    const auto wait = [&run](bool slow) {
      run.then = slow ? [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
                      : std::function<void(int)>();
    };
    constexpr std::string_view one = "barrier, 1 work-group"; // only where launches are what takes time
    wait(first_is_slow);
    const auto found = run.first({}, 300);
    REQUIRE(candidate(found, "barrier") != nullptr);
    REQUIRE((candidate(found, one) == nullptr) == first_is_slow);
    FirstRunResult earlier = found;
    earlier.report.settled = false;
    earlier.report.candidates.back().ratio.reset(); // is still to be tried
    earlier.report.candidates.back().thrown_out.clear();
    wait(!first_is_slow);
    const auto again = run.first(earlier, 300);
    REQUIRE(again.report.candidates.size() == found.report.candidates.size());
    for (std::size_t i = 0; i < found.report.candidates.size(); ++i) {
      CHECK(again.report.candidates[i].value == found.report.candidates[i].value);
      CHECK(again.report.candidates[i].tried());
    }
    CHECK(again.report.settled);
  }
}

TEST_CASE(
    "plain launches that another run found slow are timed again, in turns with the fastest candidates") {
  Measured run;
  FirstRunResult earlier;
  earlier.report.candidates = {
      {.value = "counters", .ratio = 0.9, .taken = true, .thrown_out = ""},
      {.value = "barrier", .ratio = 0.7, .taken = false, .thrown_out = "other outputs"},
      {.value = "launch", .ratio = 2, .taken = false, .thrown_out = ""}};
  run.while_persistent = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  const auto found = run.first(earlier, 1);
  CHECK(found.report.settled);
  CHECK(*candidate(found, "counters")->ratio > 1);
  CHECK(candidate(found, "launch")->ratio == 2);
  CHECK_FALSE(candidate(found, "counters")->taken);
  CHECK(found.settings.tuning.strategy == engine::Strategy::plain);
  CHECK(found.report.reason == "no candidate that first runs here have timed is faster than plain launches");
}

TEST_CASE("nothing is timed while a candidate is built") {
  Measured run;
  std::atomic<bool> building = false;
  std::atomic<bool> timed_meanwhile = false;
  run.while_building = [&] {
    building = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    building = false;
  };
  run.while_persistent = [&] { timed_meanwhile = timed_meanwhile || building; };
  const auto found = run.first({}, 100);
  CHECK(tried(found) > 2);
  CHECK_FALSE(timed_meanwhile);
}

TEST_CASE("candidates whose runs are long do not keep a first run beyond its time") {
  Measured run(400'000'000);
  run.while_persistent = [&run] {
    std::this_thread::sleep_for(std::chrono::nanoseconds(run.options.first_run_budget_ns / 4 * 3));
  };
  const auto found = run.first_with_time({}, 1);
  CHECK_FALSE(found.report.settled);
  CHECK(found.settings.tuning.strategy == engine::Strategy::plain);
  CHECK(found.report.next.starts_with("tries "));
}

TEST_CASE("a build that is not finished in time is not waited for, and is left out the second time") {
  for (const bool begun_before : {false, true}) {
    CAPTURE(begun_before);
    Measured run(400'000'000);
    run.build_slowly();
    FirstRunResult earlier;
    if (begun_before) {
      earlier.report.candidates = {{.value = "counters", .ratio = {}, .thrown_out = ""},
                                   {.value = "barrier", .ratio = {}, .thrown_out = ""}};
    }
    const auto found = run.first_with_time(earlier);
    run.end_builds();
    CHECK_FALSE(found.report.settled);
    REQUIRE(found.report.candidates.size() > 1);
    CHECK(tried(found) == (begun_before ? 1 : 0));
    CHECK(found.report.candidates.front().thrown_out ==
          (begun_before
               ? fmt::format("not built in {} of a first run", seconds_text(run.options.first_run_budget_ns))
               : ""));
    CHECK(found.report.reason ==
          "plain launches: the time of the first run was up before a candidate was built");
  }
}

TEST_CASE("a program whose plain launches take longer than candidates may is settled at once") {
  Measured run(400'000'000);
  run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  const auto found = run.first({}, 1);
  CHECK(found.report.settled);
  CHECK(tried(found) == 0);
  CHECK(found.settings.tuning.strategy == engine::Strategy::plain);
  CHECK(found.report.reason ==
        "plain launches: a first run has no time for candidates; `tidegate tune measure` takes it");
}

TEST_CASE("a candidate is not begun if its comparison takes more time than is left") {
  for (const bool slow : {false, true}) {
    CAPTURE(slow);
    Measured run(slow ? 500'000'000 : budget_ns);
    if (slow) { // two outputs are read of each run
      run.while_reading = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
    }
    const auto found = run.first({}, 1);
    CHECK((tried(found) == 0) == slow);
    CHECK(found.report.equal);
  }
}

TEST_CASE("a way with other outputs is thrown out, and plain launches are taken") {
  for (const bool measure : {false, true}) {
    CAPTURE(measure);
    Measured run;
    run.wrong_persistent = true;
    run.then = take_2_ms;
    run.options.compile.tuning.strategy = engine::Strategy::barrier;
    const auto found = measure ? run.first() : run.chosen();
    CHECK(found.report.compared);
    CHECK(!found.report.equal);
    CHECK(found.settings.tuning.strategy == engine::Strategy::plain);
    REQUIRE(found.different);
    CHECK(found.different->parity.first_difference->buffer == "x");
    CHECK(found.different->parity.first_difference->element == 63);
    CHECK(found.different->parity.likely_cause == engine::DifferenceCause::unknown);
    CHECK(found.fault_at == "/waves/0");
    CHECK(found.report.reason.starts_with("outputs of "));
  }
}

TEST_CASE("a way that rounds differently is left out, and others that are equal are taken") {
  Measured run;
  run.wrong_persistent = true;
  run.wrong_bit = 1;
  run.last_wrong = 2; // the first candidate, which runs twice
  run.then = take_2_ms;
  const auto found = run.first({}, 3, "f32");
  CHECK(found.report.equal);
  CHECK(found.settings.tuning.strategy != engine::Strategy::plain);
  REQUIRE(found.different);
  CHECK(found.report.difference->likely_cause == engine::DifferenceCause::rounding);
}

TEST_CASE("of a long repetition as much is compared as fits") {
  Measured run(0);
  run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  const auto found = run.first({}, 10'000);
  CHECK(found.report.iterations >= 1);
  CHECK(found.report.iterations < 1000); // of 1 ms, in 20 ms, with steps of 8
  CHECK(found.report.repeat == 10'000);
}

TEST_CASE(
    "a run has 60 s, its check 10 s, and a first run 2 s more than plain launches take, if nothing else is said") {
  const runtime::Options defaults;
  CHECK(defaults.max_wall_time_ns == 60'000'000'000);
  CHECK(defaults.first_check_ns() == 10'000'000'000);
  for (const bool cpu : {false, true}) { // a CPU three times as long, and 2 s
    CAPTURE(cpu);
    Measured run(0);
    run.device.type = cpu ? device::DeviceType::cpu : device::DeviceType::gpu;
    run.then = take_2_ms;
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t budget = run.first().report.budget_ns;
    const auto taken = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin);
    const std::uint64_t times = cpu ? 3 : 1;
    CHECK(budget > 1'000'000'000 + times * 6'000'000);
    CHECK(budget <= 2'000'000'000 + times * static_cast<std::uint64_t>(taken.count()));
  }
}

TEST_CASE("a repetition that until may end early gives a first run no more time than what has run") {
  for (const bool until : {false, true}) {
    CAPTURE(until);
    Measured run(0);
    run.device.type = device::DeviceType::cpu;
    run.then = [](int) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    engine::WaveProgram program = Measured::program_of(10'000);
    if (until) {
      program.until = engine::Until{.buffer = "y", .equals = std::uint64_t{4'000'000'000}};
    }
    const auto found = run.first_of(program);
    CHECK(found.report.iterations < 1000);
    CHECK((found.report.budget_ns > 3 * 10'000'000'000) == !until);
  }
}

TEST_CASE("numbers of a program are no new first run, what they decide is") {
  const auto key_with = [](std::string_view from, std::string_view to) {
    Measured run;
    run.folder.write("ops.cl", "kernel void advance(global uint* x, uint by) { x[get_global_id(0)] += by; }\n"
                               "kernel void copied(global const uint* x, global uint* y) {\n"
                               "  y[get_global_id(0)] = x[get_global_id(0)];\n}\n");
    std::string text = document(100);
    text.replace(text.find(R"({"buffer":"x"}]})"), 16, R"({"buffer":"x"},{"u32":3}]})");
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const auto program = documents::decode<engine::WaveProgram>(text);
    REQUIRE(program);
    engine::Lowering lowering = run.lowering_of(*program);
    const auto job = lowering.job({});
    REQUIRE(job);
    return engine::launch_key(*program, **job);
  };
  for (const auto& [from, to, same] : {std::tuple(R"({"u32":3})", R"({"u32":4})", true),
                                       {R"("repeat":100)", R"("repeat":101)", true},
                                       {R"({"iota":{}})", R"({"fill":7})", true},
                                       {"x.raw", "other.raw", true},
                                       {R"("global_size":[64])", R"("global_size":[32])", false},
                                       {R"("count":64)", R"("count":128)", false},
                                       {R"("name":"turn")", R"("phase":"before")", false}}) {
    CHECK((key_with(from, to) == key_with("", "")) == same);
  }
}

TEST_CASE("a configuration that the device refuses is thrown out with the reason") {
  Measured run;
  run.failures = {{.call = "build", .number = 3}}; // after those of plain launches, in two ways
  const auto report = run.tune();
  REQUIRE(report);
  CHECK(std::ranges::any_of(report->knobs, [](const KnobReport& each) {
    return std::ranges::any_of(each.candidates, [](const auto& out) {
      return out.thrown_out.find("building a kernel failed: CL_OUT_OF_RESOURCES") != std::string::npos;
    });
  }));
}

TEST_CASE(
    "registers for fewer and more work-items are tried where NVIDIA's assembler can be asked; nothing that waits "
    "without a proved ordering") {
  for (const auto& [takes_ptx, ordered] :
       {std::pair(true, true), std::pair(false, true), std::pair(false, false)}) {
    Measured run;
    if (takes_ptx) {
      run.device.profile->trials = {
          {.ordering = device::MemoryOrdering::ptx, .verdict = device::TrialVerdict::passed}};
    }
    if (!ordered) {
      run.device.profile->ordering.reset();
    }
    const auto report = run.tune();
    REQUIRE(report);
    CHECK(knob(*report, Knob::work_items_per_unit).candidates.size() == (takes_ptx ? 2 : 0));
    CHECK((ordered || knob(*report, Knob::strategy).candidates.empty()));
    CHECK((ordered || knob(*report, Knob::workers).candidates.empty()));
  }
}

TEST_CASE("an unchanged program with wrong outputs is not tuned") {
  Measured run;
  run.options.compile.tuning.strategy = engine::Strategy::barrier;
  run.wrong_persistent = true;
  const auto report = run.tune();
  REQUIRE(!report);
  CHECK(report.error().code == ErrorCode::outputs_differ);
  CHECK(report.error().message == "element 63 of \"x\" is 16777282, plain launches make it 66");
  CHECK(report.error().fix.starts_with(
      "look for a write past the end of a buffer")); // the likely cause, as of a run
}
