// Persistent launches in slices, on a stand-in for the device: how slices continue, how long they are, and how
// a dispatch ends.
#include "../program_support.hpp"
#include "../stand_in.hpp"
#include "engine/arena_run.hpp"
#include "wave/progress_state.h"

#include <doctest/doctest.h>

#include <csignal>

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;
using device::test::StandIn;
using device::test::StandInLaunch;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

namespace {

// The numbers that a persistent launch was given.
engine::in_kernels::tg_numbers given_numbers(const StandInLaunch& launch) {
  std::array<std::uint32_t, sizeof(engine::in_kernels::tg_numbers) / sizeof(std::uint32_t)> numbers{};
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = launch.value<std::uint32_t>(engine::in_kernels::TG_MEMORY_COUNT + i);
  }
  return std::bit_cast<engine::in_kernels::tg_numbers>(numbers);
}

constexpr std::uint32_t workers = 2;

using Head = std::array<std::uint32_t, 4>; // iteration, stage, turn, arrivals

// A persistent launch of two stages, of 5 and 3 tiles, that are repeated.
struct DispatcherRun {
  StandIn session;
  CompiledProgram compiled{
      .program = program_of(1, {64}),
      .strategy = {.strategy = Strategy::barrier},
      .schedule = {.group_size = 4, .repeat_end = 2, .tiles_per_pack = {1, 1}, .storage = {{0}}}};
  Job& program = compiled.program;
  Schedule& schedule = compiled.schedule;
  LaunchTables& tables = compiled.tables;
  DispatchLimits limits{
      .deadline = SliceLoop::Clock::now() + 1h, .workers = workers, .arrivals_per_barrier = workers};
  Monitor monitor;

  std::uint32_t most_turns = 3;                                   // of a launch
  std::function<void(std::span<std::uint32_t> progress)> after{}; // what a launch does besides
  std::vector<Head> began;                                        // by launch
  std::vector<std::uint32_t> budgets;

  DispatcherRun() {
    program.iterations = 4;
    program.waves = {wave_of(0, {updates(0)}, range_of(20, 4)), wave_of(0, {updates(0)}, range_of(12, 4))};
    program.waves[0].name = "turn";
    program.waves[1].name = "copy";
    schedule.stages = {{.waves = {0}, .tiles = 5, .packs = 5},
                       {.waves = {1}, .tiles = 3, .packs = 3, .row = 1}};
    schedule.row_stages = {0, 1};
    tables.stages = {{.tiles = 5}, {.tiles = 3}};
    tables.steps = 2;
    session.kernels["persistent"] = [this](const StandInLaunch& launch) { persistent(launch); };
  }

  // Each turn a work-group runs one tile; the groups meet after each stage.
  void persistent(const StandInLaunch& launch) {
    const engine::in_kernels::tg_numbers given = given_numbers(launch);
    Head at{given.iteration, given.stage, given.turn, given.arrivals};
    began.push_back(at);
    budgets.push_back(given.budget);
    CHECK(launch.work_groups() == workers);
    for (std::uint32_t done = 0; done < std::min(most_turns, given.budget) && at[1] != given.stage_end;
         ++done) {
      if (++at[2] * workers < tables.stages[at[1]].tiles) {
        continue;
      }
      at[2] = 0;
      at[3] += given.arrivals_per_barrier;
      if (++at[1] == given.repeat_end && ++at[0] < given.iterations) {
        at[1] = given.repeat_begin;
      }
    }
    const auto words = launch.buffer<std::uint32_t>(engine::in_kernels::TG_MEMORY_PROGRESS);
    words[TG_PROGRESS_ITERATION] = at[0];
    words[TG_PROGRESS_STAGE] = at[1];
    words[TG_PROGRESS_TURN] = at[2];
    words[TG_PROGRESS_ARRIVALS] = at[3];
    if (after) {
      after(words);
    }
  }

  // With more and more time, until a launch has begun.
  DispatchOutcome dispatch_begun() {
    DispatchOutcome outcome;
    for (auto time = 10ms; began.empty(); time *= 10) {
      limits.deadline = SliceLoop::Clock::now() + time;
      outcome = dispatch();
    }
    return outcome;
  }

  DispatchOutcome dispatch() {
    Arena arena;
    arena.whole = session.allocate(64);
    arena.parts = {{.memory = arena.whole}};
    BuiltProgram built{.kernel = BuiltKernel{.kernel = session.make_kernel({}, "persistent")}};
    return prepare_dispatch({session, {}, compiled, built, monitor, {}}, nullptr, arena, limits)();
  }
};

// A report of a group that gave up, as kernels/common/device_barrier.cl writes it.
void report_stuck(std::span<std::uint32_t> progress, std::uint32_t group, std::uint32_t line) {
  const std::array<std::uint32_t, 7> report{1, 2, 1, 3, line, 6, 5};
  std::ranges::copy(report, progress.begin() + TG_PROGRESS_GROUPS + group * group_report_words);
  ++progress[TG_PROGRESS_STUCK];
}

// The error that a launch ends with.
std::string refusal(DispatcherRun& run) {
  try {
    run.dispatch();
  } catch (const device::Refused& refused) {
    return refused.error.message;
  }
  return "";
}

} // namespace

TEST_CASE("each slice continues where the one before it has stopped") {
  DispatcherRun run;
  run.limits.first_turns = 7; // no limit, as launches end earlier
  const DispatchOutcome outcome = run.dispatch();
  // A stage takes 3 turns or 2, an iteration 5; arrivals are those of both groups after each stage.
  CHECK(run.began == std::vector<Head>{{0, 0, 0, 0},
                                       {0, 1, 0, 2},
                                       {1, 0, 1, 4},
                                       {1, 1, 1, 6},
                                       {2, 0, 2, 8},
                                       {3, 0, 0, 12},
                                       {3, 1, 0, 14}});
  CHECK(outcome.status == RunStatus::done);
  CHECK(outcome.iterations == 4);
  CHECK(outcome.reached == Position{.iteration = 4, .stage = 2});
  CHECK(outcome.calls.launches == 7);
  CHECK(outcome.calls.waits == 7 + 7); // for the launches, and to read their heads
  CHECK(outcome.slices_ns.size() == 7);
  CHECK(outcome.calls.bytes_read == 7 * TG_PROGRESS_GROUPS * sizeof(std::uint32_t));
  CHECK(!outcome.until_met);
  CHECK(run.monitor.iterations == 4);
  CHECK(run.monitor.in_flight == 0);
}

TEST_CASE("slices approach the wanted length") {
  DispatcherRun run;
  run.program.iterations = 40; // of 5 turns
  run.most_turns = ~0U;
  run.limits.first_turns = 40;
  run.limits.slice_ns = 2'000'000;
  run.after = [&run](auto) {
    std::this_thread::sleep_for(std::chrono::microseconds(100) * run.budgets.back());
  };
  const DispatchOutcome outcome = run.dispatch();
  CHECK(outcome.status == RunStatus::done);
  REQUIRE(run.budgets.size() == outcome.slices_ns.size());
  for (std::size_t i = 1; i < run.budgets.size(); ++i) {
    CAPTURE(outcome.slices_ns[i - 1]);
    const double wanted = 2e6 / static_cast<double>(outcome.slices_ns[i - 1]) * run.budgets[i - 1];
    CHECK(run.budgets[i] == std::max(static_cast<std::uint32_t>(wanted), 1U));
  }
}

TEST_CASE(
    "a slice that took far too long is followed by one of a single turn, and quick ones grow 32 times") {
  DispatcherRun run;
  run.limits.first_turns = 2;
  run.limits.slice_ns = 1;
  run.dispatch();
  CHECK(run.budgets[1] == 1);
  DispatcherRun quick;
  quick.limits.slice_ns = ~std::uint64_t{0};
  quick.limits.first_turns = 2;
  quick.dispatch();
  CHECK(quick.budgets[1] == 64);
  CHECK(quick.budgets[2] == 2048);
  CHECK(quick.budgets[6] == std::uint32_t{1} << 29U); // the most, of two work-groups
}

TEST_CASE("the deadline ends a dispatch between slices, with what was done") {
  DispatcherRun run;
  run.program.iterations = ~0U;
  const DispatchOutcome outcome = run.dispatch_begun();
  CHECK(outcome.status == RunStatus::deadline);
  const Head end = run.began.back();
  CHECK(outcome.iterations >= end[0]);
  CHECK(outcome.reached.iteration == outcome.iterations);
  CHECK(run.monitor.reached() == outcome.reached);
  CHECK(outcome.calls.launches == run.began.size());
  CHECK(!outcome.waited);
  CHECK(outcome.stuck_groups.empty());
}

TEST_CASE("an interrupt ends a dispatch between slices") {
  const device::test::Interruptible interruptible;
  DispatcherRun run;
  run.after = [&run](auto) {
    if (run.began.size() == 3) {
      std::raise(SIGINT);
    }
  };
  const DispatchOutcome outcome = run.dispatch();
  CHECK(outcome.status == RunStatus::interrupted);
  CHECK(run.began.size() == 3);
  CHECK(outcome.iterations == 1);
  CHECK(outcome.reached == Position{.iteration = 1, .stage = 1, .turn = 1});
}

TEST_CASE("groups that gave up waiting are reported with what they waited for") {
  DispatcherRun run;
  run.after = [&run](auto progress) {
    if (run.began.size() == 2) {
      report_stuck(progress, 0, 0);
      report_stuck(progress, 1, 2);
    }
  };
  const DispatchOutcome outcome = run.dispatch();
  CHECK(outcome.status == RunStatus::hang);
  CHECK(run.began.size() == 2);
  REQUIRE(outcome.stuck_groups.size() == 2);
  const StuckGroup& stuck = outcome.stuck_groups[0];
  CHECK(std::array<std::uint64_t, 6>{stuck.group, stuck.iteration, stuck.stage, stuck.tile, stuck.expected,
                                     stuck.seen} == std::array<std::uint64_t, 6>{0, 2, 1, 3, 6, 5});
  CHECK(stuck.waves == std::vector<std::string>{"\"copy\""});
  CHECK(stuck.counter == "arrivals at the barrier");
  CHECK(outcome.stuck_groups[1].group == 1);
  CHECK(outcome.stuck_groups[1].counter == "steps of group 0");
}

TEST_CASE("groups that wait when time is up were asked to stop, and do not hang") {
  DispatcherRun run;
  run.session.on_host = true; // its memory is shared, so that the host can end waits
  run.after = [&run](auto progress) {
    std::this_thread::sleep_until(run.limits.deadline);
    run.monitor.stop();
    CHECK(run.monitor.stopped);
    report_stuck(progress, 1, 0);
  };
  const DispatchOutcome outcome = run.dispatch_begun();
  CHECK(outcome.status == RunStatus::deadline);
  CHECK(outcome.waited);
  CHECK(outcome.stuck_groups.empty());
  run.monitor.stopped = false;
  run.monitor.stop(); // the counters are gone, and nothing is written
  CHECK_FALSE(run.monitor.stopped);
}

TEST_CASE("a place that a launch reports and that does not exist is an error, and no index") {
  for (const auto& [word, what] : {std::pair(std::size_t{TG_PROGRESS_STAGE}, "a stage"),
                                   std::pair(std::size_t{TG_PROGRESS_ITERATION}, "an iteration")}) {
    DispatcherRun run;
    run.after = [word = word](auto progress) { progress[word] = 1'000'000; };
    CHECK(refusal(run).starts_with(fmt::format("the device reports {} 1000000, and there are ", what)));
  }
}

TEST_CASE("a slice that was asked to stop and had come to its end is followed by the next") {
  DispatcherRun run;
  run.after = [&run](auto progress) { progress[TG_PROGRESS_STUCK] = run.began.size() == 1 ? 1 : 0; };
  CHECK(run.dispatch().status == RunStatus::done);
}

TEST_CASE("a launch that has done nothing is not repeated") {
  DispatcherRun run;
  run.most_turns = 0;
  const DispatchOutcome outcome = run.dispatch();
  CHECK(outcome.status == RunStatus::hang);
  CHECK(outcome.stuck_groups.empty());
  CHECK(outcome.calls.launches == 1);
}

TEST_CASE("the kernel says that `until` is met") {
  DispatcherRun run;
  run.program.iterations = 1000;
  run.after = [&run](auto progress) {
    if (run.began.size() == 2) {
      progress[TG_PROGRESS_ITERATION] = 2;
      progress[TG_PROGRESS_STAGE] = 2;
      progress[TG_PROGRESS_FINISHED] = 1;
    }
  };
  const DispatchOutcome outcome = run.dispatch();
  CHECK(outcome.status == RunStatus::done);
  CHECK(outcome.until_met);
  CHECK(outcome.iterations == 2);
}

TEST_CASE("a counter that cannot be shared with the host is named, and nobody writes to it") {
  DispatcherRun run;
  run.session.on_host = true;
  run.session.failures = {{.call = "share"}};
  CHECK(refusal(run) == "calling share failed: CL_OUT_OF_RESOURCES");
  run.monitor.stop();
  CHECK_FALSE(run.monitor.stopped);
}

TEST_CASE("a trace has the launches by the device's clock and the tasks of each group") {
  DispatcherRun run;
  run.limits.trace_spans = 100;
  run.limits.clock = DeviceClock::nanoseconds;
  std::uint64_t now = 5'000'000; // of the device, in nanoseconds
  run.session.clock = [&now] {
    now += 1000;
    return device::EventTimes{
        .queued = now - 1000, .submitted = now - 900, .started = now - 800, .ended = now};
  };
  run.after = [&](std::span<std::uint32_t> progress) {
    CHECK(progress[TG_PROGRESS_SPAN_ROOM] == 100 / workers);
    progress[TG_PROGRESS_CLOCK_BEGIN] = static_cast<std::uint32_t>(now + 200);
    progress[TG_PROGRESS_CLOCK_END] = static_cast<std::uint32_t>(now + 1000);
    if (run.began.size() == 1) { // group 0 met three tasks more than there is room for, and kept one
      const std::size_t counts = TG_PROGRESS_GROUPS + group_report_words * workers;
      progress[counts] = 1;
      const SpanRow row{.asked = now + 200,
                        .began = now + 300,
                        .ended = now + 500,
                        .iteration = 0,
                        .stage = 1,
                        .first = 0,
                        .step = 2,
                        .count = 3,
                        .unused = 0};
      std::memcpy(&progress[counts + 8], &row, sizeof row);
    }
  };
  const DispatchOutcome outcome = run.dispatch();
  REQUIRE(outcome.trace);
  REQUIRE(outcome.trace->launches.size() == outcome.calls.launches);
  for (const LaunchSpan& launch : outcome.trace->launches) {
    CHECK(launch.end_ns - launch.begin_ns == 800);
    CHECK(!launch.stage);
  }
  CHECK(outcome.trace->launches[5].iteration == 3);
  REQUIRE(outcome.trace->tasks.size() == 1);
  const TaskSpan& task = outcome.trace->tasks[0];
  CHECK(task.group == 0);
  CHECK(task.row == 1);
  CHECK(task.began_ns - task.asked_ns == 100);
  CHECK(task.ended_ns - task.began_ns == 200);
  CHECK(task.tiles.count == 3);
  CHECK(outcome.trace->left_out == 0);
}
