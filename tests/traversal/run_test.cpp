// Whole runs of traversals: with a stand-in for the device that searches a path as the kernels do, and on this
// machine's CPU with a wait for an arrival too many; and when waves ran, from stamps of the device's clock.
#include "../stand_in.hpp"
#include "../temporary_folder.hpp"
#include "support.hpp"
#include "traversal/waves.hpp"

#include <csignal>

using namespace tidegate;
using namespace tidegate::traversal;
using device::test::StandIn;
using device::test::StandInLaunch;
using runtime::RunStatus;

namespace {

// Arguments of tidegate_frontier: the parts, then these.
enum Argument : std::uint32_t {
  setting_argument = static_cast<std::uint32_t>(Part::log),
  log_argument,
  counters_argument,
  reports_argument,
  poll_argument,
  launch_argument
};
constexpr std::uint32_t vertices = 4; // a path of as many

struct Run {
  tidegate::test::TemporaryFolder folder;
  graphs::FrontierProgram program;
  device::DeviceInfo device{.name = "stand-in",
                            .type = device::DeviceType::gpu,
                            .opencl_version = "OpenCL 3.0",
                            .compute_units = 2,
                            .max_workgroup_size = 256,
                            .global_memory_bytes = 1 << 30};
  RunOptions options;
  runtime::Monitor monitor;

  Run() {
    folder.write("path.el", "0 1\n1 2\n2 3\n");
    program.graph.file = "path.el";
    program.sources = {0};
    program.outputs.levels = "levels.bin";
    program.outputs.parents = "parents.bin";
    options.strategy = device::Strategy::launch;
  }

  Result<FrontierReport> operator()() {
    return run_traversal(program, folder.path().string(), &device, options, monitor);
  }

  [[nodiscard]] bool wrote_outputs() const { return std::filesystem::exists(folder.path() / "levels.bin"); }
};

// A device that works a wave of one vertex in each launch.
struct StandInRun : Run {
  std::function<void(std::span<std::uint32_t> values, std::span<std::uint32_t> parents)> then{}; // at the end
  std::function<void(tg_state&, std::span<std::uint32_t> reports)> reports{}; // after each launch
  std::uint32_t resident = 3; // work-groups that are found to be
  bool gives_up = false;      // the discovery of resident groups
  bool endless = false;       // no wave is the last
  std::vector<device::test::StandIn::Failure> failures;
  std::size_t polled_groups = 0;
  std::shared_ptr<std::map<std::string, int>> counts{}; // of the last session
  std::vector<std::uint32_t> arrivals;                  // at a barrier, by launch

  StandInRun() {
    options.open_session = [this](const device::DeviceInfo&, device::Profiling) {
      auto session = std::make_unique<StandIn>();
      counts = session->counts;
      session->failures = failures;
      session->kernels["tidegate_frontier"] = [this](const StandInLaunch& launch) {
        if (launch.buffer<tg_launch>(launch_argument).front().action != TG_ACTION_RUN) {
          poll(launch);
        } else {
          step(launch);
        }
      };
      return Result<std::unique_ptr<device::Session>>(std::move(session));
    };
  }

  // As kernels/common/occupancy.cl.
  void poll(const StandInLaunch& launch) {
    const auto words = launch.buffer<std::uint32_t>(poll_argument);
    words[3 * 64] = resident;
    words[4 * 64] = gives_up ? 1 : 0;
    polled_groups = launch.work_groups();
  }

  void step(const StandInLaunch& launch) {
    const auto part = [&](Part which) {
      return launch.buffer<std::uint32_t>(static_cast<std::uint32_t>(which));
    };
    tg_state& state = launch.buffer<tg_state>(static_cast<std::uint32_t>(Part::state)).front();
    const auto& setting = launch.buffer<tg_setting>(setting_argument).front();
    const auto& given = launch.buffer<tg_launch>(launch_argument).front();
    arrivals.push_back(given.arrivals_per_barrier);
    tg_position at = state.launch[given.number & 1U];
    const tg_u32 wave = at.wave;
    if (at.step != TG_STEP_DONE && wave < given.limit_wave) {
      const auto edges = [](tg_u32 of) { return of + 1 < vertices ? 1U : 0U; };
      tg_log_row row{.frontier_edges = edges(wave),
                     .previous_edges = wave == 0 ? 0U : edges(wave - 1),
                     .unexplored_edges = vertices - 1 - std::min(wave, vertices - 1),
                     .vertices = 1,
                     .previous_topology = at.previous_topology,
                     .wave = wave};
      const policy::tg_choice choice = policy::tg_choose(setting.policy,
                                                         {.edges = row.frontier_edges,
                                                          .previous_edges = row.previous_edges,
                                                          .unexplored_edges = row.unexplored_edges,
                                                          .vertices = row.vertices,
                                                          .dense_waves = row.dense_waves},
                                                         row.previous_topology);
      row.topology = choice.topology;
      row.rule = choice.rule;
      row.threshold = choice.threshold;
      launch.buffer<tg_log_row>(log_argument)[wave - given.log_begin] = row;
      if (wave < vertices) {
        part(Part::values)[wave] = wave;
        part(Part::others)[wave] = wave == 0 ? 0 : wave - 1;
      }
      at.previous_topology = row.topology;
      at.vertices = 3; // in the next frontier
      at.far = 2;
      ++at.round;
      if (++at.wave >= vertices && !endless) {
        at.step = TG_STEP_DONE;
        if (then) {
          then(part(Part::values), part(Part::others));
        }
      }
    }
    state.launch[(given.number + 1) & 1U] = at;
    if (reports) {
      reports(state, launch.buffer<std::uint32_t>(reports_argument));
    }
  }

  void persistent() {
    options.strategy = device::Strategy::barrier;
    device.profile = device::DeviceProfile{.ordering = device::MemoryOrdering::c11, .trials = {}};
  }
};

} // namespace

TEST_CASE("a result is checked and written") {
  StandInRun run;
  run.options.verify = true;
  const auto report = run();
  REQUIRE(report);
  CHECK(report->status == RunStatus::done);
  CHECK(report->verification->right);
  CHECK(report->waves.size() == vertices);
  CHECK(report->summary.frontier_edges == vertices - 1);
  CHECK(static_cast<std::uint64_t>(run.counts->at("allocated bytes")) <= report->memory.bytes);
  CHECK(run.wrote_outputs());
}

TEST_CASE("each corruption is named, and nothing is written") {
  using Words = std::span<std::uint32_t>;
  for (const auto& [corrupt, message] :
       std::vector<std::pair<std::function<void(Words, Words)>, std::string>>{
           {[](Words values, Words) { values[3] ^= 1; },
            "result_differs: the levels differ at vertex 3: 2 instead of 3"},
           {[](Words, Words parents) { parents[3] ^= 1; },
            "parent_level: vertex 3 has level 3, and its parent 3 is level 3"}}) {
    StandInRun run;
    run.options.verify = true;
    run.then = corrupt;
    const auto report = run();
    REQUIRE(report);
    CHECK(report->status == RunStatus::outputs_differ);
    CHECK(report->error->code == ErrorCode::outputs_differ);
    CHECK(report->error->message == message);
    CHECK(message.starts_with(*report->error->field + ": "));
    CHECK(!run.wrote_outputs());
  }
}

TEST_CASE("groups that gave up waiting are reported with the wave before") {
  StandInRun run;
  run.persistent();
  run.options.workers = 2;
  run.reports = [&run](tg_state& state, std::span<std::uint32_t> reports) {
    if (run.arrivals.size() == 3) {
      const std::uint32_t topology = 1;
      const std::array<std::uint32_t, 7> report{1, 2, 0, topology, 0, 8, 7};
      std::ranges::copy(report, reports.begin() + runtime::group_report_words);
      state.stuck = 1;
    }
  };
  const auto report = run();
  REQUIRE(report);
  CHECK(run.arrivals == std::vector<std::uint32_t>{2, 2, 2});
  CHECK(report->status == RunStatus::hang);
  CHECK(report->error->code == ErrorCode::device_hang);
  CHECK(report->error->message ==
        "a wait on the device ran out: after wave 2, work-group 1 waits for arrivals at "
        "the barrier to be 8 and saw 7");
  REQUIRE(report->stuck_groups.size() == 1);
  CHECK(report->stuck_groups[0].waves == std::vector<std::string>{"sparse_frontier"});
  CHECK(!run.wrote_outputs());
}

TEST_CASE("a persistent launch that does nothing is not repeated") {
  StandInRun run;
  run.persistent();
  run.reports = [](tg_state& state, auto) { state.launch[0] = state.launch[1] = {}; };
  const auto report = run();
  REQUIRE(report);
  CHECK(run.arrivals.size() == 1);
  CHECK(report->status == RunStatus::hang);
  CHECK(report->error->message == "a persistent launch came back without having done anything");
}

TEST_CASE("the wall time ends a traversal") {
  StandInRun run;
  run.endless = true;
  run.options.max_wall_time_ns = 20'000'000;
  run.reports = [](auto&, auto) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  const auto report = run();
  REQUIRE(report);
  CHECK(report->status == RunStatus::deadline);
  CHECK(report->error->message ==
        "the wall time of 0.02 s is over: " + std::to_string(report->waves.size()) + " waves done");
  CHECK(report->error->fix == "give --max-wall-time more; no output was written");
  CHECK(report->items_remaining ==
        (report->waves.empty() ? 1U : 3U + 2U)); // the source, or the next frontier
  CHECK(!run.wrote_outputs());
}

TEST_CASE("an interrupt ends a traversal between launches") {
  const device::test::Interruptible interruptible;
  StandInRun run;
  run.endless = true;
  run.reports = [&run](auto&, auto) {
    if (run.arrivals.size() == 20) {
      std::raise(SIGINT);
    }
  };
  const auto report = run();
  REQUIRE(report);
  CHECK(report->status == RunStatus::interrupted);
  CHECK(report->error->message == "interrupted: " + std::to_string(report->waves.size()) + " waves done");
  CHECK(report->waves.size() >= 20);
}

TEST_CASE("nothing waits inside a launch on a device without a proved ordering") {
  StandInRun run;
  run.persistent();
  run.device.profile->ordering.reset();
  const auto report = run();
  REQUIRE(report);
  CHECK(report->strategy == device::Strategy::launch);
  CHECK(report->strategy_reason == "the device has not passed the self-test: no memory ordering between "
                                   "work-groups is proved, so nothing may wait inside a launch");
  CHECK(run.arrivals.front() == 0);
  CHECK(run.polled_groups == 0);
}

TEST_CASE("the kernel itself counts its resident work-groups") {
  StandInRun run;
  run.persistent();
  run.options.workers = 4;
  const auto refused = run();
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "4 work-groups requested, but only 3 of this kernel can run concurrently on stand-in");
  CHECK(run.polled_groups >= 2 * 4);
  run.options.workers = 3;
  const auto report = run();
  REQUIRE(report);
  CHECK(report->geometry.worker_groups == 3);
  CHECK(report->status == RunStatus::done);

  run.gives_up = true;
  const auto busy = run();
  REQUIRE(!busy);
  CHECK(busy.error().message == "the discovery of resident work-groups did not come to an end");
  run.gives_up = false;
  run.failures = {{.call = "launch"}};
  const auto full = run();
  REQUIRE(!full);
  CHECK(full.error().code == ErrorCode::kernel_does_not_fit);
  run.failures = {{.call = "finish", .status = device::invalid_work_group_size}};
  CHECK(run().error().code == ErrorCode::kernel_does_not_fit);
}

TEST_CASE(
    "as many work-groups as sums of edges hold for run, and no more, also where nothing waits for another") {
  const device::DeviceInfo cpu = traversal::test::cpu();
  Run run;
  run.program.graph = {.generate = graphs::GeneratorSpec{.rmat = graphs::RmatSpec{.scale = 10}}};
  run.device = cpu;
  run.options.verify = true;
  constexpr std::uint32_t most = 65'536;
  run.options.workers = most + 1;
  const auto refused = run();
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::too_many_workers);
  run.options.workers = most;
  const auto report = run();
  REQUIRE(report);
  CHECK(report->geometry.worker_groups == most);
  CHECK(report->verification->right);
  run.options.workers = 1;
  const auto alone = run();
  REQUIRE(alone);
  CHECK(report->summary.frontier_edges == alone->summary.frontier_edges);
}

TEST_CASE("a message between ranks may have more than 2^32 words") {
  CHECK(tg_sent_at(1U << 31U, 2) == std::uint64_t{1} << 32U);
  CHECK(tg_sent_at(3U << 30U, 3) == std::uint64_t{9} << 30U);
}

TEST_CASE("a wait on the device that runs out is reported by the kernel itself") {
  const device::DeviceInfo cpu = traversal::test::cpu(device::MemoryOrdering::classic);
  Run run;
  run.options.strategy = device::Strategy::barrier;
  const auto asked = load_asked(run.program, run.folder.path().string(), {}, run.options);
  REQUIRE(asked);
  const auto plan = plan_traversal(*asked, asked->program, nullptr, &cpu, run.options);
  REQUIRE(plan);
  const auto opened = device::open_session(cpu);
  REQUIRE(opened);
  const device::Session& session = **opened;
  runtime::BuiltKernel kernel = runtime::build_kernel(session, cpu, plan->source, 0, {});
  const ResidentGraph resident = make_resident(session, *plan);
  runtime::DispatchLimits limits = limits_of(*plan, run.options, {.resident = 1, .workers = 1});
  ++limits.arrivals_per_barrier; // one too many
  limits.most_polls = std::uint32_t{1} << 16U;
  const TraversalOutcome outcome = traverse(session, kernel, resident, plan->geometry, limits, run.monitor);
  CHECK(outcome.status == RunStatus::hang);
  REQUIRE(outcome.stuck_groups.size() == 1);
  CHECK(outcome.stuck_groups[0].group == 0);
  CHECK(outcome.stuck_groups[0].counter == "arrivals at the barrier");
  CHECK(outcome.stuck_groups[0].expected == outcome.stuck_groups[0].seen + 1);
}

TEST_CASE("a wave lasts from the end of the previous one, also across launches") {
  // Two ticks per nanosecond. A wave is absorbed by a later launch where a launch is one step.
  const std::vector<runtime::SliceTimes> launches{
      {.begin_ns = 100, .end_ns = 200, .begin_ticks = 1000, .end_ticks = 1200},
      {.begin_ns = 300, .end_ns = 500, .begin_ticks = 1400, .end_ticks = 1800}};
  using Ends = std::vector<std::uint64_t>;
  using Spans = std::vector<std::array<std::uint64_t, 3>>; // iteration, begin, end
  for (const auto& [ends, expected] :
       {std::pair(Ends{1100, 1420, 1700}, Spans{{0, 120, 150}, {1, 150, 310}, {2, 310, 450}}),
        {Ends{1420, 1700}, Spans{{0, 120, 310}, {1, 310, 450}}}}) {
    Spans spans;
    for (const auto& span : wave_spans(runtime::DeviceClock::processor, launches, 1040, ends)) {
      spans.push_back({span.iteration, span.began_ns, span.ended_ns});
    }
    CHECK(spans == expected);
    CHECK(wave_spans(runtime::DeviceClock::nanoseconds, {}, 0, ends).empty());
  }
}
