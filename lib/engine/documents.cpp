#include "engine/documents.hpp"

#include "device/documents.hpp"
#include <tidegate/policy/documents.hpp>

#include <utility>

namespace tidegate::documents {

constexpr Field error_fields[] = {
    required<&Error::code>("code", "stable name of the error"),
    required<&Error::message>("message", "what happened"),
    required<&Error::fix>("fix", "what to change"),
    optional<&Error::source>("source", "file of the location"),
    optional<&Error::pointer>("pointer", "location as an RFC 6901 pointer into the input"),
    optional<&Error::line>("line", "line of the location, counted from 1"),
    optional<&Error::column>("column", "column of the location, in characters counted from 1"),
    optional<&Error::excerpt>("excerpt", "that line of the source"),
    optional<&Error::field>("field", "the field that overflowed, is out of range, is missing or is unknown"),
    optional<&Error::nearest>("nearest", "the known name closest to an unknown one"),
    optional<&Error::requested>("requested", "requested bytes"),
    optional<&Error::available>("available", "bytes that the budget allows"),
    optional<&Error::wave>("wave", "index of the wave that depends on itself"),
    optional<&Error::wave_count>("wave_count", "number of waves in the DAG"),
    optional<&Error::before>("before", "first wave of the faulty dependency"),
    optional<&Error::after>("after", "second wave of the faulty dependency"),
    optional<&Error::unscheduled_waves>("unscheduled_waves", "waves on a cycle or after one"),
    optional<&Error::cycle>("cycle", "one cycle: each wave before the next, the last before the first"),
    optional<&Error::required_bytes>("required_bytes", "least bytes that are needed"),
    optional<&Error::budget_bytes>("budget_bytes", "bytes available for them"),
    optional<&Error::capacity_bytes>("capacity_bytes", "largest size of the arena"),
    optional<&Error::best_height_bytes>("best_height_bytes", "bytes of the lowest arena found"),
    optional<&Error::log>("log", "output of the driver's compiler, line by line"),
};
template <>
constinit const Record Description<Error>::record = record_of<Error>(error_fields);

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
using engine::ActiveChoice;
using engine::ActiveReport;
using engine::BaselineReport;
using engine::BoundsReport;
using engine::BoundsViolation;
using engine::BufferOffset;
using engine::CandidateReport;
using engine::Comparison;
using engine::DeviceReport;
using engine::Difference;
using engine::ExpectedReport;
using engine::FallbackReport;
using engine::FirstRun;
using engine::Geometry;
using engine::HaloReport;
using engine::HaloViolation;
using engine::HitCapacityRule;
using engine::HitsReport;
using engine::HotOpReport;
using engine::MemoryReport;
using engine::OutputParity;
using engine::PromotionReport;
using engine::PublishingReport;
using engine::QueueFaultReport;
using engine::QueueReport;
using engine::RunReport;
using engine::SimulatorFinding;
using engine::StressFailure;
using engine::StressReport;
using engine::StressRuns;
using engine::StuckGroup;
using engine::Telemetry;
using engine::TraceReport;
using engine::TriedWay;
using engine::UntilReport;
using engine::UnwatchedAccess;
using engine::Warning;
using engine::WaveTime;
using engine::WaveTimes;
using engine::WindowReport;
using engine::WrittenFile;

constexpr Field device_report_fields[] = {
    required<&DeviceReport::name>("name", "name, as the driver reports it"),
    required<&DeviceReport::platform>("platform", "OpenCL platform that it belongs to"),
    required<&DeviceReport::driver_version>("driver_version", "version of its driver"),
};
template <>
constinit const Record Description<DeviceReport>::record = record_of<DeviceReport>(device_report_fields);

constexpr Field difference_fields[] = {
    required<&Difference::buffer>("buffer", "name of the buffer"),
    required<&Difference::element>("element", "index of the first element that differs"),
    required<&Difference::expected>("expected", "its value after plain launches"),
    required<&Difference::found>("found", "its value after this run"),
};
template <>
constinit const Record Description<Difference>::record = record_of<Difference>(difference_fields);

constexpr Field parity_fields[] = {
    required<&OutputParity::checked>(
        "checked", "output buffers that were compared byte for byte; lists of hits in any order"),
    required<&OutputParity::equal>("equal", "whether all of them were equal"),
    optional<&OutputParity::first_difference>("first_difference", "first difference"),
    required<&OutputParity::differing_elements>("differing_elements", "number of elements that differ"),
    optional<&OutputParity::largest_difference_ulp>(
        "largest_difference_ulp",
        "largest difference in units in the last place, if only finite floats differ"),
    optional<&OutputParity::likely_cause>(
        "likely_cause",
        "race: plain launches do not repeat their outputs either; order: this run does not repeat its "
        "outputs; rounding: the compiler rounds floats differently in the two kernels; item_order: the outputs "
        "depend on the order of published items"),
};
template <>
constinit const Record Description<OutputParity>::record = record_of<OutputParity>(parity_fields);

constexpr Field expected_fields[] = {
    required<&ExpectedReport::buffer>("buffer", "name of the buffer"),
    required<&ExpectedReport::file>("file", "file of the reference"),
    required<&ExpectedReport::rtol>("rtol", "as stated"),
    required<&ExpectedReport::atol>("atol", "as stated"),
    required<&ExpectedReport::equal>("equal", "whether no element is outside of the tolerances"),
    required<&ExpectedReport::elements>("elements", "elements that were compared"),
    required<&ExpectedReport::outside>("outside", "elements outside of the tolerances"),
    optional<&ExpectedReport::worst>(
        "worst",
        "element that exceeds its tolerance most, or comes nearest to it; left out if all are equal"),
};
template <>
constinit const Record Description<ExpectedReport>::record = record_of<ExpectedReport>(expected_fields);

constexpr Field stress_runs_fields[] = {
    required<&StressRuns::kind>(
        "kind",
        "wave_order: plain launches in another order that the dependencies allow; launch, barrier, "
        "counters: this strategy, with tiles in another order, late work-groups and other numbers of them"),
    required<&StressRuns::runs>("runs", "number of runs"),
};
template <>
constinit const Record Description<StressRuns>::record = record_of<StressRuns>(stress_runs_fields);

constexpr Field stress_failure_fields[] = {
    required<&StressFailure::seed>("seed", "--stress 1 --set stress-seed=N repeats the run with this number"),
    required<&StressFailure::kind>("kind", "kind of the run"),
    required<&StressFailure::variation>("variation", "the run, for people"),
    required<&StressFailure::status>("status", "outputs_differ, or the status with which the run ended"),
    optional<&StressFailure::difference>("difference",
                                         "comparison with plain launches in the program's order"),
    required<&StressFailure::waves>("waves", "names of the waves that are concerned"),
    required<&StressFailure::order_decides>(
        "order_decides",
        "whether these are two waves whose order alone makes the difference; otherwise they write "
        "the buffer that differs"),
};
template <>
constinit const Record Description<StressFailure>::record = record_of<StressFailure>(stress_failure_fields);

constexpr Field stress_fields[] = {
    required<&StressReport::runs>("runs", "runs that were requested"),
    required<&StressReport::seed>("seed", "seed of the first run; each further one adds 1"),
    required<&StressReport::in_time>("in_time", "whether the wall time sufficed"),
    required<&StressReport::completed>("completed", "completed runs by kind"),
    optional<&StressReport::failure>("failure", "first run whose outputs differ; no run follows it"),
};
template <>
constinit const Record Description<StressReport>::record = record_of<StressReport>(stress_fields);

constexpr Field candidate_fields[] = {
    required<&CandidateReport::strategy>("strategy", "launch strategy"),
    required<&CandidateReport::side_by_side>("side_by_side",
                                             "most tiles that a work-group runs concurrently"),
    required<&CandidateReport::workgroup_size>("workgroup_size",
                                               "work-items of a generated kernel's work-group"),
    required<&CandidateReport::worker_groups>("worker_groups",
                                              "work-groups of a persistent launch; 0 for launches"),
    optional<&CandidateReport::mapping>("order", "tile mapping of a persistent launch"),
    required<&CandidateReport::estimated_ns>("estimated_ns",
                                             "time of a dispatch, as estimated by the cost model"),
    required<&CandidateReport::estimated_parts_ns>("estimated_parts_ns", "parts of that estimate"),
    required<&CandidateReport::taken>("taken", "whether the program runs this way"),
    optional<&CandidateReport::measured_ns>(
        "measured_ns", "measured time of the chosen dispatch; with --compare the median"),
    optional<&CandidateReport::refused>("refused", "why it may not be chosen"),
};
template <>
constinit const Record Description<CandidateReport>::record = record_of<CandidateReport>(candidate_fields);

constexpr Field tried_fields[] = {
    required<&TriedWay::knob>("knob", "changed setting"),
    required<&TriedWay::value>("value", "its new value"),
    optional<&TriedWay::ratio>("ratio",
                               "its time divided by that of the previous best; left out if it was not timed"),
    required<&TriedWay::taken>("taken",
                               "whether it was adopted because it was faster with the required confidence"),
    required<&TriedWay::thrown_out>("thrown_out", "why it was rejected, or empty"),
};
template <>
constinit const Record Description<TriedWay>::record = record_of<TriedWay>(tried_fields);

constexpr Field first_run_fields[] = {
    required<&FirstRun::compared>("compared",
                                  "whether the chosen way was compared with plain launches, or the "
                                  "result of a frontier program with the serial algorithm's"),
    required<&FirstRun::equal>("equal",
                               "whether what runs was equal: byte for byte; ranks within their rounding"),
    required<&FirstRun::measured>("measured", "whether candidates were timed"),
    required<&FirstRun::kept>(
        "kept",
        "whether later runs reuse the choice; else, with a cache, the next run goes on with what was built"),
    required<&FirstRun::reason>(
        "reason", "reason of the choice; for a frontier program, what was compared or why it was not"),
    required<&FirstRun::iterations>(
        "iterations",
        "iterations (waves of a frontier program) that each candidate ran; 0 if nothing was compared"),
    required<&FirstRun::budget_ns>("budget_ns", "longest time for comparing and timing"),
    required<&FirstRun::elapsed_ns>("elapsed_ns", "time that it took; for a wave program including builds"),
    required<&FirstRun::runs>("runs", "total dispatches of the program"),
    optional<&FirstRun::plain_ns>("plain_ns", "median of a dispatch as plain launches"),
    optional<&FirstRun::taken_ns>("taken_ns", "time of the adopted way, from the measured ratios"),
    required<&FirstRun::tried>("tried", "every configuration that was tried"),
    optional<&FirstRun::difference>("difference",
                                    "how a candidate's outputs differed from those of plain launches"),
    optional<&FirstRun::difference_file>(
        "difference_file", "file with program, sources, kernel and difference, for a bug report"),
};
template <>
constinit const Record Description<FirstRun>::record = record_of<FirstRun>(first_run_fields);

constexpr Field comparison_fields[] = {
    required<&Comparison::rounds>("rounds", "number of alternating timings of both ways"),
    required<&Comparison::plain_ns>("plain_ns", "median of the plain launches, one per wave"),
    required<&Comparison::plain_min_ns>("plain_min_ns", "fastest round of the plain launches"),
    required<&Comparison::plain_max_ns>("plain_max_ns", "slowest round of the plain launches"),
    required<&Comparison::run_ns>("run_ns", "median of this run's dispatch"),
    required<&Comparison::run_min_ns>("run_min_ns", "fastest round of this run"),
    required<&Comparison::run_max_ns>("run_max_ns", "slowest round of this run"),
    required<&Comparison::speedup>(
        "speedup", "median over the rounds of the plain launches' time divided by this run's"),
    required<&Comparison::speedup_low>(
        "speedup_low", "lower end of the interval that holds the true median with 95 % confidence"),
    required<&Comparison::speedup_high>("speedup_high", "upper end of that interval"),
    required<&Comparison::verdict>(
        "verdict",
        "faster or slower than plain launches if the interval leaves out 1; same_launches: the run "
        "is the same launches, and what differs is chance; too_few_rounds: fewer than six, so the "
        "interval is the range of all rounds"),
    required<&Comparison::plain_rounds_ns>("plain_rounds_ns", "every round of the plain launches"),
    required<&Comparison::run_rounds_ns>("run_rounds_ns", "every round of this run"),
    required<&Comparison::plain_outliers>(
        "plain_outliers",
        "rounds, from 0, in which the plain launches took far longer or shorter than usual"),
    required<&Comparison::run_outliers>("run_outliers", "rounds in which this run did"),
};
template <>
constinit const Record Description<Comparison>::record = record_of<Comparison>(comparison_fields);

constexpr Field baseline_fields[] = {
    required<&BaselineReport::file>("file", "report of the earlier run"),
    required<&BaselineReport::rounds>("rounds", "timings of the earlier run"),
    required<&BaselineReport::run_ns>("run_ns", "their median"),
    required<&BaselineReport::speedup>("speedup",
                                       "median of all ratios of an earlier time and one of this run"),
    required<&BaselineReport::speedup_low>(
        "speedup_low", "lower end of the interval that holds the true ratio with 95 % confidence"),
    required<&BaselineReport::speedup_high>("speedup_high", "upper end of that interval"),
    required<&BaselineReport::verdict>("verdict",
                                       "faster or slower than the earlier run if the interval leaves out 1"),
};
template <>
constinit const Record Description<BaselineReport>::record = record_of<BaselineReport>(baseline_fields);

constexpr Field stuck_fields[] = {
    required<&StuckGroup::group>("group", "the work-group"),
    required<&StuckGroup::iteration>("iteration", "counted from 0"),
    required<&StuckGroup::stage>("stage", "shared stage of the iteration that it was about to start"),
    required<&StuckGroup::waves>("waves", "the waves of that stage"),
    required<&StuckGroup::tile>("tile", "its first tile of the stage"),
    required<&StuckGroup::counter>(
        "counter", "the counter that it polled: arrivals at the barrier, or the progress of another group"),
    required<&StuckGroup::expected>("expected", "value that it waited for"),
    required<&StuckGroup::seen>("seen", "value that it read"),
};
template <>
constinit const Record Description<StuckGroup>::record = record_of<StuckGroup>(stuck_fields);

constexpr Field violation_fields[] = {
    required<&BoundsViolation::wave>("wave", "wave that wrote"),
    required<&BoundsViolation::iteration>("iteration", "its iteration, counted from 0"),
    required<&BoundsViolation::buffer>("buffer", "buffer next to the written bytes"),
    required<&BoundsViolation::side>("side",
                                     "before: in front of its first byte; behind: after its last byte"),
    required<&BoundsViolation::distance_bytes>(
        "distance_bytes",
        "distance of the nearest changed byte: 0 is the first byte after, 1 the last byte before the buffer"),
};
template <>
constinit const Record Description<BoundsViolation>::record = record_of<BoundsViolation>(violation_fields);

constexpr Field finding_fields[] = {
    required<&SimulatorFinding::message>("message", "message of Oclgrind"),
    required<&SimulatorFinding::kernel>("kernel", "the kernel"),
    required<&SimulatorFinding::work_item>("work_item", "first work-item with the access"),
    required<&SimulatorFinding::file>("file", "the source"),
    required<&SimulatorFinding::line>("line", "its line; 0 if it is unknown"),
};
template <>
constinit const Record Description<SimulatorFinding>::record = record_of<SimulatorFinding>(finding_fields);

constexpr Field bounds_fields[] = {
    required<&BoundsReport::guard_bytes>("guard_bytes", "guard on each side of each buffer; 0 in Oclgrind"),
    required<&BoundsReport::checked_waves>("checked_waves", "launches after which the guards were checked"),
    required<&BoundsReport::complete>("complete",
                                      "whether the program finished in time, or reached a violation"),
    required<&BoundsReport::violations>("violations", "writes of the last wave outside buffers"),
    required<&BoundsReport::simulator>("simulator", "Oclgrind's runtime; empty if it is not installed"),
    required<&BoundsReport::findings>("findings", "findings of Oclgrind, one for each kernel, line and kind"),
};
template <>
constinit const Record Description<BoundsReport>::record = record_of<BoundsReport>(bounds_fields);

constexpr Field until_report_fields[] = {
    required<&UntilReport::buffer>("buffer", "the buffer whose element 0 ends the repetition"),
    required<&UntilReport::waiting_for>("waiting_for", "the value that ends it"),
    required<&UntilReport::value>("value", "the value after the last iteration"),
    required<&UntilReport::reached>("reached", "whether it is the value that ends the repetition"),
};
template <>
constinit const Record Description<UntilReport>::record = record_of<UntilReport>(until_report_fields);

constexpr Field trace_fields[] = {
    required<&TraceReport::file>("file", "the timeline, in the Trace Event Format"),
    required<&TraceReport::clock>(
        "clock", "the device's clock that work-groups read; none: the file has only launches"),
    required<&TraceReport::spans>("spans", "recorded spans"),
    required<&TraceReport::left_out_spans>("left_out_spans", "spans that did not fit"),
};
template <>
constinit const Record Description<TraceReport>::record = record_of<TraceReport>(trace_fields);

constexpr Field wave_time_fields[] = {
    required<&WaveTime::waves>("waves", "the wave, or waves that ran as one task"),
    required<&WaveTime::executions>("executions", "how often it ran"),
    required<&WaveTime::time_ns>("time_ns", "from first start to last end, of all executions"),
    required<&WaveTime::work_ns>("work_ns", "that all work-groups worked"),
    required<&WaveTime::wait_ns>("wait_ns", "that all work-groups waited for others before it"),
    required<&WaveTime::buffer_bytes>(
        "buffer_bytes", "bytes of the buffers that an execution reads and of those that it writes"),
    required<&WaveTime::critical_ns>("critical_ns", "its part of the critical path"),
};
template <>
constinit const Record Description<WaveTime>::record = record_of<WaveTime>(wave_time_fields);

constexpr Field wave_times_fields[] = {
    required<&WaveTimes::critical_path_ns>(
        "critical_path_ns", "from the task that ended last back to the first, each time to the task "
                            "that it waited for longest"),
    required<&WaveTimes::synchronization_ns>(
        "synchronization_ns", "part of the critical path between tasks: signals, barriers, launches"),
    required<&WaveTimes::device_bytes_per_ns>("device_bytes_per_ns",
                                              "memory rate of the device's self-test; 0 if unknown"),
    required<&WaveTimes::waves>("waves", "the longest part of the critical path first"),
};
template <>
constinit const Record Description<WaveTimes>::record = record_of<WaveTimes>(wave_times_fields);

constexpr Field warning_fields[] = {
    required<&Warning::message>("message", "likely mistake in the program"),
    required<&Warning::fix>("fix", "what to change"),
    required<&Warning::pointer>("pointer", "location in the program (RFC 6901)"),
};
template <>
constinit const Record Description<Warning>::record = record_of<Warning>(warning_fields);

constexpr Field written_file_fields[] = {
    required<&WrittenFile::file>("file", "its path"),
    required<&WrittenFile::what>(
        "what", "its content: a buffer, an image, a result, the generated kernel, the trace or the page"),
    required<&WrittenFile::bytes>("bytes", "its size"),
};
template <>
constinit const Record Description<WrittenFile>::record = record_of<WrittenFile>(written_file_fields);

constexpr Field fallback_fields[] = {
    required<&FallbackReport::wave>("wave", "the wave"),
    required<&FallbackReport::reason>("reason", "why it is launched alone"),
};
template <>
constinit const Record Description<FallbackReport>::record = record_of<FallbackReport>(fallback_fields);

constexpr Field hit_rule_fields[] = {
    required<&HitCapacityRule::items>("items", "tiles and items of queues of the whole run"),
    required<&HitCapacityRule::expected_hits_per_item>("expected_hits_per_item", "as the program states it"),
    required<&HitCapacityRule::multiplier>("multiplier",
                                           "the policy's hit_capacity_multiplier; 1 where memory is short"),
    required<&HitCapacityRule::least>("least", "the policy's min_hit_capacity"),
};
template <>
constinit const Record Description<HitCapacityRule>::record = record_of<HitCapacityRule>(hit_rule_fields);

constexpr Field hits_report_fields[] = {
    required<&HitsReport::list>("list", "its name"),
    required<&HitsReport::capacity>("capacity", "hits that have room"),
    optional<&HitsReport::rule>(
        "rule", "numbers that the capacity is derived from: the product of the first three, and at least the "
                "last; left out if the program states it"),
    required<&HitsReport::on_overflow>("on_overflow", "what the program says about hits without room"),
    required<&HitsReport::sorted>("sorted", "whether the output is sorted; otherwise its order may change"),
    optional<&HitsReport::hits>("hits",
                                "hits that were appended, as the device counted them; left out, as are "
                                "the next two, if the run was not done"),
    optional<&HitsReport::dropped>("dropped", "hits of these without room"),
    optional<&HitsReport::needed_capacity>("needed_capacity", "capacity with room for all of them"),
    optional<&HitsReport::grown_from>(
        "grown_from", "first capacity, if the program ran again; the counts are those of the last run"),
};
template <>
constinit const Record Description<HitsReport>::record = record_of<HitsReport>(hits_report_fields);

constexpr Field active_choice_fields[] = {
    required<&ActiveChoice::iteration>("iteration", "counted from 0"),
    required<&ActiveChoice::active_tiles>("active_tiles", "tiles whose flag was set"),
    required<&ActiveChoice::density_bps>("density_bps", "their share of the wave's tiles"),
    required<&ActiveChoice::previous_topology>(
        "previous_topology", "topology of the iteration before; empty: there was none, or nothing to run"),
    required<&ActiveChoice::topology>("topology", "topology by the rules of the launch policy"),
    required<&ActiveChoice::rule>("rule", "rule that chose it"),
    required<&ActiveChoice::threshold>("threshold", "bps that the rule compared with"),
    required<&ActiveChoice::walk>(
        "walk", "tiles that were gone over: none, those of a list, those of a list of blocks of 8, all"),
};
template <>
constinit const Record Description<ActiveChoice>::record = record_of<ActiveChoice>(active_choice_fields);

constexpr Field active_report_fields[] = {
    required<&ActiveReport::wave>("wave", "index of the wave"),
    required<&ActiveReport::flags>("flags", "buffer of its flags"),
    required<&ActiveReport::tiles>("tiles", "its work-groups"),
    required<&ActiveReport::pressure_bps>("pressure_bps", "memory of the program divided by its budget"),
    required<&ActiveReport::sparse_bps>("sparse_bps", "the policy's sparse_frontier_threshold_bps"),
    required<&ActiveReport::dense_bps>("dense_bps", "the policy's dense_frontier_threshold_bps"),
    required<&ActiveReport::memory_bps>("memory_bps", "the policy's memory_pressure_threshold_bps"),
    required<&ActiveReport::chosen_by_device>(
        "chosen_by_device", "whether the device chose, as persistent launches with barriers do; "
                            "otherwise all tiles were gone over, and topologies are recommendations"),
    required<&ActiveReport::iterations>("iterations", "how often it ran"),
    required<&ActiveReport::active_tiles>("active_tiles", "tiles whose flag was set, in all iterations"),
    required<&ActiveReport::choices>("choices", "the last 255 iterations"),
    required<&ActiveReport::reproduced>("reproduced",
                                        "choices, from the first one on, that the host makes as well"),
};
template <>
constinit const Record Description<ActiveReport>::record = record_of<ActiveReport>(active_report_fields);

constexpr Field queue_fault_fields[] = {
    optional<&QueueFaultReport::item>(
        "item", "first item that failed, counted from 0 in the given order; left out if ops publish items"),
    required<&QueueFaultReport::op>("op", "op that ran it"),
    required<&QueueFaultReport::code>("code", "its argument of TIDEGATE_FAULT"),
    optional<&QueueFaultReport::param>("param", "the item's param, if ops publish items"),
};
template <>
constinit const Record
    Description<QueueFaultReport>::record = record_of<QueueFaultReport>(queue_fault_fields);

constexpr Field publishing_fields[] = {
    required<&PublishingReport::given_items>("given_items", "items that the iterations began with"),
    required<&PublishingReport::published_items>("published_items", "items that ops have published"),
    required<&PublishingReport::executed_items>("executed_items", "items that were completed"),
    required<&PublishingReport::deduped_items>("deduped_items",
                                               "items of pure ops that were not published again"),
    required<&PublishingReport::capacity>("capacity", "items that the queue can hold"),
    required<&PublishingReport::needed_capacity>(
        "needed_capacity",
        "the most items that it had to hold: running and waiting, or different ones of pure ops"),
};
template <>
constinit const Record Description<PublishingReport>::record = record_of<PublishingReport>(publishing_fields);

constexpr Field queue_report_fields[] = {
    required<&QueueReport::wave>("wave", "the wave"),
    required<&QueueReport::items>("items", "given items"),
    required<&QueueReport::deduped_items>("deduped_items", "items of pure ops that were identical to others"),
    required<&QueueReport::published_items>("published_items", "items that were sent to the device"),
    required<&QueueReport::items_processed>("items_processed",
                                            "items that were completed, in all iterations"),
    required<&QueueReport::items_remaining>("items_remaining", "items that were not completed, likewise"),
    required<&QueueReport::requeues>("requeues", "whether its ops can requeue items"),
    required<&QueueReport::rounds>("rounds", "rounds of all iterations; 0 if no op requeues or publishes"),
    required<&QueueReport::requeue_count>("requeue_count", "requeues of all items"),
    required<&QueueReport::aged_promotions>("aged_promotions",
                                            "runs of items ahead of their priority because of their age"),
    required<&QueueReport::max_priority_age>("max_priority_age", "longest wait of an item, in rounds"),
    optional<&QueueReport::fault>("fault", "the item that failed"),
    optional<&QueueReport::publishing>("publishing",
                                       "items of all iterations as the device counted them, if ops publish"),
};
template <>
constinit const Record Description<QueueReport>::record = record_of<QueueReport>(queue_report_fields);

constexpr Field run_geometry_fields[] = {
    required<&Geometry::workgroup_size>("workgroup_size", "work-items of a work-group"),
    required<&Geometry::worker_groups>("worker_groups", "work-groups of a persistent launch; 0 without one"),
};
template <>
constinit const Record Description<Geometry>::record = record_of<Geometry>(run_geometry_fields);

constexpr Field offset_fields[] = {
    required<&BufferOffset::buffer>("buffer", "name of the buffer"),
    required<&BufferOffset::offset>("offset", "offset in the arena, in bytes"),
};
template <>
constinit const Record Description<BufferOffset>::record = record_of<BufferOffset>(offset_fields);

constexpr Field run_memory_fields[] = {
    required<&MemoryReport::arena_bytes>("arena_bytes", "device memory of all buffers"),
    required<&MemoryReport::image_bytes>("image_bytes", "device memory of all images, outside the arena"),
    required<&MemoryReport::sum_bytes>("sum_bytes", "memory of all buffers without sharing"),
    required<&MemoryReport::lower_bound_bytes>("lower_bound_bytes", "proved lower bound of the arena"),
    required<&MemoryReport::optimal>("optimal", "whether it is proved that no arena is smaller"),
    required<&MemoryReport::table_bytes>("table_bytes",
                                         "memory of descriptors and counters, outside the arena"),
    required<&MemoryReport::offsets>("offsets", "offset of every buffer"),
};
template <>
constinit const Record Description<MemoryReport>::record = record_of<MemoryReport>(run_memory_fields);

constexpr Field telemetry_fields[] = {
    required<&Telemetry::bytes_uploaded>(
        "bytes_uploaded", "bytes written to the device, from the first upload to the last read-back"),
    required<&Telemetry::bytes_read_back>("bytes_read_back", "bytes read from it, by all reads in that time"),
    required<&Telemetry::bytes_moved>("bytes_moved", "sum of both"),
    required<&Telemetry::resident_allocations>("resident_allocations",
                                               "buffers and images that the run had on the device"),
    required<&Telemetry::kernel_launches>("kernel_launches", "kernel launches of the dispatch"),
    required<&Telemetry::filling_launches>("filling_launches",
                                           "kernel launches before, that prepared device memory"),
    required<&Telemetry::recorded_launches>("recorded_launches",
                                            "launches of these that were enqueued as command buffers"),
    required<&Telemetry::sync_points>(
        "sync_points", "calls in which the host waited for the device: every wait, and every read or write "
                       "that returns when it is done"),
    required<&Telemetry::occupancy_proxy_bps>(
        "occupancy_proxy_bps",
        "lanes that had an item, divided by those that could run at once, over the turns of all stages of a persistent "
        "launch, or the waves of a traversal; 0 without a persistent launch"),
    required<&Telemetry::frontier_density_bps>(
        "frontier_density_bps",
        "active tiles divided by all tiles of waves that name them; 10000 if no wave does; of a traversal the widest frontier's vertices"),
    required<&Telemetry::readback_buffers>("readback_buffers", "results that were read back"),
    required<&Telemetry::compiled_pipeline_cache_hit>("compiled_pipeline_cache_hit",
                                                      "whether the generated kernel came from the cache"),
    required<&Telemetry::resident_input_cache_hit>(
        "resident_input_cache_hit",
        "whether the device had all inputs from earlier requests of a stream, and none was read or uploaded"),
    required<&Telemetry::topology>("topology", "the policy's topology"),
    required<&Telemetry::pressure>("pressure", "the policy's queue pressure"),
    required<&Telemetry::execution_mode>("execution_mode", "the mode that was run"),
    required<&Telemetry::hit_capacity>("hit_capacity", "the policy's hit capacity"),
    required<&Telemetry::estimated_peak_device_bytes>("estimated_peak_device_bytes", "the policy's estimate"),
    required<&Telemetry::device_memory_budget_bytes>("device_memory_budget_bytes", "the budget; 0: none"),
};
template <>
constinit const Record Description<Telemetry>::record = record_of<Telemetry>(telemetry_fields);

constexpr Field halo_violation_fields[] = {
    required<&HaloViolation::wave>("wave", "name or number of the wave that reaches beyond the halo"),
    required<&HaloViolation::op>("op", "its op"),
    required<&HaloViolation::argument>("argument", "index of the wave's argument, counted from 0"),
    required<&HaloViolation::parameter>("parameter", "name of the kernel's parameter"),
    required<&HaloViolation::buffer>("buffer", "buffer of the argument"),
    required<&HaloViolation::iteration>("iteration", "counted from 0"),
    required<&HaloViolation::writes>("writes", "whether the access writes"),
    required<&HaloViolation::subscript>("subscript", "subscript in the kernel"),
    required<&HaloViolation::dimension>("dimension", "dimension of the violation: 0 is x"),
    required<&HaloViolation::tile>("tile", "tile of the wave, in this dimension"),
    required<&HaloViolation::tiles>("tiles", "tile of the wave, in all dimensions"),
    required<&HaloViolation::before>("before", "the earlier wave of the dependency"),
    required<&HaloViolation::before_tile>(
        "before_tile", "tile of the earlier wave that accessed the element, in this dimension"),
    required<&HaloViolation::first_allowed>("first_allowed",
                                            "first tile of the earlier wave that the halo allows"),
    required<&HaloViolation::last_allowed>("last_allowed", "last tile that it allows"),
};
template <>
constinit const Record Description<HaloViolation>::record = record_of<HaloViolation>(halo_violation_fields);

constexpr Field unwatched_fields[] = {
    required<&UnwatchedAccess::kernel>("kernel", "its name"),
    required<&UnwatchedAccess::parameter>("parameter", "the pointer's name"),
    required<&UnwatchedAccess::file>("file", "source file"),
    required<&UnwatchedAccess::line>("line", "counted from 1"),
};
template <>
constinit const Record Description<UnwatchedAccess>::record = record_of<UnwatchedAccess>(unwatched_fields);

constexpr Field halo_fields[] = {
    required<&HaloReport::stated_halos>(
        "stated_halos", "pairs of arguments with a stated halo that access the same memory: of "
                        "an earlier and a later wave, or of a wave and its next iteration"),
    required<&HaloReport::looked_at>("looked_at", "halos of these for which an access was checked"),
    required<&HaloReport::checked_waves>("checked_waves", "number of waves that ran"),
    required<&HaloReport::complete>("complete", "whether the program finished, or reached a violation"),
    optional<&HaloReport::violation>("violation", "first access beyond a halo"),
    required<&HaloReport::unwatched>("unwatched",
                                     "uses of pointers that are not subscripts and were not checked"),
};
template <>
constinit const Record Description<HaloReport>::record = record_of<HaloReport>(halo_fields);

constexpr Field window_fields[] = {
    required<&WindowReport::waves>("waves", "in the order in which each tile ran them"),
    required<&WindowReport::meetings>(
        "meetings", "barriers of a tile between two of the waves, where values pass between work-items"),
    required<&WindowReport::register_buffers>("register_buffers", "buffers that exist only in registers"),
};
template <>
constinit const Record Description<WindowReport>::record = record_of<WindowReport>(window_fields);

constexpr Field hot_op_fields[] = {
    required<&HotOpReport::op>("op", "its name, or those of a window's ops"),
    required<&HotOpReport::tiles>("tiles", "tiles of all iterations"),
};
template <>
constinit const Record Description<HotOpReport>::record = record_of<HotOpReport>(hot_op_fields);

constexpr Field promotion_fields[] = {
    required<&PromotionReport::promoted>("promoted", "promotions: none, windows, opcodes or all"),
    required<&PromotionReport::reason>("reason", "reason of the decision"),
    required<&PromotionReport::windows>("windows", "waves that ran as one"),
    required<&PromotionReport::ops>(
        "ops", "hot ops, which have separate cases that are tested first; the hottest first"),
};
template <>
constinit const Record Description<PromotionReport>::record = record_of<PromotionReport>(promotion_fields);

using ReportedFields = HeadFields<RunReportDocument, &RunReportDocument::report>;
constexpr ReportedFields run_head;

// A field of the report inside its document.
template <auto Member>
constexpr Field reported(std::string_view name, std::string_view meaning) {
  return ReportedFields::of<Member>(name, meaning);
}

constexpr Field run_report_fields[] = {
    run_head.id,
    run_head.status,
    run_head.error,
    run_head.device,
    run_head.strategy,
    run_head.strategy_reason,
    reported<&RunReport::mode>("execution_mode", "mode of the generated kernel"),
    reported<&RunReport::mode_reason>("mode_reason", "reason of the mode"),
    reported<&RunReport::promotion>("promotion",
                                    "promoted waves and ops; the policy's reasons are in the evidence"),
    reported<&RunReport::candidates>(
        "candidates", "every launch plan with its estimated time; left out if the device was not measured"),
    reported<&RunReport::first_run>("first_run",
                                    "how the launch plan was chosen; left out if the command line fixes it"),
    run_head.ordering,
    run_head.items_processed,
    reported<&RunReport::items_remaining>("items_remaining",
                                          "items that were not completed, with those of queues"),
    reported<&RunReport::items_in_all>("items_in_all", "items of the whole run, completed or not; until may "
                                                       "end it before"),
    reported<&RunReport::iterations>("iterations", "completed iterations"),
    reported<&RunReport::until>("until", "condition that ends the repetition, and its last value"),
    reported<&RunReport::converged>("converged", "whether until was reached; left out without one"),
    run_head.warnings,
    run_head.wall_time_ns,
    run_head.queue_plan_ns,
    run_head.queue_publish_ns,
    reported<&RunReport::upload_ns>(
        "upload_ns", "part of queue_publish_ns: uploading first contents of buffers and images"),
    run_head.build_ns,
    reported<&RunReport::dispatch_ns>("backend_dispatch_ns",
                                      "time from the first launch to the end of the last"),
    run_head.read_back_ns,
    run_head.lineage_ns,
    run_head.published_items,
    run_head.deduped_items,
    run_head.lineage_items,
    run_head.lineage_iterations,
    run_head.region_lineage,
    reported<&RunReport::output_parity>("output_parity", "with --verify: comparison with plain launches"),
    reported<&RunReport::expected>("expected", "outputs next to the references that the program expects"),
    reported<&RunReport::stress>("stress", "with --stress: runs in other orders"),
    reported<&RunReport::comparison>("comparison", "with --compare: times of both"),
    reported<&RunReport::baseline>("baseline", "with --baseline: times next to those of an earlier report"),
    reported<&RunReport::bounds>("bounds", "with --check-bounds: accesses outside buffers"),
    reported<&RunReport::halos>("halos", "with --check-halos: accesses beyond stated halos"),
    run_head.profile_file,
    run_head.policy_file,
    run_head.files_written,
    run_head.stuck_groups,
    reported<&RunReport::fallbacks>("fallbacks", "waves that cannot share a launch"),
    reported<&RunReport::hits>("hits", "lists of hits; left out without one"),
    reported<&RunReport::active>("active", "waves with active tiles; left out without one"),
    reported<&RunReport::queues>("queues", "waves of work items"),
    reported<&RunReport::priority>("priority", "requeue accounting of all queues, and whether to read it out "
                                               "and reset it now"),
    reported<&RunReport::assumed_macros>(
        "assumed_macros",
        "without a device: macros on which the sources depend, assumed to be as in OpenCL C 3.0 "
        "or else undefined"),
    run_head.recommended_geometry,
    reported<&RunReport::geometry>("effective_geometry", "geometry of the launches"),
    reported<&RunReport::memory>("memory", "the arena"),
    required<&RunReportDocument::plan>("plan", "the groups of waves"),
    reported<&RunReport::recommendation>("recommendation", "recommendation of the launch policy"),
    required<&RunReportDocument::evidence>("evidence", "evidence of the recommendation"),
    run_head.telemetry,
    run_head.slices_ns,
    reported<&RunReport::trace>("trace", "with --trace: content of its file"),
    reported<&RunReport::wave_times>("wave_times",
                                     "with --by-wave, --trace or --report: where the time went, by wave"),
};
template <>
constinit const Record
    Description<RunReportDocument>::record = record_of<RunReportDocument>(run_report_fields);

template <>
constinit const Document DocumentOf<RunReportDocument>::document = document_of<RunReportDocument>(
    "run_report", "Results and times of a run, and what was checked", Direction::output);

} // namespace tidegate::documents
