#include "engine/report.hpp"

#include "core/interrupt.hpp"

namespace tidegate::engine {

namespace {

std::string until_not_reached(const RunReport& report) {
  return fmt::format("until was not reached after {}: {} is {}, waiting for {}",
                     plural(report.iterations, "iteration"), in_quotes(report.until->buffer),
                     report.until->value, report.until->waiting_for);
}

// Describes the remaining work and why it was not completed.
std::string what_is_left(const RunReport& report) {
  if (report.until && !report.until->reached) {
    return until_not_reached(report);
  }
  const std::uint64_t all = report.items_remaining + report.items_processed;
  return fmt::format("{} of {} {} left, after {}", report.items_remaining, plural(all, "item"),
                     report.items_remaining == 1 ? "is" : "are", plural(report.iterations, "iteration"));
}

// Words the end of a wave program.
Ending ending_of(const RunReport& report) {
  Ending ending{.left = what_is_left(report),
                .fix = report.until && !report.until->reached
                           ? "look at what makes the value, give \"repeat\" a bound, or --max-wall-time more"
                           : "give --max-wall-time more, or the program less to do",
                .where = {}};
  if (!report.stuck_groups.empty()) {
    const StuckGroup& stuck = report.stuck_groups.front();
    ending.where = fmt::format("in front of stage {} ({}), tile {}, iteration {}", stuck.stage,
                               fmt::join(stuck.waves, ", "), stuck.tile, stuck.iteration);
  }
  return ending;
}

Error overflow_error(const HitsReport& hits) {
  const std::uint64_t needed = *hits.needed_capacity;
  const bool fits = needed <= most_hits;
  return {.code = ErrorCode::hits_overflow,
          .message = fmt::format("the list {} holds {} of {}", in_quotes(hits.list), hits.capacity,
                                 plural(*hits.hits, "hit")),
          .fix =
              fits ? fmt::format(R"(give it "capacity": {}, or "on_overflow": "grow" or "truncate")", needed)
                   : fmt::format(R"(a list holds {} at most: append less, or say "on_overflow": "truncate")",
                                 most_hits),
          .pointer = "/hits/" + pointer_token(hits.list)};
}

std::string difference_text(const OutputParity& parity, std::string_view plain_launches) {
  const Difference& difference = *parity.first_difference;
  return fmt::format("element {} of {} is {}, {} make it {}; {} in all", difference.element,
                     in_quotes(difference.buffer), difference.found, plain_launches, difference.expected,
                     plural(parity.differing_elements, "element"));
}

Error difference_error(const OutputParity& parity, const RunOptions& options) {
  return {.code = ErrorCode::outputs_differ,
          .message = fmt::format(
              "{}{}{}", parity.items_reversed ? "with the items of queues in reverse " : "",
              difference_text(parity, "plain launches"),
              parity.largest_difference_ulp ? fmt::format(", by at most {} in the last place",
                                                          plural(*parity.largest_difference_ulp, "unit"))
                                            : ""),
          .fix = difference_fix(parity, options.compile.fp_contract_off)};
}

// The first output that is not what the user expects.
Error expectation_error(const std::vector<ExpectedReport>& expected) {
  const ExpectedReport& of = *std::ranges::find(expected, false, &ExpectedReport::equal);
  return {.code = ErrorCode::outputs_differ,
          .message =
              fmt::format("element {} of {} is {}, {} has {}; {} of {} are outside rtol {}, atol {}",
                          of.worst->element, in_quotes(of.buffer), of.worst->found, printable(of.file),
                          of.worst->expected, of.outside, plural(of.elements, "element"), of.rtol, of.atol),
          .fix =
              "look at the kernels, or state a larger rtol or atol; without expect the outputs are written",
          .pointer = "/buffers/" + pointer_token(of.buffer) + "/expect"};
}

// Returns the error of a difference that --stress found.
Error stress_error(const StressFailure& failure) {
  Error error{.code = ErrorCode::outputs_differ, .message = {}, .fix = {}};
  if (failure.difference) {
    error.message =
        fmt::format("under stress ({}) {}; ", failure.variation,
                    difference_text(*failure.difference, "plain launches in the program's order"));
  } else {
    error.message = fmt::format("under stress ({}) the run ended without outputs: {}; ", failure.variation,
                                run_status_names[static_cast<std::size_t>(failure.status)]);
  }
  const std::string repeat =
      fmt::format("; --stress 1 --set tuning.stress-seed={} repeats this run", failure.seed);
  if (failure.order_decides) {
    error.message +=
        fmt::format("the order of {} decides, and nothing states it", fmt::join(failure.waves, " and "));
    error.fix =
        "list a dependency between these two waves, or leave \"dependencies\" out so that they are derived" +
        repeat;
  } else {
    error.message += failure.waves.empty() ? "no wave can be named"
                                           : fmt::format("written by {}", fmt::join(failure.waves, ", "));
    error.fix = "waves that touch the same buffer need a dependency, a stated halo may be too small, or "
                "work-items of one wave race for an element or add floats up in any order" +
                repeat;
  }
  return error;
}

Error bounds_error(const BoundsViolation& violation) {
  return {.code = ErrorCode::out_of_bounds,
          .message = fmt::format("{} wrote {}, in iteration {}", violation.wave, place_text(violation),
                                 violation.iteration),
          .fix =
              "look at the kernel's subscripts, the counts it is given and the sizes of its NDRange; the "
              "report's bounds have all that was found, and `oclgrind tidegate run PROGRAM --strategy plain` "
              "names the line"};
}

constexpr std::uint64_t full_bps = 10'000;

PromotionReport promotion_report(const CompiledProgram& compiled) {
  PromotionReport report{
      .promoted = compiled.promotion.promoted, .reason = compiled.promotion.reason, .windows = {}, .ops = {}};
  for (const engine::Window& window : compiled.promotion.windows) {
    WindowReport window_report;
    for (const std::uint32_t wave : window.waves) {
      window_report.waves.push_back(compiled.written.wave_text(wave));
    }
    report.windows.push_back(std::move(window_report));
  }
  for (const std::uint32_t op : compiled.promotion.ops) {
    report.ops.push_back(compiled.program.ops[op].name);
  }
  return report;
}

// Estimates all candidates for the iterations that ran, which `until` left open, and the chosen one with its work-groups.
void report_estimates(RunReport& report, const CompiledProgram& compiled, const ExecutedProgram& executed) {
  for (Candidate& candidate : report.candidates) {
    if (executed.run.outcome.status == RunStatus::done) {
      candidate.load.iterations = static_cast<double>(executed.run.outcome.iterations);
    }
    if (candidate.taken && executed.residency.resident != 0) {
      candidate.shape = launch_shape(compiled, executed.residency);
    }
    candidate.estimated_ns = estimate(candidate.load, candidate.shape, compiled.model).sum();
  }
}

// Reports how far the run came, or where it would end.
void report_progress(RunReport& report, const CompiledProgram& compiled,
                     const std::vector<WaveProgress>& progress, bool ran) {
  const bool done = ran && report.status == RunStatus::done;
  const auto left = [done, ran](const WaveProgress& wave) {
    return done ? 0 : wave.in_all - (ran ? std::min(wave.processed, wave.in_all) : 0);
  };
  report.items_processed = report.items_in_all = report.items_remaining = 0;
  for (const WaveProgress& wave : progress) {
    report.items_processed += ran ? wave.processed : 0;
    report.items_in_all = saturating_add(report.items_in_all, wave.in_all);
    report.items_remaining = saturating_add(report.items_remaining, left(wave));
  }
  for (QueueReport& queue : report.queues) {
    const std::uint32_t wave = compiled.parts[queue.index].front();
    queue.items_processed = ran ? progress[wave].processed : 0;
    queue.items_remaining = left(progress[wave]);
  }
  const auto start = std::chrono::steady_clock::now();
  const Lineage lineage = trace_lineage(compiled.written, compiled.plan, compiled.schedule.storage, progress);
  report.lineage_ns = elapsed_ns(start);
  report.lineage_items = ran ? lineage.items : 0;
  report.region_lineage = lineage.regions;
}

std::vector<QueueReport> queues_before(const Job& program) {
  std::vector<QueueReport> reports;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    if (const auto& queue = program.waves[wave].queue) {
      reports.push_back({.index = wave,
                         .wave = program.wave_text(wave),
                         .items = queue->items.size(),
                         .deduped_items = queue->deduped_items,
                         .published_items = *program.waves[wave].listed_items,
                         .requeues = queue->requeues,
                         .publishing = {}});
    }
  }
  return reports;
}

// Adds the outcome of queues.
void report_queues(RunReport& report, const Job& program, const std::vector<QueueOutcome>& outcomes) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const QueueOutcome& outcome = outcomes[i];
    QueueReport& queue = report.queues[i];
    queue.rounds = outcome.rounds;
    queue.accounting = outcome.accounting;
    queue.publishing = outcome.counts;
    if (queue.publishing) {
      queue.publishing->capacity = program.waves[outcome.wave].rounds->capacity;
      report.published_items += outcome.counts->published;
    }
    if (outcome.failure && report.status == RunStatus::queue_failed && !report.error) {
      report.error = queue_error(program, outcome.wave, *outcome.failure);
    }
  }
}

// Reports the facts known after compilation.
RunReport report_of_program(const CompiledProgram& compiled) {
  const policy::LaunchRecommendation& launch = compiled.recommendation.launch;
  RunReport report;
  report.strategy = compiled.strategy.strategy;
  report.strategy_reason = compiled.strategy.reason;
  report.mode_reason = compiled.mode.reason;
  report.promotion = promotion_report(compiled);
  report.candidates = compiled.strategy.candidates;
  report.warnings = compiled.warnings;
  report.queue_plan_ns = compiled.plan_ns;
  report.geometry.workgroup_size = compiled.schedule.group_size;
  report.memory = {.arena_bytes = compiled.memory.arena_bytes,
                   .image_bytes = compiled.memory.image_bytes,
                   .sum_bytes = compiled.memory.sum_bytes,
                   .lower_bound_bytes = compiled.memory.lower_bound_bytes,
                   .table_bytes = compiled.table_bytes,
                   .offsets = {}};
  report.plan = documents::plan_to_document(compiled.plan, compiled.planner);
  report.recommendation = launch;
  report.evidence = {.topology = policy::topology_evidence(compiled.recommendation.effective, launch),
                     .promotion = policy::promotion_evidence(
                         compiled.program.policy, compiled.recommendation.effective,
                         as_promoted(launch, compiled.mode.mode, compiled.promotion.promoted)),
                     .complete = {}};
  report.assumed_macros = compiled.written.assumed_macros;
  report.hits = hits_before(compiled.program);
  report.queues = queues_before(compiled.program);
  for (const QueueReport& queue : report.queues) {
    report.deduped_items += queue.deduped_items;
  }
  const std::vector<WaveProgress> whole = whole_progress(compiled);
  for (const WaveProgress& wave : whole) {
    report.published_items += wave.items;
  }
  report_progress(report, compiled, whole, false);
  for (const Fallback& wave : compiled.schedule.fallbacks) {
    report.fallbacks.push_back({.wave = compiled.program.wave_text(wave.wave), .reason = wave.reason});
  }
  for (std::size_t i = 0; i < compiled.program.buffers.size(); ++i) {
    if (compiled.program.buffers[i].in_arena()) {
      report.memory.offsets.push_back(
          {.buffer = compiled.program.buffers[i].name, .offset = compiled.memory.offsets[i]});
    }
  }
  report.telemetry = {.topology = launch.topology,
                      .pressure = launch.pressure,
                      .execution_mode = compiled.mode.mode,
                      .hit_capacity = launch.hit_capacity,
                      .estimated_peak_device_bytes = launch.estimated_peak_device_bytes,
                      .device_memory_budget_bytes = launch.device_memory_budget_bytes};
  return report;
}

std::optional<UntilReport> until_report(const CompiledProgram& compiled, const ExecutedProgram& executed) {
  if (executed.run.until_value.empty()) {
    return {};
  }
  const ResolvedUntil& until = *compiled.program.until;
  const ProgramBuffer& buffer = compiled.program.buffers[until.buffer];
  return UntilReport{.buffer = buffer.name,
                     .waiting_for = element_text(buffer.type, until.value.data()),
                     .value = element_text(buffer.type, executed.run.until_value.data()),
                     .reached = executed.run.outcome.until_met};
}

RunStatus status_of(const ExecutedProgram& executed) {
  const auto& proof = executed.proof;
  if (proof && (!proof->in_time || (proof->stress && !proof->stress->in_time))) {
    return InterruptWatch::interrupted() ? RunStatus::interrupted : RunStatus::deadline;
  }
  return (proof && !proof->holds()) || !std::ranges::all_of(executed.expected, &ExpectedReport::equal)
             ? RunStatus::outputs_differ
             : executed.run.outcome.status;
}

} // namespace

std::string difference_fix(const std::optional<OutputParity>& parity, bool fp_contract_off) {
  switch (parity ? parity->likely_cause.value_or(DifferenceCause::unknown) : DifferenceCause::unknown) {
  case DifferenceCause::race:
    return "plain launches do not repeat themselves either: work-items of one wave race for an element, or "
           "add floats up in any order with atomics; no schedule makes that equal";
  case DifferenceCause::order:
    return "this run does not repeat itself while plain launches do: waves that touch the same buffer need a "
           "dependency, or work-items of one wave race for an element and plain launches happened to repeat "
           "it; without either it is a bug: please report the program";
  case DifferenceCause::rounding:
    if (!fp_contract_off) {
      return "the compiler rounds differently in the two kernels, such as a * b + c once or twice: --set "
             "fp-contract=off compiles both without joining the two";
    }
    return "the compiler rounds differently in the two kernels, though a * b + c is not joined: look for "
           "options such as -cl-fast-relaxed-math, and for built-in functions that it may replace";
  case DifferenceCause::item_order:
    if (parity->items_reversed) {
      return "look for ops whose result depends on which item runs first, such as sums of floats, or items that "
             "write the same element; without --verify the outputs are those of one order, by chance";
    }
    return "the reference runs the items one after another, this run many at a time in rounds: look for ops "
           "whose result depends on which item runs first, such as sums of floats, or items that write the same "
           "element";
  case DifferenceCause::unknown: break;
  }
  return "look for a write past the end of a buffer (--check bounds finds it), a barrier that not all work-items "
         "reach, an element that is read and that nothing has written, and work-items of one wave that race and "
         "happened to repeat; then try another device, as its driver may be wrong; what is left is a bug here: "
         "please report the program";
}

RunReport report_of_plan(const CompiledProgram& compiled) {
  RunReport report = report_of_program(compiled);
  report.status = RunStatus::planned;
  return report;
}

// Active tiles of all tiles of such waves; all are if there is no such wave.
std::uint64_t density_of(const std::vector<ActiveReport>& active) {
  std::uint64_t part = 0;
  std::uint64_t whole = 0;
  for (const ActiveReport& wave : active) {
    part += wave.active_tiles;
    whole += wave.iterations * wave.tiles;
  }
  return whole == 0 ? full_bps : part * full_bps / whole;
}

// Tiles that did not run have processed no items.
void report_active(RunReport& report, const CompiledProgram& compiled,
                   const std::vector<ActiveReport>& active, std::vector<WaveProgress>& progress) {
  report.active = active;
  for (const ActiveReport& of : active) {
    const NdRange& range = compiled.written.waves[of.wave].range;
    if (!range.ragged()) {
      WaveProgress& wave = progress[of.wave];
      wave.processed = of.active_tiles * range.group_size();
      // A run that was stopped has all tiles of the iterations to come left.
      const std::uint64_t before = of.iterations * wave.items;
      wave.in_all = wave.processed +
                    (report.status == RunStatus::done || wave.in_all < before ? 0 : wave.in_all - before);
      wave.counted = true;
    }
  }
}

// Returns the work-items that run at once: of the persistent launch, or of the largest of its launches.
std::uint64_t launched_lanes(const CompiledProgram& compiled, const Residency& residency) {
  const Schedule& schedule = compiled.schedule;
  if (residency.resident != 0) {
    return std::uint64_t{residency.workers} * schedule.group_size;
  }
  std::uint64_t most = 1;
  for (const Stage& stage : schedule.stages) {
    most = std::max(most, stage.plain ? compiled.program.waves[stage.waves.front()].range.work_items()
                                      : std::uint64_t{stage.packs} * schedule.group_size);
  }
  return most;
}

RunReport report_of_run(const CompiledProgram& compiled, const ExecutedProgram& executed,
                        const device::DeviceInfo& device, const RunOptions& options) {
  const DispatchOutcome& outcome = executed.run.outcome;
  const Residency& residency = executed.residency;
  RunReport report = report_of_program(compiled);
  report.device = DeviceReport{device.name, device.driver_version};
  report.status = outcome.status;
  std::vector<WaveProgress> progress = progress_of(compiled, outcome.reached, executed.run.queues);
  report_active(report, compiled, executed.active, progress);
  report_progress(report, compiled, progress, true);
  report.iterations = outcome.iterations;
  report.until = until_report(compiled, executed);
  if (report.until) {
    report.converged = report.until->reached;
    report.until_value = report.until->value;
    if (!*report.converged && outcome.status == RunStatus::done) {
      report.warnings.push_back({.message = until_not_reached(report),
                                 .fix = "raise repeat, or leave it out to repeat for as long as it takes",
                                 .pointer = "/until"});
    }
  }
  report.queue_publish_ns = executed.run.publish_ns;
  report.build_ns = executed.build_ns;
  report.read_back_ns = executed.run.read_back_ns;
  report.files_written = executed.files_written;
  report.geometry.worker_groups = residency.resident == 0 ? 0 : residency.workers;
  Telemetry& telemetry = report.telemetry;
  report_dispatch(report, outcome);
  report_calls(telemetry, executed.run.calls, outcome.calls);
  telemetry.occupancy_proxy_bps =
      occupancy_bps(compiled, outcome.reached, residency.resident == 0 ? 0 : residency.workers, progress,
                    executed.run.queues);
  telemetry.frontier_density_bps = report.items_processed == 0 ? 0 : density_of(executed.active);
  telemetry.readback_buffers = executed.run.buffers_read;
  telemetry.compiled_pipeline_cache_hit = executed.built_from_cache;
  telemetry.resident_input_cache_hit = executed.inputs_kept;
  if (executed.proof && executed.proof->in_time) {
    report.output_parity = executed.proof->parity;
    report.stress = executed.proof->stress;
    report.comparison = executed.proof->comparison;
  }
  if (outcome.trace) {
    report.timeline = timeline_of(compiled, *outcome.trace, outcome.until_met);
    report.wave_times = wave_times_of(compiled, *outcome.trace, residency.workers,
                                      device.profile ? device.profile->costs.memory_bytes_per_ns : 0);
    report_timeline(report, options);
  }
  report_estimates(report, compiled, executed);
  report.status = status_of(executed);
  report_queues(report, compiled.program, executed.run.queues);
  if (!executed.hits.empty()) {
    report.hits = executed.hits;
  }
  policy::LaunchRequest launched = compiled.recommendation.request;
  for (const QueueReport& queue : report.queues) {
    launched.requeue_count = saturating_add(launched.requeue_count, queue.accounting.requeue_count);
  }
  telemetry.pressure =
      policy::pressure_class(compiled.written.policy, launched, launched_lanes(compiled, residency));
  if (report.status == RunStatus::hits_overflow) {
    report.error = overflow_error(*std::ranges::find_if(report.hits, overflows));
  }
  report.ranks = executed.ranks;
  if (executed.stated) {
    const bool equal = executed.stated->equal;
    report.first_run =
        FirstRun{.compared = true, .equal = equal, .difference = equal ? std::nullopt : executed.stated};
  }
  report.expected = executed.expected;
  if (report.status == RunStatus::outputs_differ) {
    report.error = report.output_parity && !report.output_parity->equal
                       ? difference_error(*report.output_parity, options)
                   : report.stress && report.stress->failure ? stress_error(*report.stress->failure)
                                                             : expectation_error(executed.expected);
    if (report.output_parity && !report.output_parity->equal &&
        !report.warnings.empty()) { // such as waves in no order
      report.error->fix = "look at the warnings first, which may name the cause; " + report.error->fix;
    }
  }
  report_ending(report, ending_of(report), options, outcome.waited);
  return report;
}

RunReport report_of_bounds(const CompiledProgram& compiled, const BoundsReport& bounds,
                           const device::DeviceInfo& device, const RunOptions& options) {
  RunReport report = report_of_program(compiled);
  report.device = DeviceReport{device.name, device.driver_version};
  report.status = RunStatus::checked;
  report.bounds = bounds;
  if (!bounds.violations.empty()) {
    report.status = RunStatus::out_of_bounds;
    report.error = bounds_error(bounds.violations.front());
  } else if (!bounds.complete) {
    report.status = InterruptWatch::interrupted() ? RunStatus::interrupted : RunStatus::deadline;
    report_ending(report, ending_of(report), options, false);
  }
  return report;
}

RunReport report_of_silence(const CompiledProgram& compiled, const Monitor& monitor, bool interrupted,
                            const RunOptions& options) {
  RunReport report = report_of_program(compiled);
  report_silence(report, monitor, interrupted, options, true);
  const Position reached = monitor.reached();
  const std::uint32_t alone = monitor.wave;
  const std::vector<Stage>& stages = compiled.schedule.stages;
  if (alone < compiled.written.waves.size()) {
    report.error->message += fmt::format("; it runs {}", compiled.written.wave_text(alone));
  } else if (monitor.activity == Activity::running && reached.stage < stages.size()) {
    report.error->message += fmt::format(
        "; before that it had come to {}{}", compiled.program.wave_text(stages[reached.stage].waves.front()),
        compiled.program.iterations > 1 ? fmt::format(" of iteration {}", reached.iteration) : "");
  }
  report.iterations = reached.iteration;
  std::vector<WaveProgress> progress = progress_of(compiled, {reached.iteration, reached.stage}, {});
  for (std::size_t wave = 0; wave < progress.size(); ++wave) {
    if (compiled.written.waves[wave].prepared) { // the device has its counts
      progress[wave].processed = 0;
    }
  }
  report_progress(report, compiled, progress, true);
  report.telemetry.frontier_density_bps = report.items_processed == 0 ? 0 : density_of({});
  return report;
}

} // namespace tidegate::engine
