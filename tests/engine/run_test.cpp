// Whole runs of wave programs: with a stand-in for the device where kernels may do what they like, and on this
// machine's CPU with a wait for what never comes.
#include "../stand_in_run.hpp"
#include "engine/report.hpp"
#include "work/resolve.hpp"
#include "work/run.hpp"

using namespace tidegate;
using namespace tidegate::engine;
using namespace tidegate::engine::test;
using std::chrono_literals::operator""ms;

namespace as_on_device {
using uint = std::uint32_t;
using ulong = std::uint64_t;
#include "wave/stress.cl"
#undef get_group_id
} // namespace as_on_device

namespace {

Result<RunReport> run_document(Run& run, const std::string& json) {
  const auto program = documents::decode<WaveProgram>(json);
  REQUIRE(program);
  Lowering lowering(*program, run.folder.path().string(), &run.device, run.options);
  return run_program(lowering, run.options, run.monitor);
}

RunReport report_of(Run& run, const std::string& json) {
  auto report = run_document(run, json);
  REQUIRE(report);
  return *std::move(report);
}

// This machine's CPU with any memory ordering, as tests of single waits need no proof of it.
device::DeviceInfo processor() {
  const auto list = device::list_devices();
  REQUIRE(list);
  const auto found = device::select_device(*list, "cpu");
  REQUIRE(found);
  device::DeviceInfo device = **found;
  device.profile = device::DeviceProfile{.device = device.name,
                                         .driver_version = device.driver_version,
                                         .ordering = device::MemoryOrdering::classic,
                                         .trials = {}};
  return device;
}

} // namespace

TEST_CASE("outputs are compared with plain launches, and written if they are equal") {
  StandInRun run;
  run.options.verify = true;
  const RunReport report = report_of(run, document(3));
  CHECK(report.status == RunStatus::done);
  CHECK(report.output_parity->equal);
  CHECK(report.output_parity->checked == 2);
  CHECK(report.iterations == 3);
  CHECK(run.calls == 6);
  CHECK(run.wrote_outputs());
}

TEST_CASE("outputs that differ are withheld, and what differs says why") {
  // 1: the run; 2: the plain launches; 3 and 4: both again.
  struct Row {
    std::set<int> wrong;
    DifferenceCause cause;
    std::string fix; // its beginning
  };
  for (const auto& [wrong, cause, fix] :
       {Row{{1}, DifferenceCause::order, "this run does not repeat itself while plain launches do: waves"},
        Row{{1, 3},
            DifferenceCause::race,
            "plain launches do not repeat themselves either: work-items of one"},
        Row{{1, 4}, DifferenceCause::unknown, "look for a write past the end of a buffer"}}) {
    for (const std::uint64_t rounds : {0U, 2U}) {
      StandInRun run;
      run.wrong = wrong;
      run.options.verify = rounds == 0;
      run.options.compare_rounds = rounds;
      const RunReport report = report_of(run, document(1));
      CHECK(run.calls == 4);
      CHECK(report.status == RunStatus::outputs_differ);
      const OutputParity& parity = *report.output_parity;
      CHECK(!parity.equal);
      CHECK(parity.checked == 2);
      CHECK(parity.likely_cause == cause);
      CHECK(!report.comparison);
      CHECK(report.error->code == ErrorCode::outputs_differ);
      CHECK(
          report.error->message ==
          "element 63 of \"x\" is 16777280, plain launches make it 64; 2 elements in all"); // one in its copy
      CHECK(report.error->fix.starts_with(fix));
      CHECK(!run.wrote_outputs());
    }
  }
}

TEST_CASE("an output is compared with the user's reference, which is read before anything runs") {
  StandInRun run;
  std::string reference(64 * sizeof(std::uint32_t), '\0');
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t element = i + 1;
    std::memcpy(reference.data() + i * sizeof element, &element, sizeof element);
  }
  run.folder.write("ref.raw", reference);
  std::string json = document(1);
  json.replace(json.find(R"("output":"x.raw")"), 16, R"("output":"x.raw","expect":{"file":"ref.raw"})");
  const RunReport equal = report_of(run, json);
  CHECK(equal.status == RunStatus::done);
  CHECK(equal.expected.front().equal);
  CHECK(run.wrote_outputs());
  std::filesystem::remove(run.folder.path() / "x.raw");

  run.calls = 0;
  run.wrong = {1};
  const RunReport differs = report_of(run, json);
  CHECK(differs.status == RunStatus::outputs_differ);
  CHECK(differs.error->code == ErrorCode::outputs_differ);
  CHECK(differs.error->message == "element 63 of \"x\" is 16777280, " +
                                      (run.folder.path() / "ref.raw").string() +
                                      " has 64; 1 of 64 elements are outside rtol 0, atol 0");
  CHECK(differs.error->pointer == "/buffers/x/expect");
  CHECK(!run.wrote_outputs());

  run.calls = 0;
  json.replace(json.find(R"("ref.raw")"), 9, R"("ref.raw","atol":16777216)");
  const RunReport allowed = report_of(run, json);
  CHECK(allowed.status == RunStatus::done);
  CHECK(allowed.expected.front().worst->element == 63);

  run.calls = 0;
  run.folder.write("ref.raw", reference.substr(4));
  const auto too_short = run_document(run, json);
  REQUIRE(!too_short);
  CHECK(too_short.error().code == ErrorCode::bad_array);
  CHECK(too_short.error().pointer == "/buffers/x/expect/file");
  CHECK(run.calls == 0);
}

TEST_CASE("stress runs waves that no dependency orders in another order, and names the two that need one") {
  StandInRun run;
  run.options.stress_runs = 4;
  std::string json = document(2);
  const RunReport sound = report_of(run, json);
  CHECK(sound.status == RunStatus::done);
  REQUIRE(sound.stress);
  CHECK(!sound.stress->failure);
  CHECK(sound.stress->completed.size() == 4);
  CHECK(std::ranges::count(sound.stress->completed, StressKind::wave_order) ==
        0); // no other order is allowed
  CHECK(run.wrote_outputs());
  std::filesystem::remove(run.folder.path() / "x.raw");

  json.replace(json.find(R"("repeat")"), 8, R"("dependencies":[],"repeat")");
  const RunReport report = report_of(run, json);
  CHECK(report.status == RunStatus::outputs_differ);
  CHECK(report.output_parity->equal); // the run itself is in order by chance
  const StressFailure& failure = *report.stress->failure;
  CHECK(failure.order_decides);
  CHECK(failure.waves == std::vector<std::string>{"\"turn\"", "\"copy\""});
  CHECK(
      report.error->message ==
      "under stress (plain launches in reverse order, seed 1) element 0 of \"y\" is 1, plain launches in the "
      "program's order make it 2; 64 elements in all; the order of \"turn\" and \"copy\" decides, and nothing "
      "states it");
  CHECK(report.error->fix ==
        "list a dependency between these two waves, or leave \"dependencies\" out so that they are derived; "
        "--stress 1 --set tuning.stress-seed=1 repeats this run");
  CHECK(!run.wrote_outputs());
}

TEST_CASE("stress runs persistent launches whose tiles change places, and a seed repeats them") {
  StandInRun run;
  run.options.stress_runs = 3;
  run.wrong_persistent = true;
  const RunReport report = report_of(run, document(1));
  CHECK(report.status == RunStatus::outputs_differ);
  CHECK(report.strategy == Strategy::plain);
  const StressFailure& failure = *report.stress->failure;
  CHECK(failure.seed == 1);
  CHECK(failure.kind == StressKind::barrier);
  CHECK(failure.difference->first_difference->element == 63);
  CHECK(failure.waves == std::vector<std::string>{"\"turn\""});
  CHECK(!failure.order_decides);
  CHECK(report.error->message.ends_with("; written by \"turn\""));
  CHECK(!run.wrote_outputs());
  run.options.stress_runs = 1;
  CHECK(report_of(run, document(1)).stress->failure->variation == failure.variation);
  run.options.emit_kernel = run.folder.file("kernel.cl");
  run.options.stress_seed = 3;
  const auto counters = run_document(run, document(1));
  CHECK(counters->stress->failure->kind == StressKind::counters);
  CHECK(counters->stress->failure->seed == 3);
  CHECK(tidegate::test::contents(run.options.emit_kernel).find("tg_shuffled") !=
        std::string::npos); // of the run under stress
}

TEST_CASE("each order of tiles has every tile once") {
  for (const as_on_device::uint count : {1U, 2U, 3U, 64U, 1000U}) {
    std::set<std::vector<as_on_device::uint>> orders;
    for (as_on_device::ulong seed = 0; seed < 32; ++seed) {
      std::vector<as_on_device::uint> order;
      for (as_on_device::uint turn = 0; turn < count; ++turn) {
        order.push_back(as_on_device::tg_shuffled(turn, count, as_on_device::tg_mixed(seed)));
      }
      orders.insert(order);
      std::ranges::sort(order);
      CHECK(std::ranges::adjacent_find(order) == order.end());
      CHECK(order.back() == count - 1);
    }
    CHECK(orders.size() >= std::min(count, 16U));
  }
}

TEST_CASE("both ways are timed in turns") {
  StandInRun run;
  run.options.compare_rounds = 3;
  const RunReport report = report_of(run, document(2));
  CHECK(report.comparison->rounds == 3);
  CHECK(run.calls == (2 + 2 * 3) * 2);
  CHECK(report.status == RunStatus::done);
}

TEST_CASE("the wall time ends a run, and the report says what is left") {
  StandInRun run;
  run.options.max_wall_time_ns = 5'000'000;
  run.options.slice_ns = 1'000'000;
  run.then = [](int) { std::this_thread::sleep_for(1ms); };
  RunReport report;
  do { // until a launch has come back, however busy this machine is
    run.options.max_wall_time_ns *= 10;
    report = report_of(run, document(100'000));
    REQUIRE(report.status == RunStatus::deadline);
  } while (report.items_processed == 0);
  CHECK(report.items_processed + report.items_remaining == 100'000 * 128);
  CHECK(report.error->code == ErrorCode::wall_time_exceeded);
  CHECK(report.error->message ==
        fmt::format("the wall time of {} s is over: {} of 12800000 items are left, after {}",
                    static_cast<double>(run.options.max_wall_time_ns) / 1e9, report.items_remaining,
                    report.iterations) +
            (report.iterations == 1 ? " iteration" : " iterations"));
  CHECK(run.monitor.activity == Activity::running); // launches were under way
  CHECK(report.error->fix == "give --max-wall-time more, or the program less to do; no output was written");
  CHECK(!run.wrote_outputs());
}

TEST_CASE("an until that is not met ends with the wall time, and the report has its value") {
  StandInRun run;
  std::string json = document(1);
  json.replace(json.find(R"("repeat":1)"), 10, R"("until":{"buffer":"y","equals":4000000000})");
  run.options.max_wall_time_ns = 30'000'000;
  RunReport report = report_of(run, json);
  while (report.iterations == 0) { // this machine is slow
    run.options.max_wall_time_ns *= 10;
    report = report_of(run, json);
  }
  CHECK(report.status == RunStatus::deadline);
  const std::string count = std::to_string(report.iterations);
  CHECK(report.iterations > 0);
  CHECK(report.items_remaining > 0);
  CHECK(!report.until->reached);
  CHECK(report.error->message.ends_with(" s is over: until was not reached after " + count +
                                        " iterations: \"y\" is " + count + ", waiting for 4000000000"));
  CHECK(report.error->fix ==
        "look at what makes the value, give \"repeat\" a bound, or --max-wall-time more; no "
        "output was written");
  run.options.max_wall_time_ns = 60'000'000'000;
  json.replace(json.find("4000000000"), 10, "7");
  const RunReport met = report_of(run, json);
  CHECK(met.status == RunStatus::done);
  CHECK(met.iterations == 7);
  CHECK(met.until->reached);
}

TEST_CASE("a wait on the device that runs out is reported by the kernel itself") {
  for (const std::uint32_t local : {1U, 8U}) {
    CAPTURE(local);
    Run run;
    run.device = processor();
    run.options.compile.strategy = Strategy::barrier;
    run.options.compile.mode = Mode::interpreter;
    run.options.compile.claims = false;
    const std::uint32_t workers = std::min(2U, run.device.compute_units);
    std::set<std::string> assumed;
    auto job = resolve({*documents::decode<WaveProgram>(document(1, local)), run.folder.path().string(),
                        assume_macros(assumed)});
    REQUIRE(job);
    const auto compiled = compile(std::move(*job), &run.device, run.options.compile);
    REQUIRE(compiled);
    const auto opened = device::open_session(run.device);
    REQUIRE(opened);
    const device::Session& session = **opened;
    BuiltProgram built = build(session, run.device, *compiled, {});
    const Residency residency = find_residency(session, run.device, *compiled, built, workers);
    DispatchLimits limits = dispatch_limits(*compiled, run.device, run.options, residency);
    const std::uint32_t expected = ++limits.arrivals_per_barrier; // one too many
    limits.most_polls = std::uint32_t{1} << 16U;
    ExecutedProgram executed{.residency = residency};
    executed.run = run_in_arena({session, run.device, *compiled, built, run.monitor, run.options},
                                *first_contents(session, compiled->program, 0), limits);
    const RunReport report = report_of_run(*compiled, executed, run.device, run.options);
    CHECK(report.status == RunStatus::hang);
    REQUIRE(!report.stuck_groups.empty());
    for (const StuckGroup& stuck : report.stuck_groups) {
      CHECK(stuck.group < workers);
      CHECK(stuck.stage == 1);
      CHECK(stuck.waves == std::vector<std::string>{"\"copy\""});
      CHECK(stuck.counter == "arrivals at the barrier");
      CHECK(stuck.expected == expected);
      CHECK(stuck.seen < expected);
    }
    const StuckGroup& first = report.stuck_groups.front();
    CHECK(report.error->code == ErrorCode::device_hang);
    CHECK(
        report.error->message ==
        fmt::format(
            "a wait on the device ran out: in front of stage 1 (\"copy\"), tile {}, iteration 0, work-group "
            "{} waits for arrivals at the barrier to be {} and saw {}",
            first.tile, first.group, expected, first.seen));
    CHECK(report.error->fix == "see stuck_groups in the report; --strategy launch runs without waits");
  }
}

TEST_CASE("a persistent launch on the stand-in") {
  StandInRun run;
  run.options.compile.strategy = Strategy::barrier;
  run.options.verify = true;
  const RunReport report = report_of(run, document(5));
  CHECK(report.status == RunStatus::done);
  CHECK(report.strategy == Strategy::barrier);
  CHECK(report.output_parity->equal);
  CHECK(report.geometry.worker_groups <= StandInRun::resident);
  run.wrong_persistent = true;
  const RunReport wrong = report_of(run, document(5));
  CHECK(wrong.status == RunStatus::outputs_differ);
  CHECK(wrong.output_parity->first_difference->buffer == "x");
  CHECK(wrong.output_parity->likely_cause == DifferenceCause::unknown); // it repeats itself
}

namespace {

// A persistent launch that an earlier run chose, and that takes longer than anyone waits for.
struct SlowRun : StandInRun {
  SlowRun() {
    options.compile.strategy.reset();
    options.compile.tuning.strategy = Strategy::barrier;
    options.compile.tuning.plain_iteration_ns = 1;
    with_session([this](device::test::StandIn& session) {
      session.kernels["tidegate_persistent"] = [this](const device::test::StandInLaunch& launch) {
        constexpr std::uint32_t progress = 6;
        constexpr std::uint32_t iterations = 17;
        if (launch.value<std::uint32_t>(iterations) == 0) {
          persistent(launch);
          return;
        }
        std::this_thread::sleep_for(150ms);
        ++launch.buffer<std::uint32_t>(progress)[0];
      };
    });
  }
};

} // namespace

TEST_CASE(
    "plain launches that follow a launch that took too long have a build and a wall time of their own") {
  SlowRun run;
  bool in_time = true;
  const auto look = [&](int) { in_time &= run.monitor.deadline.load() > Monitor::Clock::now(); };
  int builds = 0;
  run.monitor.began = [&] {
    if (run.monitor.activity == Activity::building) {
      look(++builds);
    }
  };
  run.then = look;
  const RunReport report = report_of(run, document(3));
  CHECK(report.status == RunStatus::done);
  CHECK(report.strategy == Strategy::plain);
  CHECK(builds == 2);
  CHECK(run.calls == 3);
  CHECK(in_time);
}

TEST_CASE("what does not come back while another program is prepared is reported with the program that ran") {
  SlowRun run;
  std::optional<Strategy> reported;
  std::atomic<bool> abandoned = false;
  run.options.abandon = [&](const RunReport& report) {
    reported = report.strategy;
    abandoned = true;
  };
  bool ran = false;
  run.monitor.began = [&] {
    ran |= run.monitor.activity == Activity::running;
    if (ran && run.monitor.activity == Activity::compiling) {
      while (!abandoned) { // or this test never ends
        std::this_thread::sleep_for(10ms);
      }
      run.calls_of_sessions->clear();
      run.failures = {{.call = "build"}}; // a settled run would wait for the end of the process
    }
  };
  const auto report = run_document(run, document(3));
  CHECK(reported == Strategy::barrier);
  REQUIRE(!report);
  CHECK(report.error().message.ends_with(" failed: CL_OUT_OF_RESOURCES"));
}

TEST_CASE(
    "a compile time by the device's clock that is longer than the host's leaves no time, and does not wrap") {
  StandInRun run;
  run.options.compare_rounds = 1;
  run.with_session([](device::test::StandIn& session) {
    session.on_host = true;
    session.clock = [] { return device::EventTimes{.queued = 0, .started = 1'000'000'000'000}; };
  });
  const RunReport report = report_of(run, document(3));
  CHECK(report.dispatch_ns == 0);
  REQUIRE(report.comparison);
  CHECK(report.comparison->plain_ns == 0);
}

TEST_CASE("where no work-groups are resident for want of resources, tiles run one by one, then in launches") {
  StandInRun run;
  run.options.compile.strategy = Strategy::barrier;
  run.options.verify = true;
  for (const Strategy taken : {Strategy::barrier, Strategy::launch}) {
    run.failures.push_back({.call = "launch", .number = static_cast<int>(run.failures.size()) + 1});
    run.calls_of_sessions->clear();
    const RunReport report = report_of(run, document(5));
    CHECK(report.strategy == taken);
    CHECK(report.output_parity->equal);
    CHECK(report.strategy_reason.find("more registers or local memory than stand-in has") !=
          std::string::npos);
  }
}

TEST_CASE("any call may fail: a run is right or says what failed, and leaves everything as it was") {
  for (const Strategy strategy : {Strategy::plain, Strategy::barrier}) {
    StandInRun run;
    run.options.compile.strategy = strategy;
    run.options.verify = true;
    run.options.cache_folder = run.folder.path() / "cache";
    REQUIRE(report_of(run, document(3)).status == RunStatus::done); // its kernel is kept
    const std::string right = run.output("x.raw");
    run.calls_of_sessions->clear();
    REQUIRE(report_of(run, document(3)).status == RunStatus::done);
    const std::map<std::string, int> counts = *run.calls_of_sessions;
    CHECK(counts.size() >=
          (strategy == Strategy::plain ? 10 : 12)); // plain launches alone make no sub-buffers
    for (const auto& [name, count] : counts) {
      const std::string& call = name;
      for (int number = 1; number <= count; number += 1 + number / 4) {
        CAPTURE(call);
        CAPTURE(number);
        run.failures = {{.call = call, .number = number}};
        run.folder.write("x.raw", "old");
        run.calls_of_sessions->clear();
        const auto report = run_document(run, document(3));
        if (report) {
          CHECK(report->status == RunStatus::done);
          CHECK(run.output("x.raw") == right);
        } else {
          CHECK(report.error().code == ErrorCode::opencl_failure);
          CHECK(report.error().message.ends_with(" failed: CL_OUT_OF_RESOURCES"));
          CHECK(!report.error().fix.empty());
          CHECK(run.output("x.raw") == "old");
        }
      }
      // Nothing that was kept meanwhile keeps a later run from its strategy.
      run.failures.clear();
      const RunReport after = report_of(run, document(3));
      CHECK(after.strategy == strategy);
      CHECK(after.output_parity->equal);
    }
  }
}
