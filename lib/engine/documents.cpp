#include "engine/run_report.hpp"

namespace tidegate::documents {

namespace {

// A list that is left out if it is empty, as it is in a short report.
template <auto... Members>
constexpr Field listed(std::string_view meaning) {
  Field list = optional<Members...>(meaning);
  list.access = [](void* object, bool engage) -> void* {
    using Path = detail::Path<Members...>;
    auto& members = Path::follow(*static_cast<typename Path::Object*>(object));
    return engage || !members.empty() ? &members : nullptr;
  };
  return list;
}

} // namespace

using namespace engine;

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
    required<&Candidate::shape, &LaunchShape::strategy>("launch strategy"),
    required<&Candidate::side_by_side>("most tiles that a work-group runs concurrently"),
    required<&Candidate::shape, &LaunchShape::workers>("work-groups of a persistent launch; 0 for launches")
        .named("worker_groups"),
    optional<&Candidate::shape, &LaunchShape::mapping>("tile mapping of a persistent launch").named("order"),
    required<&Candidate::estimated_ns>("time of a dispatch, as estimated by the cost model"),
    required<&Candidate::taken>("whether the program runs this way"),
    optional<&Candidate::refused>("why it may not be chosen"),
};
TIDEGATE_RECORD(Candidate, candidate_fields);

constexpr Field first_candidate_fields[] = {
    required<&FirstCandidate::value>("strategy and mode, or the value of a knob"),
    optional<&FirstCandidate::ratio>(
        "its time divided by that of plain launches, or of the previous value; left out if it was not timed"),
    required<&FirstCandidate::taken>("whether it is the fastest of those that are faster"),
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
    required<&FirstRun::elapsed_ns>("time that it took; for a wave program including builds"),
    required<&FirstRun::runs>("total dispatches of the program"),
    optional<&FirstRun::plain_ns>("median of a dispatch as plain launches"),
    listed<&FirstRun::candidates>(
        "all candidates; those with a ratio or a reason were tried, by this run or an earlier one"),
    optional<&FirstRun::difference>("how a candidate's outputs differed from those of plain launches"),
    // Reports end here: the others serve later runs.
    required<&FirstRun::repeat>("iterations of the program when candidates were timed; 0 if none were"),
    required<&FirstRun::iterations>(
        "iterations (waves of a frontier program) that each candidate ran; 0 if nothing was compared"),
    required<&FirstRun::budget_ns>("longest time for comparing and timing"),
};
TIDEGATE_RECORD(FirstRun, first_run_fields);
TIDEGATE_DOCUMENT(FirstRun, "first_run", "Candidates that first runs of a program have tried",
                  Direction::output);

constinit const Record reported_first_run = record_of<FirstRun>(std::span(first_run_fields).first(12));

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

constexpr Field window_fields[] = {
    required<&WindowReport::waves>("in the order in which each tile ran them"),
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

using RunFields = HeadFields<RunReport>;

constexpr auto run_report_fields = RunFields::with({
    RunFields::of<&RunReport::promotion>("promoted waves and ops; the policy's reasons are in the evidence"),
    listed<&RunReport::candidates>(
        "every launch plan with its estimated time; left out if the device was not measured"),
    RunFields::of<&RunReport::first_run>(
        "how the launch plan was chosen; left out if the command line fixes it")
        .described_by(reported_first_run),
    RunFields::of<&RunReport::items_remaining>("items that were not completed, with those of queues"),
    RunFields::of<&RunReport::items_in_all>(
        "items of the whole run, completed or not; until may end it before"),
    RunFields::of<&RunReport::iterations>("completed iterations"),
    RunFields::of<&RunReport::until_value>(
        "of until: what element 0 of its buffer is after the last iteration"),
    RunFields::of<&RunReport::converged>("whether until was reached; left out without one"),
    RunFields::of<&RunReport::dispatch_ns>("time from the first launch to the end of the last")
        .named("backend_dispatch_ns"),
    RunFields::of<&RunReport::output_parity>("with --verify: comparison with plain launches"),
    listed<&RunReport::expected>("outputs next to the references that the program expects"),
    RunFields::of<&RunReport::stress>("with --stress: runs in other orders"),
    RunFields::of<&RunReport::bounds>("with --check bounds: accesses outside buffers"),
    RunFields::of<&RunReport::fallbacks>("waves that cannot share a launch"),
    listed<&RunReport::hits>("lists of hits; left out without one"),
    listed<&RunReport::active>("waves with active tiles; left out without one"),
    RunFields::of<&RunReport::queues>("waves of work items"),
    RunFields::of<&RunReport::ranks>("under mpirun: the ranks and what they exchanged; left out with one"),
    RunFields::of<&RunReport::assumed_macros>(
        "without a device: macros on which the sources depend, assumed to be as in OpenCL C 3.0 "
        "or else undefined"),
    RunFields::of<&RunReport::memory>("the arena"),
    required<&RunReport::plan>("the groups of waves").described_by(run_plan),
    RunFields::of<&RunReport::recommendation>("recommendation of the launch policy"),
    required<&RunReport::evidence>("evidence of the recommendation").described_by(run_evidence),
    RunFields::of<&RunReport::wave_times>("with --by-wave, --trace or --html: where the time went, by wave"),
});
TIDEGATE_RECORD(RunReport, run_report_fields);

TIDEGATE_DOCUMENT(RunReport, "run_report", "Results and times of a run, and what was checked",
                  Direction::output);

} // namespace tidegate::documents
