#include "engine/documents.hpp"

#include "device/documents.hpp"
#include <tidegate/policy/documents.hpp>

namespace tidegate::documents {

namespace {

// A list that is left out if it is empty, as it is in a short report.
template <auto... Members>
constexpr Field listed(std::string_view meaning) {
  Field list = field<Members...>(meaning, Presence::optional);
  list.read = [](const void* object) -> const void* {
    using Path = detail::Path<Members...>;
    const auto& members = Path::follow(*static_cast<const typename Path::Object*>(object));
    return members.empty() ? nullptr : &members;
  };
  return list;
}

} // namespace

constexpr Field error_fields[] = {
    required<&Error::code>("stable name of the error"),
    required<&Error::message>("what happened"),
    required<&Error::fix>("what to change"),
    optional<&Error::source>("file of the location"),
    optional<&Error::pointer>("location as an RFC 6901 pointer into the input"),
    optional<&Error::line>("line of the location, counted from 1"),
    optional<&Error::column>("column of the location, in characters counted from 1"),
    optional<&Error::excerpt>("that line of the source"),
    optional<&Error::field>("the field that overflowed, is out of range, is missing or is unknown"),
    optional<&Error::nearest>("the known name closest to an unknown one"),
    optional<&Error::requested>("requested bytes"),
    optional<&Error::available>("bytes that the budget allows"),
    optional<&Error::wave>("index of the wave that depends on itself"),
    optional<&Error::wave_count>("number of waves in the DAG"),
    optional<&Error::before>("first wave of the faulty dependency"),
    optional<&Error::after>("second wave of the faulty dependency"),
    optional<&Error::unscheduled_waves>("waves on a cycle or after one"),
    optional<&Error::cycle>("one cycle: each wave before the next, the last before the first"),
    optional<&Error::required_bytes>("least bytes that are needed"),
    optional<&Error::budget_bytes>("bytes available for them"),
    optional<&Error::capacity_bytes>("largest size of the arena"),
    optional<&Error::best_height_bytes>("bytes of the lowest arena found"),
    optional<&Error::log>("output of the driver's compiler, line by line"),
};
TIDEGATE_RECORD(Error, error_fields);

constexpr Field reported_error_fields[] = {error_fields[0], error_fields[1], error_fields[2],
                                           error_fields[4]};
constinit const Record reported_error = record_of<Error>(reported_error_fields);

std::optional<std::vector<Error>> take_others(Error& error) {
  std::vector<Error> others = std::exchange(error.others, {});
  return others.empty() ? std::nullopt : std::optional(std::move(others));
}

template <>
constinit const Document DocumentOf<Error>::document{.kind = "error",
                                                     .title = "An error, as --errors json prints it",
                                                     .direction = Direction::output,
                                                     .record = &Description<Error>::record,
                                                     .has_kind = false};
using namespace engine;

constexpr Field device_report_fields[] = {
    required<&DeviceReport::name>("name, as the driver reports it"),
    required<&DeviceReport::driver_version>("version of its driver"),
};
TIDEGATE_RECORD(DeviceReport, device_report_fields);

constexpr Field difference_fields[] = {
    required<&Difference::buffer>("name of the buffer"),
    required<&Difference::element>("index of the first element that differs; the first of all is 0"),
    required<&Difference::expected>("its value after plain launches"),
    required<&Difference::found>("its value after this run"),
};
TIDEGATE_RECORD(Difference, difference_fields);

constexpr Field parity_fields[] = {
    required<&OutputParity::checked>(
        "output buffers that were compared byte for byte; lists of hits in any order"),
    required<&OutputParity::equal>("whether all of them were equal"),
    optional<&OutputParity::first_difference>("first difference"),
    required<&OutputParity::differing_elements>("number of elements that differ"),
    optional<&OutputParity::likely_cause>(
        "race: plain launches do not repeat their outputs either; order: this run does not repeat its "
        "outputs; rounding: the compiler rounds floats differently in the two kernels; item_order: the outputs "
        "depend on the order of a queue's items"),
};
TIDEGATE_RECORD(OutputParity, parity_fields);

constexpr Field expected_fields[] = {
    required<&ExpectedReport::buffer>("name of the buffer"),
    required<&ExpectedReport::equal>("whether no element is outside of the tolerances"),
    required<&ExpectedReport::outside>("elements outside of the tolerances"),
    optional<&ExpectedReport::worst>(
        "element that exceeds its tolerance most, or comes nearest to it; left out if all are equal"),
};
TIDEGATE_RECORD(ExpectedReport, expected_fields);

constexpr Field stress_failure_fields[] = {
    required<&StressFailure::seed>("--stress 1 --set tuning.stress-seed=N repeats the run with this number"),
    required<&StressFailure::variation>("the run, for people"),
    optional<&StressFailure::difference>("comparison with plain launches in the program's order"),
    required<&StressFailure::waves>("names of the waves that are concerned"),
};
TIDEGATE_RECORD(StressFailure, stress_failure_fields);

constexpr Field stress_fields[] = {
    required<&StressReport::completed>(
        "completed runs: wave_order: plain launches in another order that the dependencies allow; launch, barrier, "
        "counters: this strategy, with tiles in another order, late work-groups and other numbers of them"),
    optional<&StressReport::failure>("first run whose outputs differ; no run follows it"),
};
TIDEGATE_RECORD(StressReport, stress_fields);

constexpr Field candidate_fields[] = {
    required<&CandidateReport::strategy>("launch strategy"),
    required<&CandidateReport::side_by_side>("most tiles that a work-group runs concurrently"),
    required<&CandidateReport::worker_groups>("work-groups of a persistent launch; 0 for launches"),
    optional<&CandidateReport::mapping>("tile mapping of a persistent launch").named("order"),
    required<&CandidateReport::estimated_ns>("time of a dispatch, as estimated by the cost model"),
    required<&CandidateReport::taken>("whether the program runs this way"),
    optional<&CandidateReport::refused>("why it may not be chosen"),
};
TIDEGATE_RECORD(CandidateReport, candidate_fields);

constexpr Field first_candidate_fields[] = {
    required<&FirstCandidate::value>("candidate: strategy and mode"),
    optional<&FirstCandidate::ratio>(
        "its time divided by that of plain launches; left out if it was not timed"),
    required<&FirstCandidate::taken>(
        "whether it is the fastest of those that are faster than plain launches"),
    required<&FirstCandidate::thrown_out>("why it was rejected, or empty"),
};
TIDEGATE_RECORD(FirstCandidate, first_candidate_fields);

constexpr Field first_run_fields[] = {
    required<&FirstRun::compared>("whether the chosen way was compared with plain launches, or the "
                                  "result of a frontier program with the serial algorithm's"),
    required<&FirstRun::equal>("whether what runs was equal: byte for byte; ranks within their rounding"),
    required<&FirstRun::measured>("whether candidates were timed"),
    required<&FirstRun::kept>("whether later runs know the result"),
    required<&FirstRun::settled>("whether no later run tries candidates"),
    required<&FirstRun::reason>(
        "reason of the choice; for a frontier program, what was compared or why it was not"),
    required<&FirstRun::next>("what the next run does about it"),
    required<&FirstRun::repeat>("iterations of the program when candidates were timed; 0 if none were"),
    required<&FirstRun::iterations>(
        "iterations (waves of a frontier program) that each candidate ran; 0 if nothing was compared"),
    required<&FirstRun::budget_ns>("longest time for comparing and timing"),
    required<&FirstRun::elapsed_ns>("time that it took; for a wave program including builds"),
    required<&FirstRun::runs>("total dispatches of the program"),
    optional<&FirstRun::plain_ns>("median of a dispatch as plain launches"),
    required<&FirstRun::candidates>(
        "all candidates; those with a ratio or a reason were tried, by this run or an earlier one"),
    optional<&FirstRun::difference>("how a candidate's outputs differed from those of plain launches"),
    optional<&FirstRun::difference_file>(
        "file with program, sources, kernel and difference, for a bug report"),
};
TIDEGATE_RECORD(FirstRun, first_run_fields);
TIDEGATE_DOCUMENT(FirstRun, "first_run", "Candidates that first runs of a program have tried",
                  Direction::output);

// In reports: without what serves later runs.
constexpr Field reported_candidate_fields[] = {first_candidate_fields[0], first_candidate_fields[1],
                                               first_candidate_fields[3]};
constinit const Record reported_candidate = record_of<FirstCandidate>(reported_candidate_fields);
constexpr Field reported_first_run_fields[] = {
    first_run_fields[0],  // compared
    first_run_fields[1],  // equal
    first_run_fields[2],  // measured
    first_run_fields[3],  // kept
    first_run_fields[4],  // settled
    first_run_fields[5],  // reason
    first_run_fields[6],  // next
    first_run_fields[10], // elapsed_ns
    first_run_fields[11], // runs
    first_run_fields[12], // plain_ns
    listed<&FirstRun::candidates>(first_run_fields[13].meaning).described_by(reported_candidate),
    first_run_fields[14], // difference
    first_run_fields[15], // difference_file
};
constinit const Record reported_first_run = record_of<FirstRun>(reported_first_run_fields);

constexpr Field comparison_fields[] = {
    required<&Comparison::plain_ns>(
        "median of the plain launches: one per wave, of a traversal one for each step"),
    required<&Comparison::run_ns>("median of this run's dispatch"),
    required<&Comparison::speedup>(
        "median over the rounds of the plain launches' time divided by this run's"),
    required<&Comparison::speedup_low>(
        "lower end of the interval that holds the true median with 95 % confidence"),
    required<&Comparison::speedup_high>("upper end of that interval"),
    required<&Comparison::verdict>(
        "faster or slower than plain launches if the interval leaves out 1; same_launches: the run "
        "is the same launches, and what differs is chance; too_few_rounds: fewer than six, so the "
        "interval is the range of all rounds"),
    required<&Comparison::plain_rounds_ns>("every round of the plain launches"),
    required<&Comparison::run_rounds_ns>("every round of this run"),
};
TIDEGATE_RECORD(Comparison, comparison_fields);

constexpr Field stuck_fields[] = {
    required<&StuckGroup::group>("the work-group"),
    required<&StuckGroup::iteration>("counted from 0"),
    required<&StuckGroup::waves>("the waves of that stage"),
    required<&StuckGroup::tile>("its first tile of the stage"),
    required<&StuckGroup::counter>(
        "the counter that it polled: arrivals at the barrier, or the progress of another group"),
    required<&StuckGroup::expected>("value that it waited for"),
    required<&StuckGroup::seen>("value that it read"),
};
TIDEGATE_RECORD(StuckGroup, stuck_fields);

constexpr Field violation_fields[] = {
    required<&BoundsViolation::wave>("wave that wrote"),
    required<&BoundsViolation::iteration>("its iteration, counted from 0"),
    required<&BoundsViolation::buffer>("buffer next to the written bytes"),
    required<&BoundsViolation::side>("before: in front of its first byte; after: past its last byte"),
    required<&BoundsViolation::distance_bytes>(
        "distance of the nearest changed byte: 0 is the first byte after, 1 the last byte before the buffer"),
};
TIDEGATE_RECORD(BoundsViolation, violation_fields);

constexpr Field bounds_fields[] = {
    required<&BoundsReport::checked_waves>("launches after which the guards were checked"),
    required<&BoundsReport::violations>("writes of the last wave outside buffers"),
};
TIDEGATE_RECORD(BoundsReport, bounds_fields);

constexpr Field wave_time_fields[] = {
    required<&WaveTime::waves>("the wave, or waves that ran as one task"),
    required<&WaveTime::executions>("how often it ran"),
    required<&WaveTime::time_ns>("from first start to last end, of all executions"),
    required<&WaveTime::work_ns>("that all work-groups worked"),
    required<&WaveTime::wait_ns>("that all work-groups waited for others before it"),
    required<&WaveTime::buffer_bytes>(
        "bytes of the buffers that an execution reads and of those that it writes"),
    required<&WaveTime::critical_ns>("its part of the critical path"),
};
TIDEGATE_RECORD(WaveTime, wave_time_fields);

constexpr Field wave_times_fields[] = {
    required<&WaveTimes::critical_path_ns>(
        "from the task that ended last back to the first, each time to the task that it waited for longest"),
    required<&WaveTimes::synchronization_ns>(
        "part of the critical path between tasks: signals, barriers, launches"),
    required<&WaveTimes::waves>("the longest part of the critical path first"),
};
TIDEGATE_RECORD(WaveTimes, wave_times_fields);

constexpr Field warning_fields[] = {
    required<&Warning::message>("likely mistake in the program"),
    required<&Warning::fix>("what to change"),
    required<&Warning::pointer>("location in the program (RFC 6901)"),
};
TIDEGATE_RECORD(Warning, warning_fields);

constexpr Field written_file_fields[] = {
    required<&WrittenFile::file>("its path"),
    required<&WrittenFile::what>(
        "its content: a buffer, an image, a result, the generated kernel, the trace or the page"),
};
TIDEGATE_RECORD(WrittenFile, written_file_fields);

constexpr Field fallback_fields[] = {
    required<&FallbackReport::wave>("the wave"),
    required<&FallbackReport::reason>("the reason"),
};
TIDEGATE_RECORD(FallbackReport, fallback_fields);

constexpr Field rank_fields[] = {
    required<&RankReport::rank>("its number, from 0"),
    required<&RankReport::host>("name of the machine"),
    required<&RankReport::device>("name of the device"),
    required<&RankReport::dispatch_ns>("from the first launch to the end of the last"),
    required<&RankReport::waiting_ns>(
        "part of dispatch_ns: for messages of other ranks, while the own device did not work either"),
    required<&RankReport::bytes_sent>("in messages, from the first launch to the end of the last"),
    required<&RankReport::messages>("sent in that time"),
    optional<&RankReport::edges>("of a graph program: edges of its vertices"),
    optional<&RankReport::device_bytes>(
        "device memory: of a graph program of its part, of a wave program of its buffers"),
};
TIDEGATE_RECORD(RankReport, rank_fields);

constexpr Field rank_wave_fields[] = {
    required<&RankWaveReport::wave>("the wave"),
    required<&RankWaveReport::reason>("why it is not cut into parts, and what helps"),
};
TIDEGATE_RECORD(RankWaveReport, rank_wave_fields);

constexpr Field rank_buffer_fields[] = {
    required<&RankBufferReport::buffer>("the buffer"),
    required<&RankBufferReport::in_parts>(
        "whether each rank has memory for the part alone that it owns or reads; otherwise for all of it"),
    required<&RankBufferReport::bytes_sent>(
        "of its contents, by all ranks, for waves that read what other ranks wrote"),
    required<&RankBufferReport::reason>("why it is not split, or not in parts, and what helps"),
};
TIDEGATE_RECORD(RankBufferReport, rank_buffer_fields);

constexpr Field ranks_fields[] = {
    required<&RanksReport::ranks>("each of them; of a run that ended early the one alone that reports"),
    required<&RanksReport::waves>(
        "waves that rank 0 runs, which then sends the others what they may have written"),
    required<&RanksReport::buffers>("the buffers of a wave program"),
};
TIDEGATE_RECORD(RanksReport, ranks_fields);

constexpr Field hits_report_fields[] = {
    required<&HitsReport::list>("its name"),
    required<&HitsReport::capacity>("hits that have room"),
    optional<&HitsReport::hits>(
        "hits that were appended, as the device counted them, until then if the run was "
        "stopped; left out after a hang"),
};
TIDEGATE_RECORD(HitsReport, hits_report_fields);

constexpr Field active_choice_fields[] = {
    required<&ActiveChoice::iteration>("counted from 0"),
    required<&ActiveChoice::active_tiles>("tiles whose flag was set"),
    required<&ActiveChoice::topology>(
        "topology by the rules of the launch policy: of persistent launches with barriers; else a recommendation"),
    required<&ActiveChoice::walk>(
        "tiles that were gone over: none, those of a list, those of a list of blocks of 8, all"),
};
TIDEGATE_RECORD(ActiveChoice, active_choice_fields);

constexpr Field active_report_fields[] = {
    required<&ActiveReport::wave>("index of the wave"),
    required<&ActiveReport::tiles>("its work-groups"),
    required<&ActiveReport::iterations>("how often it ran"),
    required<&ActiveReport::active_tiles>("tiles whose flag was set, in all iterations"),
    required<&ActiveReport::choices>("the iterations; of more than 65535 the last ones"),
};
TIDEGATE_RECORD(ActiveReport, active_report_fields);

constexpr Field publishing_fields[] = {
    required<&PublishingCounts::published>("items that ops have published").named("published_items"),
    required<&PublishingCounts::deduped>("items of pure ops that were not published again")
        .named("deduped_items"),
    required<&PublishingCounts::needed_capacity>(
        "the most items that it had to hold: running and waiting, or different ones of pure ops"),
};
TIDEGATE_RECORD(PublishingCounts, publishing_fields);

constexpr Field queue_report_fields[] = {
    required<&QueueReport::wave>("the wave"),
    required<&QueueReport::deduped_items>("items of pure ops that were identical to others"),
    required<&QueueReport::published_items>("items that were sent to the device"),
    required<&QueueReport::items_processed>("items that were completed, in all iterations"),
    required<&QueueReport::items_remaining>("items that were not completed, likewise"),
    required<&QueueReport::rounds>("rounds of all iterations; 0 if no op requeues or publishes"),
    required<&QueueReport::accounting, &policy::RequeueAccounting::requeue_count>("requeues of all items"),
    required<&QueueReport::accounting, &policy::RequeueAccounting::aged_promotions>(
        "priorities raised by age: runs of items ahead of their priority"),
    required<&QueueReport::accounting, &policy::RequeueAccounting::max_priority_age>(
        "longest wait of an item, in rounds"),
    optional<&QueueReport::publishing>("items of all iterations as the device counted them, if ops publish"),
};
TIDEGATE_RECORD(QueueReport, queue_report_fields);

constexpr Field run_geometry_fields[] = {
    required<&Geometry::workgroup_size>("work-items of a work-group"),
    required<&Geometry::worker_groups>("work-groups of a persistent launch; 0 without one"),
};
TIDEGATE_RECORD(Geometry, run_geometry_fields);

constexpr Field offset_fields[] = {
    required<&BufferOffset::buffer>("name of the buffer"),
    required<&BufferOffset::offset>("offset in the arena, in bytes"),
};
TIDEGATE_RECORD(BufferOffset, offset_fields);

constexpr Field run_memory_fields[] = {
    required<&MemoryReport::arena_bytes>("device memory of all buffers"),
    required<&MemoryReport::image_bytes>("device memory of all images, outside the arena"),
    required<&MemoryReport::sum_bytes>("memory of all buffers without sharing"),
    required<&MemoryReport::lower_bound_bytes>("proved lower bound of the arena"),
    listed<&MemoryReport::offsets>("offset of every buffer"),
};
TIDEGATE_RECORD(MemoryReport, run_memory_fields);

constexpr Field telemetry_fields[] = {
    required<&Telemetry::bytes_uploaded>(
        "bytes written to the device, from the first upload to the last read-back"),
    required<&Telemetry::bytes_read_back>("bytes read from it, by all reads in that time"),
    required<&Telemetry::bytes_moved>("sum of both"),
    required<&Telemetry::resident_allocations>("buffers and images that the run had on the device"),
    required<&Telemetry::kernel_launches>("kernel launches of the dispatch"),
    required<&Telemetry::filling_launches>(
        "kernel launches outside of the dispatch: those that prepare device memory, and of a program's own "
        "algorithm those that check its laws and its result"),
    required<&Telemetry::sync_points>(
        "calls in which the host waited for the device: every wait, and every read or write "
        "that returns when it is done"),
    required<&Telemetry::occupancy_proxy_bps>(
        "lanes that had an item, divided by those that ran: the work-items of launches, or those of all work-groups in each "
        "turn of a persistent launch or wave of a traversal"),
    required<&Telemetry::frontier_density_bps>(
        "active tiles divided by all tiles of waves that name them; 10000 if no wave does; of a traversal the widest frontier's vertices"),
    required<&Telemetry::readback_buffers>("results that were read back"),
    required<&Telemetry::compiled_pipeline_cache_hit>("whether the generated kernel came from the cache"),
    required<&Telemetry::resident_input_cache_hit>(
        "whether the device had all inputs from earlier requests of a stream, and none was read or uploaded"),
    required<&Telemetry::topology>("the policy's topology"),
    required<&Telemetry::pressure>(
        "the policy's class of the queue, with its requeues, on the work-items that ran at once; the evidence has "
        "that of the geometry that the policy recommends, before the run"),
    required<&Telemetry::execution_mode>("the mode that was run"),
    required<&Telemetry::hit_capacity>("the policy's hit capacity"),
    required<&Telemetry::estimated_peak_device_bytes>("the policy's estimate"),
    required<&Telemetry::device_memory_budget_bytes>("the budget; 0: none"),
};
TIDEGATE_RECORD(Telemetry, telemetry_fields);

constexpr Field window_fields[] = {
    required<&WindowReport::waves>("in the order in which each tile ran them"),
    required<&WindowReport::register_buffers>("buffers that exist only in registers"),
};
TIDEGATE_RECORD(WindowReport, window_fields);

constexpr Field promotion_fields[] = {
    required<&PromotionReport::promoted>("promotions: none, windows, opcodes or all"),
    required<&PromotionReport::windows>("waves that ran as one"),
    required<&PromotionReport::ops>(
        "hot ops or windows of them, which have separate cases that are tested first; the hottest first"),
};
TIDEGATE_RECORD(PromotionReport, promotion_fields);

constexpr Field run_barriers_fields[] = {
    listed<&Barriers::groups>("groups in order, separated by barriers"),
    required<&Barriers::global_barriers>("barriers between the groups"),
};
constinit const Record run_barriers = record_of<Barriers>(run_barriers_fields);

constexpr Field run_plan_fields[] = {
    required<&FrontierMemoryPlan::planner>("the strategy that formed the groups").named("strategy"),
    required<&FrontierMemoryPlan::barriers>("the groups and their barriers").described_by(run_barriers),
};
constinit const Record run_plan = record_of<FrontierMemoryPlan>(run_plan_fields);

constexpr Field run_evidence_fields[] = {
    optional<&Evidence::topology>("of the topology"),
    optional<&Evidence::promotion>("of the mode and the promotions"),
};
constinit const Record run_evidence = record_of<Evidence>(run_evidence_fields);

using ReportedFields = HeadFields<RunReportDocument, &RunReportDocument::report>;
constexpr ReportedFields run_head;

// A field of the report inside its document.
template <auto Member>
constexpr Field reported(std::string_view meaning) {
  return ReportedFields::of<Member>(meaning);
}

constexpr Field run_report_fields[] = {
    run_head.id,
    run_head.program,
    run_head.status,
    run_head.error,
    run_head.device,
    run_head.strategy,
    run_head.strategy_reason,
    reported<&RunReport::promotion>("promoted waves and ops; the policy's reasons are in the evidence"),
    reported<&RunReport::candidates>(
        "every launch plan with its estimated time; left out if the device was not measured"),
    reported<&RunReport::first_run>("how the launch plan was chosen; left out if the command line fixes it")
        .described_by(reported_first_run),
    run_head.items_processed,
    reported<&RunReport::items_remaining>("items that were not completed, with those of queues"),
    reported<&RunReport::items_in_all>("items of the whole run, completed or not; until may end it before"),
    reported<&RunReport::iterations>("completed iterations"),
    reported<&RunReport::until_value>("of until: what element 0 of its buffer is after the last iteration"),
    reported<&RunReport::converged>("whether until was reached; left out without one"),
    run_head.warnings,
    run_head.wall_time_ns,
    run_head.queue_plan_ns,
    run_head.queue_publish_ns,
    run_head.build_ns,
    reported<&RunReport::dispatch_ns>("time from the first launch to the end of the last")
        .named("backend_dispatch_ns"),
    run_head.read_back_ns,
    run_head.lineage_ns,
    run_head.published_items,
    run_head.deduped_items,
    run_head.lineage_items,
    run_head.region_lineage,
    reported<&RunReport::output_parity>("with --verify: comparison with plain launches"),
    reported<&RunReport::expected>("outputs next to the references that the program expects"),
    reported<&RunReport::stress>("with --stress: runs in other orders"),
    run_head.comparison,
    reported<&RunReport::bounds>("with --check bounds: accesses outside buffers"),
    run_head.profile_file,
    run_head.policy_file,
    run_head.files_written,
    run_head.stuck_groups,
    reported<&RunReport::fallbacks>("waves that cannot share a launch"),
    reported<&RunReport::hits>("lists of hits; left out without one"),
    reported<&RunReport::active>("waves with active tiles; left out without one"),
    reported<&RunReport::queues>("waves of work items"),
    run_head.ranks,
    reported<&RunReport::assumed_macros>(
        "without a device: macros on which the sources depend, assumed to be as in OpenCL C 3.0 "
        "or else undefined"),
    reported<&RunReport::geometry>("geometry of the launches").named("effective_geometry"),
    reported<&RunReport::memory>("the arena"),
    required<&RunReportDocument::plan>("the groups of waves").described_by(run_plan),
    reported<&RunReport::recommendation>("recommendation of the launch policy"),
    required<&RunReportDocument::evidence>("evidence of the recommendation").described_by(run_evidence),
    run_head.telemetry,
    run_head.slices_ns,
    reported<&RunReport::wave_times>("with --by-wave, --trace or --report: where the time went, by wave"),
};
TIDEGATE_RECORD(RunReportDocument, run_report_fields);

TIDEGATE_DOCUMENT(RunReportDocument, "run_report", "Results and times of a run, and what was checked",
                  Direction::output);

void shorten(RunReportDocument& document) {
  document.report.candidates.reset();
  document.report.memory.offsets.clear();
  document.plan.barriers.groups.clear();
  if (document.report.first_run) {
    document.report.first_run->candidates.clear();
  }
}

} // namespace tidegate::documents
