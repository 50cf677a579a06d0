// The passes of a traversal on its device, and on the devices of several ranks.
#include "engine/traversal/execute.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/npy.hpp"
#include "engine/proof.hpp"
#include "engine/report_head.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

namespace tidegate::traversal {
namespace {

using engine::RunStatus;
using graphs::Algorithm;
using Clock = std::chrono::steady_clock;

ElementType output_type(const TraversalPlan& plan) {
  const graphs::FrontierProgram& program = plan.program;
  const bool floats = program.algorithm == Algorithm::pagerank ||
                      graphs::weight_type(plan.graph().out) == graphs::WeightType::f32;
  return program.own ? element_type(program.own->value) : floats ? ElementType::f32 : ElementType::u32;
}

// Writes all outputs, or with `ranks`, which call it together, those of each rank's own vertices: `results` begin with the
// vertex `first`. Errors: cannot_write; as Ranks::wait().
Result<void> write_outputs(const TraversalPlan& plan, const TraversalResults& results,
                           std::vector<engine::WrittenFile>& written, ranks::Ranks* ranks = nullptr,
                           std::uint32_t first = 0) {
  for (const NamedFile& file : graphs::files_of(plan.asked.program, plan.asked.folder).outputs) {
    const std::string name = file.pointer->substr(std::string_view("/outputs/").size());
    std::vector<std::uint64_t> ids;
    const std::uint32_t end = ranks == nullptr ? plan.shape.vertices : plan.part->end();
    for (std::uint64_t v = first; name == "ids" && v < end; ++v) {
      ids.push_back(plan.asked.numbers.of(v));
    }
    const auto bytes = name == "ids"       ? std::as_bytes(std::span(ids))
                       : name == "parents" ? std::as_bytes(std::span(results.parents))
                                           : std::as_bytes(std::span(results.values));
    const ElementType type = name == "ids"       ? ElementType::u64
                             : name == "parents" ? ElementType::u32
                                                 : output_type(plan);
    const std::uint64_t size = element_bytes(type);
    const std::array<std::uint64_t, 1> vertices{plan.shape.vertices};
    const std::string head = file.path.ends_with(".npy") ? npy_header(type, vertices) : "";
    if (ranks != nullptr) {
      ranks::FileInParts parts{.path = file.path,
                               .head = head,
                               .begin = {},
                               .read = [&](std::uint64_t at, std::span<std::byte> block) {
                                 std::ranges::copy(bytes.subspan(at - first * size, block.size()),
                                                   block.begin());
                               }};
      for (const std::uint32_t vertex : plan.part->cut) {
        parts.begin.push_back(vertex * size);
      }
      TIDEGATE_CHECK(ranks::write_in_parts(parts, *ranks));
    } else {
      TIDEGATE_TRY(Output output, Output::open(file.path, FileKinds::no_named_pipes));
      TIDEGATE_CHECK(output.write(head));
      TIDEGATE_CHECK(output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      TIDEGATE_CHECK(output.commit());
    }
    if (ranks == nullptr || ranks->rank() == 0) {
      written.push_back(engine::written_file(file.path, name));
    }
  }
  return {};
}

struct BuiltTraversal {
  std::shared_ptr<device::Session> session;
  engine::Residency groups;
  std::optional<engine::BuiltKernel> row_change; // of rows that are not on the device yet
  std::uint64_t build_ns = 0;
  bool from_cache = false;
};

// Opens the device and builds the kernel, unless an earlier traversal of the stream has left it.
Result<BuiltTraversal> build(const TraversalPlan& plan, const engine::RunOptions& options,
                             engine::Monitor& monitor) {
  const device::DeviceInfo& device = *plan.asked.device;
  KeptGraph& kept = *plan.asked.kept;
  BuiltTraversal built;
  TIDEGATE_TRY(built.session, options.open_session(device, options.compile.trace && !plan.part
                                                               ? device::Profiling::always
                                                               : device::Profiling::as_needed));
  const device::Session& session = *built.session;
  monitor.begin(engine::Activity::building);
  const auto start = Clock::now();
  const bool built_before =
      kept.kernel && kept.source.source == plan.source.source && kept.source.options == plan.source.options;
  if (!built_before) {
    kept.kernel = engine::build_kernel(session, device, plan.source, 0, options.cache_folder);
    kept.source = plan.source;
    kept.checked = false;
    kept.own_checks.reset();
  }
  TIDEGATE_TRY(built.groups,
               find_groups(session, device, *kept.kernel, plan.facts(), plan.strategy.strategy, options));
  if (!plan.part && session.on_host && !built_before) {
    compile_now(session, *kept.kernel, plan.geometry, built.groups);
  }
  if (!plan.part && !kept.resident) {
    built.row_change =
        build_row_change(session, device, plan.shape, plan.memory, plan.geometry, options.cache_folder);
  }
  built.build_ns = elapsed_ns(start);
  built.from_cache = built_before || kept.kernel->from_cache;
  return built;
}

// Puts the graph into device memory, or other sources to a graph that is there.
void fill(const TraversalPlan& plan, BuiltTraversal& built, const engine::RunOptions& options) {
  const device::Session& session = *built.session;
  KeptGraph& kept = *plan.asked.kept;
  if (kept.resident) {
    exchange_sources(session, plan.facts(), *kept.resident);
  } else {
    if (options.kept != nullptr) {
      const std::uint64_t stated = plan.program.device_memory_budget_bytes;
      options.kept->make_room(plan.memory.bytes, stated != 0 ? stated : plan.memory.budget_bytes / 2);
    }
    kept.resident = make_resident(session, plan.facts(), kept.initial);
    kept.bytes = plan.memory.bytes;
  }
  if (built.row_change) {
    change_rows(session, *built.row_change, plan.graph(), plan.shape, *kept.resident);
  }
  device::require(session.finish(), "filling the buffers");
  if (options.kept != nullptr && !kept.key.empty()) {
    options.kept->use(plan.asked.kept);
  }
}

// Prepares the checks of an algorithm that the user brings, if it is one. Errors: of its laws, which are tried once with a source
// and a graph.
Result<std::optional<OwnChecks>> own_checks(const TraversalPlan& plan, const device::Session& session,
                                            const ResidentGraph& resident,
                                            const engine::RunOptions& options) {
  std::optional<OwnChecks> own;
  if (!plan.asked.program.own) {
    return own;
  }
  std::optional<device::Program>& kept = plan.asked.kept->own_checks;
  const device::Program checks =
      kept ? *kept
           : build_own_checks(session, *plan.asked.device, *plan.own, plan.shape, options.cache_folder);
  own.emplace(session, plan.program, *plan.own, resident, plan.shape, checks);
  if (!kept) {
    TIDEGATE_CHECK(own->check_laws());
  }
  kept = checks;
  return own;
}

// Times the traversal as it ran, and launch by launch.
std::optional<engine::Comparison> compare(const TraversalPlan& plan, const BuiltTraversal& built,
                                          const engine::RunOptions& options, engine::Monitor& monitor) {
  monitor.begin(engine::Activity::comparing);
  KeptGraph& kept = *plan.asked.kept;
  const engine::DispatchLimits limits =
      limits_of(*plan.asked.device, options, built.groups, plan.strategy.strategy);
  engine::DispatchLimits launches = limits;
  launches.arrivals_per_barrier = 0;
  monitor.deadline = limits.deadline;
  const auto timed = [&](const engine::DispatchLimits& way) -> std::optional<std::uint64_t> {
    const TraversalOutcome once =
        traverse(*built.session, *kept.kernel, *kept.resident, plan.geometry, way, monitor);
    return once.status == RunStatus::done ? std::optional(once.dispatch_ns) : std::nullopt;
  };
  return engine::compare_ways(
      options.compare_rounds, limits.arrivals_per_barrier == 0, [&] { return timed(launches); },
      [&] { return timed(limits); });
}

// Rank 0, which has the results, checks for all whether distances fit 32 bits. Errors: overflow; of ranks.
Result<void> check_fit_of_ranks(const TraversalPlan& plan, const TraversalResults& results,
                                ranks::Ranks& ranks) {
  const auto fit =
      ranks.rank() == 0 ? check_distances_fit(plan.graph(), results, plan.asked.numbers) : Result<void>();
  std::uint64_t fits = fit ? 1 : 0;
  TIDEGATE_CHECK(ranks.broadcast(std::as_writable_bytes(std::span(&fits, 1))));
  TIDEGATE_CHECK(fit);
  return fits != 0 ? Result<void>()
                   : failure(ErrorCode::overflow, "distances exceed 32 bits", "give smaller weights");
}

// Reports the check of a result. Returns true if its outputs may be written.
bool report_check(CheckedResult checked, FrontierReport& report) {
  report.answer = std::move(checked.answer);
  report.verification = std::move(checked.verification);
  report.verify_ns = checked.verify_ns;
  report.first_run = std::move(checked.first_run);
  if (checked.warning) {
    report.warnings.push_back(std::move(*checked.warning));
  }
  if (!checked.error) {
    return true;
  }
  report.status = RunStatus::outputs_differ;
  report.error = std::move(checked.error);
  return false;
}

Result<void> run_alone(const TraversalPlan& plan, BuiltTraversal& built, const engine::RunOptions& options,
                       engine::Monitor& monitor, FrontierReport& report) {
  const device::Session& session = *built.session;
  KeptGraph& kept = *plan.asked.kept;
  const device::CallCounts calls_before = session.calls()->now();
  monitor.begin(engine::Activity::filling);
  auto start = Clock::now();
  report.telemetry.resident_input_cache_hit = kept.resident.has_value();
  fill(plan, built, options);
  report.queue_publish_ns = elapsed_ns(start);
  TIDEGATE_TRY(std::optional<OwnChecks> own, own_checks(plan, session, *kept.resident, options));

  // The run itself; its wall time begins here.
  monitor.begin(engine::Activity::running);
  engine::DispatchLimits limits =
      limits_of(*plan.asked.device, options, built.groups, plan.strategy.strategy);
  limits.trace_spans = options.most_spans();
  limits.clock = plan.clock;
  monitor.deadline = limits.deadline;
  const TraversalOutcome outcome =
      traverse(session, *kept.kernel, *kept.resident, plan.geometry, limits, monitor);
  engine::report_calls(report.telemetry, session.calls()->since(calls_before), outcome.calls);
  report_outcome(plan, outcome, options, report);
  if (outcome.trace) {
    report.timeline = timeline_of(outcome.waves.records, *outcome.trace, limits.clock,
                                  plan.strategy.strategy == engine::Strategy::barrier);
    engine::report_timeline(report, options);
  }
  if (outcome.status != RunStatus::done) {
    return {};
  }

  monitor.begin(engine::Activity::reading);
  start = Clock::now();
  TraversalResults results = read_back(session, *kept.resident, plan.shape);
  results.rank_change = outcome.rank_change;
  results.waves = outcome.waves.sums.waves;
  report.read_back_ns = elapsed_ns(start);
  report.telemetry.readback_buffers = plan.shape.parents ? 2 : 1;
  CheckedResult fix_point = own ? check_fix_point(*own, results.values) : CheckedResult();
  engine::report_calls(report.telemetry, session.calls()->since(calls_before), outcome.calls);
  if (plan.program.algorithm == Algorithm::sssp) {
    TIDEGATE_CHECK(check_distances_fit(plan.graph(), results, plan.asked.numbers));
  }
  if (!report_check(check_result(plan, results, own, std::move(fix_point), options, monitor), report)) {
    return {};
  }
  if (options.compare_rounds != 0) {
    report.comparison = compare(plan, built, options, monitor);
  }
  monitor.begin_writing();
  return write_outputs(plan, results, report.files_written);
}

Result<void> run_together(const TraversalPlan& plan, const BuiltTraversal& built,
                          const engine::RunOptions& options, engine::Monitor& monitor,
                          FrontierReport& report) {
  const device::Session& session = *built.session;
  const Algorithm algorithm = plan.program.algorithm;
  KeptGraph& kept = *plan.asked.kept;
  ranks::Ranks& ranks = *options.ranks;
  const bool own_algorithm = plan.asked.program.own.has_value();
  FrontierMemory whole; // rank 0 checks the program's own algorithm in it
  if (own_algorithm && ranks.rank() == 0) {
    TIDEGATE_TRY(whole,
                 plan_memory(plan.shape, plan.program.policy.launch, plan.program.device_memory_budget_bytes,
                             plan.asked.device->global_memory_bytes, policy::Topology::memory_constrained));
  }

  // The ranks find out together what decides the run.
  const device::CallCounts calls_before = session.calls()->now();
  const bool sums = algorithm == Algorithm::sssp && plan.shape.weights;
  const ChoicePolicy choices = rank_policy(choice_policy(plan.facts()), algorithm);
  engine::FirstRun first = plan_first_check(plan, options, 0);
  std::uint64_t checks = own_algorithm || options.verify || (first.compared && !first.kept) ? 1 : 0;
  // Rank 0 decides, as hosts' cache folders may differ.
  TIDEGATE_CHECK(ranks.broadcast(std::as_writable_bytes(std::span(&checks, 1))));
  const bool in_parts = checks == 0 && algorithm != Algorithm::cc && !sums; // rank 0 checks the fit of sums

  // They fill their memory, run and read back.
  RankTraversalRun run =
      run_on_ranks(session, plan, {.policy = choices, .groups = built.groups.workers, .in_parts = in_parts},
                   options, monitor);
  const TraversalOutcome& outcome = run.outcome;
  TraversalResults& results = run.results;
  report.queue_publish_ns = run.upload_ns;
  report.read_back_ns = run.read_back_ns;
  engine::report_calls(report.telemetry, session.calls()->since(calls_before), outcome.calls);
  report_outcome(plan, outcome, options, report);
  TIDEGATE_TRY(report.ranks, engine::report_ranks(outcome.status, run.traffic,
                                                  rank_report(plan, outcome.dispatch_ns), ranks));
  if (outcome.status != RunStatus::done) {
    return {};
  }
  report.telemetry.readback_buffers = plan.shape.parents ? 2 : 1;
  if (sums) {
    TIDEGATE_CHECK(check_fit_of_ranks(plan, results, ranks));
  }

  // Each rank writes its results if none is checked; otherwise rank 0 checks and writes all.
  if (in_parts) {
    const std::uint32_t own_first = plan.part->first();
    TIDEGATE_TRY(report.answer, answer_of_parts(answer_of(plan, results, own_first), ranks));
    report.first_run = std::move(first);
    monitor.begin_writing();
    return write_outputs(plan, results, report.files_written, &ranks, own_first);
  }
  if (ranks.rank() != 0) {
    return {};
  }
  ResidentGraph resident;
  if (own_algorithm) {
    const TraversalFacts facts{plan.program, plan.graph(), whole, plan.geometry, plan.asked.policy};
    resident = make_resident(session, facts, kept.initial);
    engine::upload(session, resident.part(Part::values), 0, std::as_bytes(std::span(results.values)));
  }
  TIDEGATE_TRY(std::optional<OwnChecks> own, own_checks(plan, session, resident, options));
  CheckedResult fix_point = own ? check_fix_point(*own, results.values) : CheckedResult();
  engine::report_calls(report.telemetry, session.calls()->since(calls_before), outcome.calls);
  if (!report_check(check_result(plan, results, own, std::move(fix_point), options, monitor), report)) {
    return {};
  }
  monitor.begin_writing();
  return write_outputs(plan, results, report.files_written);
}

} // namespace

Result<void> execute(const TraversalPlan& plan, const engine::RunOptions& options, engine::Monitor& monitor,
                     FrontierReport& report) {
  TIDEGATE_TRY(BuiltTraversal built, build(plan, options, monitor));
  report.build_ns += built.build_ns;
  report.telemetry.compiled_pipeline_cache_hit = built.from_cache;
  report.geometry = {.workgroup_size = plan.geometry.group_size, .worker_groups = built.groups.workers};
  monitor.count(built.session->calls());
  return plan.part ? run_together(plan, built, options, monitor, report)
                   : run_alone(plan, built, options, monitor, report);
}

} // namespace tidegate::traversal
