#include "traversal/run.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"
#include "core/npy.hpp"
#include "traversal/own_checks.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using runtime::RunStatus;
using Clock = std::chrono::steady_clock;

// A traversal under way.
struct TraversalRun {
  const TraversalPlan& plan;
  const RunOptions& options;
  runtime::Monitor& monitor;
  FrontierReport& report;
  std::shared_ptr<device::Session> session{};
  runtime::Residency groups{};
  device::CallCounts calls_before{}; // of the session
  device::CallCounts dispatch_calls{};
  std::optional<OwnChecks> own{}; // of an algorithm that the user brings
};

// Returns the bytes that the host can still give out; 0 if it does not report them.
std::uint64_t available_memory() {
  constexpr std::size_t most = 4096;
  constexpr std::string_view name = "MemAvailable:";
  const std::string text = read_all("/proc/meminfo", most).value_or("");
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + name.size(), nullptr, 10) << 10U;
}

// Names what a result is compared with.
std::string_view reference_of(const graphs::FrontierProgram& program) {
  return program.own ? "plain rounds over all edges" : "the serial algorithm";
}

// Estimated cost of the serial check on the host, from edges and vertices: an upper bound on the memory, and the time
// of a machine that misses its caches at nearly every edge.
struct VerificationCost {
  std::uint64_t ns, bytes;
};
VerificationCost verification_cost(const graphs::FrontierProgram& program, const graphs::Graph& graph) {
  constexpr std::uint64_t of_vertex = 32; // bytes: values, a copy, parents, a queue
  constexpr std::uint64_t of_visit = 24;  // bytes in a growing vector: each edge may shorten a path
  const std::uint64_t edges = graphs::edge_count(graph), vertices = graphs::vertex_count(graph);
  const bool is_sssp = program.algorithm == Algorithm::sssp;
  const graphs::PageRankOptions options = graphs::page_rank_options(program);
  // Each iteration multiplies the change, 2 at first, by the damping.
  const double iterations = std::clamp<double>(
      std::ceil(std::log(std::min(options.tolerance / 2, 1.0)) / std::log(options.damping)), 0,
      graphs::PageRankOptions().max_iterations);
  const std::uint64_t ns = is_sssp                                 ? 150 // an edge or a vertex
                           : program.algorithm == Algorithm::reach ? 30 + 10 * program.sources.size()
                           : program.algorithm == Algorithm::pagerank
                               ? 30 + 4 * static_cast<std::uint64_t>(iterations)
                               : 60;
  return {.ns = ns * (edges + vertices), .bytes = of_vertex * vertices + (is_sssp ? of_visit * edges : 0)};
}

void report_calls(const TraversalRun& run) {
  runtime::report_calls(run.report.telemetry, run.session->calls()->since(run.calls_before),
                        run.dispatch_calls);
}

// Returns what a rank knows of its part.
runtime::RankReport rank_report(const TraversalPlan& plan) {
  return {.device = plan.device->name,
          .numbers = {.edges = plan.part->edges, .device_bytes = plan.memory.bytes}};
}

// Decides whether to check this run's result as a first run's: yes if `compared` and not `kept`.
FirstCheck plan_first_check(const TraversalPlan& plan, const RunOptions& options, std::uint64_t waves) {
  const graphs::FrontierProgram& program = plan.asked.program;
  const graphs::Graph& graph = plan.graph();
  FirstCheck first{.budget_ns = options.first_check_ns()};
  std::error_code unknown;
  const bool ran_before = !options.checked.empty() && std::filesystem::exists(options.checked, unknown);
  if (!options.verify_first) {
    first.reason = "not checked: --set verify-first=no";
  } else if (ran_before || plan.asked.kept->checked) {
    first.compared = first.equal = first.kept = true;
    first.reason =
        fmt::format("checked {}, right by {}",
                    ran_before ? "on an earlier run here" : "with this graph for an earlier request",
                    reference_of(program));
  } else {
    VerificationCost cost = verification_cost(program, graph);
    // A pass over all edges for each wave, on the device: taken as 8 times as fast as a serial one.
    cost.ns = program.own ? cost.ns / 8 * waves : cost.ns;
    const std::uint64_t memory = available_memory();
    first.compared = cost.ns <= first.budget_ns && cost.bytes <= memory;
    if (!first.compared) {
      const std::string edges = plural(graphs::edge_count(graph), "edge");
      first.reason =
          cost.ns > first.budget_ns
              ? fmt::format("not checked: by estimate the serial check of {} takes {}, and "
                            "measure-time is {}",
                            edges, seconds_text(cost.ns), seconds_text(first.budget_ns))
              : fmt::format("not checked: the serial check of {} may take {} of the host's memory, "
                            "and {} are available",
                            edges, bytes_text(cost.bytes), bytes_text(memory));
    }
  }
  return first;
}

// Passes the result of a program's own algorithm along all edges once more, on the device: a part of every run.
void check_fix_point(TraversalRun& run, const std::vector<std::uint32_t>& values) {
  const auto start = Clock::now();
  Verification& verification = run.report.verification.emplace();
  verification.checks = {"laws", "fix_point"};
  std::uint64_t reached = 0;
  verification.error = run.own->check_fix_point(values, reached);
  verification.right = !verification.error;
  run.report.answer = Answer{.reached = reached};
  run.report.verify_ns = elapsed_ns(start);
}

// Checks the result as the program's first run or --verify wants it, of an algorithm of the user's own after its fix point. Returns
// true if its outputs may be written.
bool check_result(TraversalRun& run, const TraversalResults& results) {
  const TraversalPlan& plan = run.plan;
  const RunOptions& options = run.options;
  std::optional<Verification>& verification = run.report.verification;
  const auto judged = [&] {
    if (verification && verification->error) {
      run.report.status = RunStatus::outputs_differ;
      run.report.error = verification->error;
    }
    return !verification || verification->right;
  };
  if (run.own) {
    check_fix_point(run, results.values);
  } else {
    run.report.answer = answer_of(plan, results);
  }
  report_calls(run);
  if (!judged()) {
    return false;
  }
  FirstCheck& first = run.report.first_run.emplace(plan_first_check(plan, options, results.waves));
  if (!options.verify && (!first.compared || first.kept)) {
    return true;
  }
  run.monitor.begin(runtime::Activity::verifying);
  const auto start = Clock::now();
  run.monitor.deadline =
      start + runtime::build_limit; // the check may take long: the watchdog must not end it
  if (!run.own) {
    verification = verify(plan.asked.program, plan.graph(), results);
  } else {
    const std::uint64_t most_ns = options.verify ? options.max_wall_time_ns : first.budget_ns;
    auto wrong = run.own->check_by_plain_rounds(results.values, start + std::chrono::nanoseconds(most_ns));
    if (wrong && wrong->code == ErrorCode::wall_time_exceeded) { // nothing is known to be wrong
      first.compared = false;
      first.reason = fmt::format("not checked: plain rounds over all edges took longer than {}",
                                 options.verify ? "--max-wall-time" : "measure-time");
      if (options.verify) {
        run.report.status = RunStatus::deadline;
        run.report.error = std::move(wrong);
      }
      return !options.verify;
    }
    verification->checks.emplace_back("plain_rounds");
    verification->error = std::move(wrong);
    verification->right = !verification->error;
  }
  if (verification->error && (plan.asked.numbers.first != 0 || !plan.asked.numbers.ids.empty())) {
    verification->error->message += " (vertices by position, from 0)";
  }
  first.compared = true;
  first.elapsed_ns = elapsed_ns(start);
  run.report.verify_ns += first.elapsed_ns;
  first.equal = plan.asked.kept->checked = verification->right;
  first.kept = first.equal && keep_file(options.checked, "right by the serial algorithm\n");
  first.reason = first.equal ? "right by " + std::string(reference_of(plan.asked.program))
                             : verification->error->message;
  if (!first.equal && !options.verify) {
    run.report.warnings.push_back(
        {.message = fmt::format("the result of this program's first run here is wrong after {}: {}",
                                plural(results.waves, "wave"), first.reason),
         .fix =
             "this is a bug in tidegate or in the device's compiler: please report it, with the program and this report",
         .pointer = "/algorithm"});
  }
  return judged();
}

// Errors: cannot_write.
Result<void> write_outputs(TraversalRun& run, const TraversalResults& results) {
  const TraversalPlan& plan = run.plan;
  const graphs::FrontierProgram& program = plan.program;
  const bool floats =
      program.algorithm == Algorithm::pagerank || plan.graph().out.weight_type == graphs::WeightType::f32;
  run.monitor.begin_writing();
  for (const NamedFile& file : graphs::files_of(plan.asked.program, plan.asked.folder).outputs) {
    const std::string name = file.pointer->substr(std::string_view("/outputs/").size());
    ElementType type = program.own ? element_type(program.own->value)
                       : floats    ? ElementType::f32
                                   : ElementType::u32;
    auto bytes = std::as_bytes(std::span(results.values));
    std::vector<std::uint64_t> ids;
    if (name == "ids") {
      for (std::uint64_t v = 0; v < plan.shape.vertices; ++v) {
        ids.push_back(plan.asked.numbers.of(v));
      }
      type = ElementType::u64;
      bytes = std::as_bytes(std::span(ids));
    } else if (name == "parents") {
      type = ElementType::u32;
      bytes = std::as_bytes(std::span(results.parents));
    }
    const std::array<std::uint64_t, 1> vertices{plan.shape.vertices};
    TIDEGATE_TRY(Output output, Output::open(file.path, FileKinds::no_named_pipes));
    TIDEGATE_CHECK(output.write(file.path.ends_with(".npy") ? npy_header(type, vertices) : ""));
    TIDEGATE_CHECK(output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    TIDEGATE_CHECK(output.commit());
    run.report.files_written.push_back(runtime::written_file(file.path, name));
  }
  return {};
}

// Opens the device and builds the kernel, unless an earlier traversal of the stream has left it.
Result<void> build(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  const device::DeviceInfo& device = *plan.device;
  KeptGraph& kept = *plan.asked.kept;
  TIDEGATE_TRY(run.session, run.options.open_session(device, run.options.timed && !plan.part
                                                                 ? device::Profiling::always
                                                                 : device::Profiling::as_needed));
  run.monitor.begin(runtime::Activity::building);
  const auto start = Clock::now();
  const bool built_before =
      kept.kernel && kept.source.source == plan.source.source && kept.source.options == plan.source.options;
  if (!built_before) {
    kept.kernel = runtime::build_kernel(*run.session, device, plan.source, 0, run.options.cache_folder);
    kept.source = plan.source;
    kept.checked = false;
    kept.own_checks.reset();
  }
  TIDEGATE_TRY(run.groups, find_groups(*run.session, plan, *kept.kernel, run.options));
  if (!plan.part && run.session->on_host && !built_before) {
    compile_now(*run.session, *kept.kernel, plan.geometry, run.groups);
  }
  run.report.build_ns += elapsed_ns(start);
  run.report.telemetry.compiled_pipeline_cache_hit = built_before || kept.kernel->from_cache;
  run.report.geometry = {.workgroup_size = plan.geometry.group_size, .worker_groups = run.groups.workers};
  run.monitor.count(run.session->calls());
  run.calls_before = run.session->calls()->now();
  return {};
}

// Puts the graph into device memory, or other sources to a graph that is there.
void fill(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  KeptGraph& kept = *plan.asked.kept;
  runtime::Kept* const stream = run.options.kept;
  run.monitor.begin(runtime::Activity::filling);
  const auto start = Clock::now();
  run.report.telemetry.resident_input_cache_hit = kept.resident.has_value();
  if (kept.resident) {
    exchange_sources(*run.session, plan, *kept.resident);
  } else {
    if (stream != nullptr) {
      const std::uint64_t stated = plan.program.device_memory_budget_bytes;
      stream->make_room(plan.memory.bytes, stated != 0 ? stated : plan.memory.budget_bytes / 2);
    }
    kept.resident = make_resident(*run.session, plan);
    kept.bytes = plan.memory.bytes;
    if (!plan.part) {
      change_rows(*run.session, plan, *kept.resident, run.options.cache_folder);
    }
  }
  run.session->finish();
  if (stream != nullptr && !kept.key.empty()) {
    stream->use(plan.asked.kept);
  }
  run.report.queue_publish_ns = elapsed_ns(start);
}

// Prepares the checks of an algorithm that the user brings, if it is one. Errors: of its laws, which are tried once with a source
// and a graph.
Result<void> prepare_checks(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  if (!plan.asked.program.own) {
    return {};
  }
  std::optional<device::Program>& kept = plan.asked.kept->own_checks;
  const bool tried = kept.has_value();
  const device::Program checks =
      tried ? *kept : build_own_checks(*run.session, plan, run.options.cache_folder);
  run.own.emplace(*run.session, plan, *plan.asked.kept->resident, checks);
  if (!tried) {
    TIDEGATE_CHECK(run.own->check_laws());
  }
  kept = checks;
  return {};
}

runtime::DispatchLimits limits_of_run(const TraversalRun& run) {
  const runtime::DispatchLimits limits = limits_of(run.plan, run.options, run.groups);
  run.monitor.deadline = limits.deadline;
  return limits;
}

TraversalOutcome traverse(const TraversalRun& run, const runtime::DispatchLimits& limits) {
  KeptGraph& kept = *run.plan.asked.kept;
  return traverse(*run.session, *kept.kernel, *kept.resident, run.plan.geometry, limits, run.monitor);
}

// Times the traversal as it ran, and launch by launch.
std::optional<runtime::Comparison> compare(const TraversalRun& run) {
  run.monitor.begin(runtime::Activity::comparing);
  const runtime::DispatchLimits limits = limits_of_run(run);
  const auto timed = [&](std::uint32_t arrivals_per_barrier) -> std::optional<std::uint64_t> {
    runtime::DispatchLimits way = limits;
    way.arrivals_per_barrier = arrivals_per_barrier;
    const TraversalOutcome once = traverse(run, way);
    return once.status == RunStatus::done ? std::optional(once.dispatch_ns) : std::nullopt;
  };
  return runtime::compare_ways(
      run.options.compare_rounds, limits.arrivals_per_barrier == 0, [&] { return timed(0); },
      [&] { return timed(limits.arrivals_per_barrier); });
}

// Checks that distances fit 32 bits: on rank 0, which tells the others.
Result<void> check_fit(const TraversalRun& run, const TraversalResults& results) {
  ranks::Ranks* const ranks = run.options.ranks;
  auto fit = ranks != nullptr && ranks->rank() != 0
                 ? Result<void>()
                 : check_distances_fit(run.plan.graph(), results, run.plan.asked.numbers);
  if (ranks != nullptr) {
    std::uint64_t fits = fit ? 1 : 0;
    TIDEGATE_CHECK(ranks->broadcast(std::as_writable_bytes(std::span(&fits, 1))));
    if (fit && fits == 0) {
      return failure(ErrorCode::overflow, "distances exceed 32 bits", "give smaller weights");
    }
  }
  return fit;
}

// Builds, uploads, traverses, verifies, writes, and reports it. On several ranks all do so together, and rank 0 has the results. A
// run that ends without outputs (deadline, interrupt, hang, wrong result) is no error. Throws device::Refused.
Result<void> execute(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  const RunOptions& options = run.options;
  FrontierReport& report = run.report;
  KeptGraph& kept = *plan.asked.kept;
  TIDEGATE_CHECK(build(run));
  fill(run);
  if (!plan.part) {
    TIDEGATE_CHECK(prepare_checks(run));
  }

  // The run itself; its wall time begins here.
  TraversalOutcome outcome;
  if (plan.part) {
    outcome = traverse_on_ranks(*run.session, plan, run.groups.workers, options, run.monitor);
  } else {
    run.monitor.begin(runtime::Activity::running);
    runtime::DispatchLimits limits = limits_of_run(run);
    limits.trace_spans = options.most_spans(run.options.timed);
    limits.clock = plan.clock;
    outcome = traverse(run, limits);
  }
  run.dispatch_calls = outcome.calls;
  report_calls(run);
  report_outcome(plan, outcome, options, report);
  if (outcome.trace) {
    report.timeline = timeline_of(outcome.waves.records, *outcome.trace, plan.clock,
                                  plan.strategy.strategy == device::Strategy::barrier);
    runtime::report_timeline(report, options);
  }
  if (plan.part) {
    TIDEGATE_TRY(report.ranks, runtime::report_ranks(outcome, rank_report(plan), *options.ranks));
  }
  if (outcome.status != RunStatus::done) {
    return {};
  }

  run.monitor.begin(runtime::Activity::reading);
  const auto start = Clock::now();
  TraversalResults results = plan.part ? gather_results(*run.session, plan, *options.ranks)
                                       : read_back(*run.session, *kept.resident, plan.shape);
  results.rank_change = outcome.rank_change;
  results.waves = outcome.waves.sums.waves;
  report.read_back_ns = elapsed_ns(start);
  report.telemetry.readback_buffers = plan.shape.parents ? 2 : 1;
  if (plan.program.algorithm == Algorithm::sssp) {
    TIDEGATE_CHECK(check_fit(run, results));
  }
  if (plan.part && options.ranks->rank() != 0) {
    return {};
  }
  if (plan.part && plan.asked.program.own) { // its checks take the whole graph
    RunOptions alone = options;
    alone.ranks = nullptr;
    alone.force_topology = policy::Topology::memory_constrained;
    kept.resident.reset();
    TIDEGATE_TRY(const TraversalPlan whole,
                 plan_traversal(plan.asked, plan.program, plan.own, plan.device, alone));
    kept.resident = make_resident(*run.session, whole);
    run.session->write(kept.resident->part(Part::values), 0, std::as_bytes(std::span(results.values)));
    TIDEGATE_CHECK(prepare_checks(run));
  }
  if (!check_result(run, results)) {
    return {};
  }
  if (options.compare_rounds != 0 && !plan.part) {
    report.comparison = compare(run);
  }
  return write_outputs(run, results);
}

// Runs the plan. `start`: of the command.
Result<FrontierReport> run_planned(const TraversalPlan& plan, FrontierReport report, Clock::time_point start,
                                   const RunOptions& options, runtime::Monitor& monitor) try {
  if (!options.emit_kernel.empty()) {
    TIDEGATE_TRY(report.files_written.emplace_back(),
                 runtime::write_file(options.emit_kernel,
                                     fmt::format("// {}\n{}", plan.source.options, plan.source.source),
                                     "generated kernel"));
  }
  if (options.dry_run) {
    report.status = RunStatus::planned;
    report.wall_time_ns = elapsed_ns(start);
    return report;
  }

  // Runs on the device; another thread reports a kernel that does not come back.
  monitor.counted = "wave";
  monitor.most_iterations = runtime::Monitor::unlimited;
  monitor.deadline = Clock::now() + runtime::build_limit;
  const runtime::Watchdog watchdog(monitor, runtime::grace, [&, known = report](bool interrupted) mutable {
    runtime::report_silence(known, monitor, interrupted, options, false);
    known.items_processed = known.published_items = monitor.items;
    known.wall_time_ns = elapsed_ns(start);
    if (plan.part) {
      known.ranks = *runtime::report_ranks({.status = known.status}, rank_report(plan), *options.ranks);
    }
    options.abandon(known);
  });
  TraversalRun run{.plan = plan, .options = options, .monitor = monitor, .report = report};
  TIDEGATE_CHECK(execute(run));
  report.wall_time_ns = elapsed_ns(start);
  return report;
} catch (device::Refused& refused) {
  return tl::unexpected(plan.own != nullptr ? at_own_source(*plan.own, std::move(refused.error))
                                            : std::move(refused.error));
}

} // namespace

Result<FrontierReport> run_traversal(const graphs::FrontierProgram& program, const std::string& folder,
                                     const device::DeviceInfo* device, const RunOptions& options,
                                     runtime::Monitor& monitor) {
  const auto start = Clock::now();
  const InterruptWatch interrupts;

  // Load and check, without touching the device.
  TIDEGATE_TRY(std::optional<OwnCode> own, check_asked(program, folder, device, options));
  if (!options.dry_run) {
    for (const NamedFile& file : graphs::files_of(program, folder).outputs) {
      if (auto probe = Output::open(file.path, FileKinds::no_named_pipes); !probe) { // before the run
        probe.error().pointer = *file.pointer;
        return tl::unexpected(std::move(probe.error()));
      }
    }
  }
  monitor.begin(runtime::Activity::loading);
  TIDEGATE_TRY(AskedTraversal asked, load_asked(program, folder, std::move(own), options));
  asked.load_ns = elapsed_ns(start);
  const auto run = [&](const graphs::FrontierProgram& given, const OwnCode* code) -> Result<FrontierReport> {
    const auto planned_from = Clock::now();
    TIDEGATE_TRY(const TraversalPlan plan, plan_traversal(asked, given, code, device, options));
    FrontierReport report = report_of_plan(plan);
    report.queue_plan_ns = elapsed_ns(planned_from);
    return run_planned(plan, std::move(report), start, options, monitor);
  };
  auto report = run(asked.program, asked.own ? &*asked.own : nullptr);
  const bool too_far =
      program.algorithm == Algorithm::sssp && !report && report.error().code == ErrorCode::overflow;
  if (!too_far || asked.kept->loaded.graph.out.weight_type != graphs::WeightType::u32 ||
      !device->int64_atomics) {
    return report;
  }
  // Some distance needs more than 32 bits. A later request begins with 32 again.
  asked.kept->forget_device();
  const graphs::FrontierProgram wide = with_wide_distances(asked.program);
  const OwnCode code = wide_distances(wide);
  report = run(wide, &code);
  asked.kept->forget_device();
  return report;
}

} // namespace tidegate::traversal
