// The passes of a traversal on its device, and on the devices of several ranks.
#include "engine/traversal/execute.hpp"

#include "core/duration.hpp"
#include "core/files.hpp"
#include "core/npy.hpp"
#include "engine/proof.hpp"
#include "engine/report_head.hpp"

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

// Writes all outputs, or with `ranks`, which call it together, those of each rank's own vertices, with which
// `results` begin. Errors: cannot_write; as Ranks::wait().
Result<void> write_outputs(TraversalRun& run, const TraversalResults& results,
                           ranks::Ranks* ranks = nullptr) {
  const TraversalPlan& plan = run.plan;
  const std::uint32_t first = ranks == nullptr ? 0 : plan.part->first();
  run.monitor.begin_writing();
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
      ranks::BytesInParts parts{.begin = {}, .read = [&](std::uint64_t at, std::span<std::byte> block) {
                                  std::ranges::copy(bytes.subspan(at - first * size, block.size()),
                                                    block.begin());
                                }};
      for (const std::uint32_t vertex : plan.part->cut) {
        parts.begin.push_back(vertex * size);
      }
      TIDEGATE_CHECK(ranks::write_in_parts(file.path, head, parts, *ranks));
    } else {
      TIDEGATE_TRY(Output output, Output::open(file.path, FileKinds::no_named_pipes));
      TIDEGATE_CHECK(output.write(head));
      TIDEGATE_CHECK(output.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
      TIDEGATE_CHECK(output.commit());
    }
    if (ranks == nullptr || ranks->rank() == 0) {
      run.report.files_written.push_back(engine::written_file(file.path, name));
    }
  }
  return {};
}

// Opens the device and builds the kernel, unless an earlier traversal of the stream has left it.
Result<void> build(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  const device::DeviceInfo& device = *plan.asked.device;
  KeptGraph& kept = *plan.asked.kept;
  TIDEGATE_TRY(run.session, run.options.open_session(device, run.options.compile.trace && !plan.part
                                                                 ? device::Profiling::always
                                                                 : device::Profiling::as_needed));
  run.monitor.begin(engine::Activity::building);
  const auto start = Clock::now();
  const bool built_before =
      kept.kernel && kept.source.source == plan.source.source && kept.source.options == plan.source.options;
  if (!built_before) {
    kept.kernel = engine::build_kernel(*run.session, device, plan.source, 0, run.options.cache_folder);
    kept.source = plan.source;
    kept.checked = false;
    kept.own_checks.reset();
  }
  TIDEGATE_TRY(run.groups, find_groups(*run.session, device, *kept.kernel, plan.facts(),
                                       plan.strategy.strategy, run.options));
  if (!plan.part && run.session->on_host && !built_before) {
    compile_now(*run.session, *kept.kernel, plan.geometry, run.groups);
  }
  if (!plan.part && !kept.resident) {
    run.row_change = build_row_change(*run.session, device, plan.shape, plan.memory, plan.geometry,
                                      run.options.cache_folder);
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
  engine::Kept* const stream = run.options.kept;
  run.monitor.begin(engine::Activity::filling);
  const auto start = Clock::now();
  run.report.telemetry.resident_input_cache_hit = kept.resident.has_value();
  if (kept.resident) {
    exchange_sources(*run.session, plan.facts(), *kept.resident);
  } else {
    if (stream != nullptr) {
      const std::uint64_t stated = plan.program.device_memory_budget_bytes;
      stream->make_room(plan.memory.bytes, stated != 0 ? stated : plan.memory.budget_bytes / 2);
    }
    kept.resident = make_resident(*run.session, plan.facts(), kept.initial);
    kept.bytes = plan.memory.bytes;
  }
  if (run.row_change) {
    change_rows(*run.session, *run.row_change, plan.graph(), plan.shape, *kept.resident);
  }
  device::require(run.session->finish(), "filling the buffers");
  if (stream != nullptr && !kept.key.empty()) {
    stream->use(plan.asked.kept);
  }
  run.report.queue_publish_ns = elapsed_ns(start);
}

// Prepares the checks of an algorithm that the user brings, if it is one. Errors: of its laws, which are tried once with a source
// and a graph.
Result<std::optional<OwnChecks>> own_checks(const TraversalRun& run, const ResidentGraph& resident) {
  const TraversalPlan& plan = run.plan;
  std::optional<OwnChecks> own;
  if (!plan.asked.program.own) {
    return own;
  }
  std::optional<device::Program>& kept = plan.asked.kept->own_checks;
  const bool tried = kept.has_value();
  const device::Program checks = tried ? *kept
                                       : build_own_checks(*run.session, *plan.asked.device, *plan.own,
                                                          plan.shape, run.options.cache_folder);
  own.emplace(*run.session, plan.program, *plan.own, resident, plan.shape, checks);
  if (!tried) {
    TIDEGATE_CHECK(own->check_laws());
  }
  kept = checks;
  return own;
}

engine::DispatchLimits limits_of_run(const TraversalRun& run) {
  const engine::DispatchLimits limits =
      limits_of(*run.plan.asked.device, run.options, run.groups, run.plan.strategy.strategy);
  run.monitor.deadline = limits.deadline;
  return limits;
}

TraversalOutcome traverse(const TraversalRun& run, const engine::DispatchLimits& limits) {
  KeptGraph& kept = *run.plan.asked.kept;
  return traverse(*run.session, *kept.kernel, *kept.resident, run.plan.geometry, limits, run.monitor);
}

// Times the traversal as it ran, and launch by launch.
std::optional<engine::Comparison> compare(const TraversalRun& run) {
  run.monitor.begin(engine::Activity::comparing);
  const engine::DispatchLimits limits = limits_of_run(run);
  engine::DispatchLimits launches = limits;
  launches.arrivals_per_barrier = 0;
  const auto timed = [&](const engine::DispatchLimits& way) -> std::optional<std::uint64_t> {
    const TraversalOutcome once = traverse(run, way);
    return once.status == RunStatus::done ? std::optional(once.dispatch_ns) : std::nullopt;
  };
  return engine::compare_ways(
      run.options.compare_rounds, limits.arrivals_per_barrier == 0, [&] { return timed(launches); },
      [&] { return timed(limits); });
}

void report_calls(const TraversalRun& run, const TraversalOutcome& outcome) {
  engine::report_calls(run.report.telemetry, run.session->calls()->since(run.calls_before), outcome.calls);
}

// Checks the results, and writes the outputs if they are right.
Result<void> finish(TraversalRun& run, std::optional<OwnChecks>& own, const TraversalOutcome& outcome,
                    const TraversalResults& results) {
  if (own) {
    check_fix_point(run, *own, results.values);
  }
  report_calls(run, outcome);
  if (run.plan.program.algorithm == Algorithm::sssp && !run.plan.part) { // ranks have checked it together
    TIDEGATE_CHECK(check_distances_fit(run.plan.graph(), results, run.plan.asked.numbers));
  }
  if (!check_result(run, results, own)) {
    return {};
  }
  if (run.options.compare_rounds != 0 && !run.plan.part) {
    run.report.comparison = compare(run);
  }
  return write_outputs(run, results);
}

Result<void> run_alone(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  FrontierReport& report = run.report;
  fill(run);
  const ResidentGraph& resident = *plan.asked.kept->resident;
  TIDEGATE_TRY(std::optional<OwnChecks> own, own_checks(run, resident));

  // The run itself; its wall time begins here.
  run.monitor.begin(engine::Activity::running);
  engine::DispatchLimits limits = limits_of_run(run);
  limits.trace_spans = run.options.most_spans();
  limits.clock = plan.clock;
  const TraversalOutcome outcome = traverse(run, limits);
  report_calls(run, outcome);
  report_outcome(plan, outcome, run.options, report);
  if (outcome.trace) {
    report.timeline = timeline_of(outcome.waves.records, *outcome.trace, limits.clock,
                                  plan.strategy.strategy == engine::Strategy::barrier);
    engine::report_timeline(report, run.options);
  }
  if (outcome.status != RunStatus::done) {
    return {};
  }

  run.monitor.begin(engine::Activity::reading);
  const auto start = Clock::now();
  TraversalResults results = read_back(*run.session, resident, plan.shape);
  results.rank_change = outcome.rank_change;
  results.waves = outcome.waves.sums.waves;
  report.read_back_ns = elapsed_ns(start);
  report.telemetry.readback_buffers = plan.shape.parents ? 2 : 1;
  return finish(run, own, outcome, results);
}

Result<void> run_together(TraversalRun& run) {
  const TraversalPlan& plan = run.plan;
  FrontierReport& report = run.report;
  const Algorithm algorithm = plan.program.algorithm;
  ranks::Ranks& ranks = *run.options.ranks;
  const bool own_algorithm = plan.asked.program.own.has_value();
  FrontierMemory whole; // rank 0 checks the program's own algorithm in it
  if (own_algorithm && ranks.rank() == 0) {
    TIDEGATE_TRY(whole,
                 plan_memory(plan.shape, plan.program.policy.launch, plan.program.device_memory_budget_bytes,
                             plan.asked.device->global_memory_bytes, policy::Topology::memory_constrained));
  }
  // Rank 0 decides on checks for all, and whether distances fit 32 bits, as hosts' cache folders may differ and it has the results.
  const auto of_rank_0 = [&ranks](bool says) {
    std::uint64_t word = says ? 1 : 0;
    return ranks.broadcast(std::as_writable_bytes(std::span(&word, 1))).map([&word] { return word != 0; });
  };
  const bool sums = algorithm == Algorithm::sssp && plan.shape.weights;
  engine::FirstRun first = plan_first_check(plan, run.options, 0);
  TIDEGATE_TRY(const bool checks,
               of_rank_0(own_algorithm || run.options.verify || (first.compared && !first.kept)));
  const bool in_parts = !checks && algorithm != Algorithm::cc && !sums; // rank 0 checks the fit of sums

  // They fill their memory, run and read back.
  RankTraversalRun ran = run_on_ranks(*run.session, plan,
                                      {.policy = rank_policy(choice_policy(plan.facts()), algorithm),
                                       .groups = run.groups.workers,
                                       .in_parts = in_parts},
                                      run.options, run.monitor);
  report.queue_publish_ns = ran.upload_ns;
  report.read_back_ns = ran.read_back_ns;
  report_calls(run, ran.outcome);
  report_outcome(plan, ran.outcome, run.options, report);
  TIDEGATE_TRY(report.ranks, engine::report_ranks(ran.outcome.status, ran.traffic,
                                                  rank_report(plan, ran.outcome.dispatch_ns), ranks));
  if (ran.outcome.status != RunStatus::done) {
    return {};
  }
  report.telemetry.readback_buffers = plan.shape.parents ? 2 : 1;
  if (sums) {
    const auto fit = ranks.rank() == 0 ? check_distances_fit(plan.graph(), ran.results, plan.asked.numbers)
                                       : Result<void>();
    TIDEGATE_TRY(const bool fits, of_rank_0(fit.has_value()));
    TIDEGATE_CHECK(fit);
    if (!fits) {
      return failure(ErrorCode::overflow, "distances exceed 32 bits", "give smaller weights");
    }
  }

  // Each rank writes its results if none is checked; otherwise rank 0 checks and writes all.
  if (in_parts) {
    TIDEGATE_TRY(report.answer, answer_of_parts(answer_of(plan, ran.results, plan.part->first()), ranks));
    report.first_run = std::move(first);
    return write_outputs(run, ran.results, &ranks);
  }
  if (ranks.rank() != 0) {
    return {};
  }
  ResidentGraph resident;
  if (own_algorithm) {
    const TraversalFacts facts{plan.program, plan.graph(), whole, plan.geometry, plan.asked.policy};
    resident = make_resident(*run.session, facts, plan.asked.kept->initial);
    engine::upload(*run.session, resident.part(Part::values), 0,
                   std::as_bytes(std::span(ran.results.values)));
  }
  TIDEGATE_TRY(std::optional<OwnChecks> own, own_checks(run, resident));
  return finish(run, own, ran.outcome, ran.results);
}

} // namespace

Result<void> execute(const TraversalPlan& plan, const engine::RunOptions& options, engine::Monitor& monitor,
                     FrontierReport& report) {
  TraversalRun run{.plan = plan, .options = options, .monitor = monitor, .report = report};
  TIDEGATE_CHECK(build(run));
  return plan.part ? run_together(run) : run_alone(run);
}

} // namespace tidegate::traversal
