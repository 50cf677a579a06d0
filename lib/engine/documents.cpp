#include "engine/documents.hpp"

#include "device/documents.hpp"
#include <tidegate/policy/documents.hpp>

#include <utility>

namespace tidegate::documents {

template <>
struct Description<StreamError> {
  static const Record record;
};
template <>
struct Description<CheckedDocument> {
  static const Record record;
};
template <>
struct Description<CheckReport> {
  static const Record record;
};
template <>
struct Description<SchemaEntry> {
  static const Record record;
};
template <>
struct Description<SchemaList> {
  static const Record record;
};
template <>
struct Description<VersionOfDevice> {
  static const Record record;
};
template <>
struct Description<VersionReport> {
  static const Record record;
};

namespace {

constexpr Field error_fields[] = {
    required<&Error::code>("code", "stable name of the error"),
    required<&Error::message>("message", "what happened, in words"),
    required<&Error::fix>("fix", "what to change"),
    optional<&Error::source>("source", "the file that the place is in"),
    optional<&Error::pointer>("pointer", "the place, as an RFC 6901 pointer into the input"),
    optional<&Error::line>("line", "the place, counted from 1"),
    optional<&Error::column>("column", "the place in its line, in characters counted from 1"),
    optional<&Error::excerpt>("excerpt", "that line of the source"),
    optional<&Error::field>("field", "the field that overflowed, is out of range, is missing or is unknown"),
    optional<&Error::nearest>("nearest", "the known name closest to an unknown one"),
    optional<&Error::requested>("requested", "bytes that were asked for"),
    optional<&Error::available>("available", "bytes that the budget allows"),
    optional<&Error::wave>("wave", "index of the wave that depends on itself"),
    optional<&Error::wave_count>("wave_count", "waves of the DAG"),
    optional<&Error::before>("before", "wave that the dependency at fault starts from"),
    optional<&Error::after>("after", "wave that the dependency at fault leads to"),
    optional<&Error::unscheduled_waves>("unscheduled_waves", "waves on a cycle or behind one"),
    optional<&Error::cycle>("cycle", "one cycle: each wave before the next, the last before the first"),
    optional<&Error::required_bytes>("required_bytes", "bytes that are needed at least"),
    optional<&Error::budget_bytes>("budget_bytes", "bytes that are left for them"),
    optional<&Error::capacity_bytes>("capacity_bytes", "bytes that the arena may have"),
    optional<&Error::best_height_bytes>("best_height_bytes", "bytes of the lowest arena found"),
    optional<&Error::log>("log", "what the compiler of a driver said, line by line"),
};

constexpr Field stream_error_fields[] = {
    required<&StreamError::error>("error", "why the line has no answer"),
    required<&StreamError::line>("line", "line of the input stream, counted from 1"),
};

constexpr Field checked_fields[] = {
    required<&CheckedDocument::file>("file", "path, or - for standard input"),
    optional<&CheckedDocument::line>("line", "line of a stream, counted from 1"),
    optional<&CheckedDocument::document>("document", "kind of the document, once known"),
    required<&CheckedDocument::verdict>("verdict", "valid, or what is wrong"),
    optional<&CheckedDocument::error>("error", "why it is not valid"),
    optional<&CheckedDocument::others>("others", "what else is wrong with it, in its order"),
    optional<&CheckedDocument::warnings>("warnings", "what a valid program most likely does not mean"),
};

constexpr Field check_report_fields[] = {
    required<&CheckReport::checked>("checked", "documents looked at"),
    required<&CheckReport::valid>("valid", "documents without a fault"),
    required<&CheckReport::failed>("failed", "the others"),
    required<&CheckReport::documents>("documents", "every document with its verdict"),
};

constexpr Field schema_entry_fields[] = {
    required<&SchemaEntry::name>("name", "kind of the document"),
    required<&SchemaEntry::title>("title", "what it holds"),
    required<&SchemaEntry::direction>("direction", "input or output of the tool"),
    required<&SchemaEntry::id>("id", "$id of its JSON Schema"),
};

constexpr Field schema_list_fields[] = {
    required<&SchemaList::schemas>("schemas", "every document type that the tool reads or writes"),
};

constexpr Field version_of_device_fields[] = {
    required<&VersionOfDevice::name>("name", "name, in the driver's words"),
    required<&VersionOfDevice::platform>("platform", "OpenCL platform that it belongs to"),
    required<&VersionOfDevice::opencl_version>("opencl_version", "what it offers, in the driver's words"),
    required<&VersionOfDevice::driver_version>("driver_version", "version of its driver"),
};

constexpr Field version_fields[] = {
    required<&VersionReport::tidegate>("tidegate", "version of the tool"),
    required<&VersionReport::build_type>("build_type", "CMake build type"),
    required<&VersionReport::compiler>("compiler", "compiler that built it"),
    required<&VersionReport::cli11>("cli11", "version of CLI11"),
    required<&VersionReport::rapidjson>("rapidjson", "version of RapidJSON"),
    required<&VersionReport::nlohmann_json>("nlohmann_json", "version of nlohmann_json"),
    required<&VersionReport::fmt>("fmt", "version of {fmt}"),
    required<&VersionReport::opencl_loader>("opencl_loader", "the OpenCL ICD loader"),
    required<&VersionReport::system>("system", "distribution, kernel and architecture"),
    required<&VersionReport::devices>("devices", "every OpenCL device"),
    required<&VersionReport::notes>("notes", "drivers that cannot be used, and platforms without devices"),
    required<&VersionReport::environment>("environment", "variables that change how it runs, as NAME=value"),
};

} // namespace

std::optional<std::vector<Error>> take_others(Error& error) {
  std::vector<Error> others = std::exchange(error.others, {});
  return others.empty() ? std::nullopt : std::optional(std::move(others));
}

constinit const Record Description<Error>::record = record_of<Error>("error", error_fields);
constinit const Record Description<StreamError>::record =
    record_of<StreamError>("stream_error", stream_error_fields);
constinit const Record Description<CheckedDocument>::record =
    record_of<CheckedDocument>("checked_document", checked_fields);
constinit const Record Description<CheckReport>::record =
    record_of<CheckReport>("check_report", check_report_fields);
constinit const Record Description<SchemaEntry>::record =
    record_of<SchemaEntry>("schema_entry", schema_entry_fields);
constinit const Record Description<SchemaList>::record =
    record_of<SchemaList>("schema_list", schema_list_fields);
constinit const Record Description<VersionOfDevice>::record =
    record_of<VersionOfDevice>("version_of_device", version_of_device_fields);
constinit const Record Description<VersionReport>::record =
    record_of<VersionReport>("version_report", version_fields);

constinit const Document DocumentOf<Error>::document{.kind = "error",
                                                     .title = "An error, as --errors json prints it",
                                                     .direction = Direction::output,
                                                     .record = &Description<Error>::record,
                                                     .has_kind = false};
constinit const Document DocumentOf<StreamError>::document{.kind = "stream_error",
                                                           .title = "A line of a stream that has no answer",
                                                           .direction = Direction::output,
                                                           .record = &Description<StreamError>::record,
                                                           .has_kind = false};
constinit const Document DocumentOf<CheckReport>::document{.kind = "check_report",
                                                           .title = "Verdicts on documents",
                                                           .direction = Direction::output,
                                                           .record = &Description<CheckReport>::record};
constinit const Document DocumentOf<SchemaList>::document{.kind = "schema_list",
                                                          .title = "The document types of the tool",
                                                          .direction = Direction::output,
                                                          .record = &Description<SchemaList>::record};
constinit const Document DocumentOf<VersionReport>::document{
    .kind = "version_report",
    .title = "Versions of the tool and of what it is built on",
    .direction = Direction::output,
    .record = &Description<VersionReport>::record};

using engine::BoundsReport;
using engine::BoundsViolation;
using engine::CandidateReport;
using engine::Comparison;
using engine::DeviceReport;
using engine::Difference;
using engine::FallbackReport;
using engine::FirstRun;
using engine::Geometry;
using engine::HaloReport;
using engine::HaloViolation;
using engine::HotOpReport;
using engine::MemoryReport;
using engine::OutputParity;
using engine::PromotionReport;
using engine::QueueFaultReport;
using engine::QueueReport;
using engine::RunReport;
using engine::SimulatorFinding;
using engine::StuckGroup;
using engine::Telemetry;
using engine::TraceReport;
using engine::TriedWay;
using engine::UntilReport;
using engine::UnwatchedAccess;
using engine::Warning;
using engine::WindowReport;
using engine::WrittenFile;

template <>
struct Description<Difference> {
  static const Record record;
};
template <>
struct Description<OutputParity> {
  static const Record record;
};
template <>
struct Description<CandidateReport> {
  static const Record record;
};
template <>
struct Description<Comparison> {
  static const Record record;
};
template <>
struct Description<BoundsViolation> {
  static const Record record;
};
template <>
struct Description<SimulatorFinding> {
  static const Record record;
};
template <>
struct Description<BoundsReport> {
  static const Record record;
};
template <>
struct Description<UntilReport> {
  static const Record record;
};
template <>
struct Description<TraceReport> {
  static const Record record;
};
template <>
struct Description<FallbackReport> {
  static const Record record;
};
template <>
struct Description<QueueFaultReport> {
  static const Record record;
};
template <>
struct Description<QueueReport> {
  static const Record record;
};
template <>
struct Description<HaloViolation> {
  static const Record record;
};
template <>
struct Description<UnwatchedAccess> {
  static const Record record;
};
template <>
struct Description<HaloReport> {
  static const Record record;
};
template <>
struct Description<WindowReport> {
  static const Record record;
};
template <>
struct Description<TriedWay> {
  static const Record record;
};
template <>
struct Description<HotOpReport> {
  static const Record record;
};
template <>
struct Description<PromotionReport> {
  static const Record record;
};
template <>
struct Description<BufferOffset> {
  static const Record record;
};
template <>
struct Description<RunMemory> {
  static const Record record;
};
template <>
struct Description<Telemetry> {
  static const Record record;
};
template <>
struct Description<RunReportDocument> {
  static const Record record;
};

namespace {

constexpr Field device_report_fields[] = {
    required<&DeviceReport::name>("name", "name, in the driver's words"),
    required<&DeviceReport::platform>("platform", "OpenCL platform that it belongs to"),
    required<&DeviceReport::driver_version>("driver_version", "version of its driver"),
};

constexpr Field difference_fields[] = {
    required<&Difference::buffer>("buffer", "name of the buffer"),
    required<&Difference::element>("element", "index of the first element that differs"),
    required<&Difference::expected>("expected", "its value after plain launches"),
    required<&Difference::found>("found", "its value after this run"),
};

constexpr Field parity_fields[] = {
    required<&OutputParity::checked>("checked", "output buffers that were compared byte for byte"),
    required<&OutputParity::equal>("equal", "whether all of them were equal"),
    optional<&OutputParity::first_difference>("first_difference", "the first one that was not"),
    required<&OutputParity::differing_elements>("differing_elements", "elements that were not equal"),
    optional<&OutputParity::largest_difference_ulp>(
        "largest_difference_ulp",
        "where only finite floats differ: the largest difference in units in the last place"),
    optional<&OutputParity::likely_cause>(
        "likely_cause",
        "race: plain launches do not repeat themselves either; order: this run does not repeat "
        "itself; rounding: the compiler rounds floats differently in the two kernels"),
};

constexpr Field candidate_fields[] = {
    required<&CandidateReport::strategy>("strategy", "in how many launches, and what they wait for"),
    required<&CandidateReport::side_by_side>("side_by_side",
                                             "tiles that a work-group runs at a time, at most"),
    required<&CandidateReport::workgroup_size>("workgroup_size",
                                               "work-items of a generated kernel's work-group"),
    required<&CandidateReport::worker_groups>("worker_groups",
                                              "work-groups of a persistent launch; 0 for launches"),
    optional<&CandidateReport::order>("order", "which work-group of a persistent launch runs which tiles"),
    required<&CandidateReport::estimated_ns>("estimated_ns", "what the cost model says of a dispatch"),
    required<&CandidateReport::estimated_parts_ns>("estimated_parts_ns", "that is their sum"),
    required<&CandidateReport::taken>("taken", "whether this is how it runs"),
    optional<&CandidateReport::measured_ns>(
        "measured_ns", "what the dispatch of what was taken took; with --compare the median"),
    optional<&CandidateReport::refused>("refused", "why it may not be taken"),
};

constexpr Field tried_fields[] = {
    required<&TriedWay::knob>("knob", "what was changed"),
    required<&TriedWay::value>("value", "to what"),
    optional<&TriedWay::ratio>("ratio", "of its time to that of the best before it; left out where it was "
                                        "not timed"),
    required<&TriedWay::taken>("taken", "whether it was faster beyond doubt, and taken"),
    required<&TriedWay::thrown_out>("thrown_out", "why it does not count, or empty"),
};

constexpr Field first_run_fields[] = {
    required<&FirstRun::compared>("compared", "whether what was taken was compared with plain launches, or "
                                              "the result of a frontier program with the serial "
                                              "algorithm's"),
    required<&FirstRun::equal>(
        "equal",
        "whether everything that was compared was equal: byte for byte, of ranks within their rounding"),
    required<&FirstRun::measured>("measured", "whether candidates were timed"),
    required<&FirstRun::kept>("kept", "whether later runs of the same program find the choice"),
    required<&FirstRun::reason>(
        "reason",
        "why the program is launched as it is; of a frontier program, what was compared or why it was not"),
    required<&FirstRun::iterations>(
        "iterations",
        "or waves of a frontier program, that each candidate ran; 0 where nothing was compared"),
    required<&FirstRun::budget_ns>("budget_ns", "that comparing and timing could take"),
    required<&FirstRun::elapsed_ns>("elapsed_ns", "that it took; of a wave program building included"),
    required<&FirstRun::runs>("runs", "dispatches of the program, in all"),
    optional<&FirstRun::plain_ns>("plain_ns", "median of a dispatch as plain launches"),
    optional<&FirstRun::taken_ns>("taken_ns", "that of what was taken, by the ratios measured in turn"),
    required<&FirstRun::tried>("tried", "every way that was tried"),
    optional<&FirstRun::difference>("difference", "how the outputs differed from those of plain launches"),
    optional<&FirstRun::difference_file>("difference_file",
                                         "program, sources, kernel and difference, to report the fault"),
};

constexpr Field comparison_fields[] = {
    required<&Comparison::rounds>("rounds", "how often both ways were timed, in turn"),
    required<&Comparison::plain_ns>("plain_ns", "median of the plain launches, one per wave"),
    required<&Comparison::plain_min_ns>("plain_min_ns", "the fastest of the plain launches"),
    required<&Comparison::plain_max_ns>("plain_max_ns", "the slowest of them"),
    required<&Comparison::run_ns>("run_ns", "median of this run's dispatch"),
    required<&Comparison::run_min_ns>("run_min_ns", "the fastest of this run"),
    required<&Comparison::run_max_ns>("run_max_ns", "the slowest of them"),
    required<&Comparison::speedup>("speedup", "plain_ns over run_ns"),
    required<&Comparison::plain_rounds_ns>("plain_rounds_ns", "every round of the plain launches"),
    required<&Comparison::run_rounds_ns>("run_rounds_ns", "every round of this run"),
};

constexpr Field stuck_fields[] = {
    required<&StuckGroup::group>("group", "the work-group"),
    required<&StuckGroup::iteration>("iteration", "counted from 0"),
    required<&StuckGroup::stage>("stage", "shared stage of the iteration that it wanted to begin"),
    required<&StuckGroup::waves>("waves", "the waves of that stage"),
    required<&StuckGroup::tile>("tile", "the first of the stage that it would have run"),
    required<&StuckGroup::counter>(
        "counter", "what it looked at: arrivals at the barrier, or how far another group has come"),
    required<&StuckGroup::expected>("expected", "that it waited for"),
    required<&StuckGroup::seen>("seen", "that it saw"),
};

constexpr Field violation_fields[] = {
    required<&BoundsViolation::wave>("wave", "the wave that wrote"),
    required<&BoundsViolation::iteration>("iteration", "in which iteration, counted from 0"),
    required<&BoundsViolation::buffer>("buffer", "the buffer beside which it wrote"),
    required<&BoundsViolation::side>("side", "before its first byte or behind its last"),
    required<&BoundsViolation::distance_bytes>(
        "distance_bytes", "of the nearest changed byte: 0 is the first behind, 1 the last before"),
};

constexpr Field finding_fields[] = {
    required<&SimulatorFinding::message>("message", "what Oclgrind says"),
    required<&SimulatorFinding::kernel>("kernel", "the kernel"),
    required<&SimulatorFinding::work_item>("work_item", "the first work-item that did so"),
    required<&SimulatorFinding::file>("file", "the source"),
    required<&SimulatorFinding::line>("line", "its line; 0 where it is not known"),
};

constexpr Field bounds_fields[] = {
    required<&BoundsReport::guard_bytes>("guard_bytes", "guard on each side of each buffer; 0 in Oclgrind"),
    required<&BoundsReport::checked_waves>("checked_waves", "launches after which the guards were looked at"),
    required<&BoundsReport::complete>("complete",
                                      "whether the program came to its end, or to a violation, in time"),
    required<&BoundsReport::violations>("violations", "what the last wave wrote beside buffers"),
    required<&BoundsReport::simulator>("simulator", "Oclgrind's runtime; empty where it is not installed"),
    required<&BoundsReport::findings>("findings", "what Oclgrind says, once for each kernel, line and kind"),
};

constexpr Field until_report_fields[] = {
    required<&UntilReport::buffer>("buffer", "the buffer whose element 0 ends the repetition"),
    required<&UntilReport::waiting_for>("waiting_for", "the value that ends it"),
    required<&UntilReport::value>("value", "the value after the last iteration"),
    required<&UntilReport::reached>("reached", "whether that is it"),
};

constexpr Field trace_fields[] = {
    required<&TraceReport::file>("file", "the timeline, in the Trace Event Format"),
    required<&TraceReport::clock>("clock",
                                  "the device's, that work-groups read; none: only launches are in it"),
    required<&TraceReport::spans>("spans", "that were measured and kept"),
    required<&TraceReport::left_out_spans>("left_out_spans", "that there was no room for"),
};

constexpr Field warning_fields[] = {
    required<&Warning::message>("message", "what the program most likely does not mean"),
    required<&Warning::fix>("fix", "what to change"),
    required<&Warning::pointer>("pointer", "where in the program (RFC 6901)"),
};

constexpr Field written_file_fields[] = {
    required<&WrittenFile::file>("file", "its path"),
    required<&WrittenFile::what>("what", "what it holds: a buffer, an image, a result, the generated kernel, "
                                         "the trace, the page"),
    required<&WrittenFile::bytes>("bytes", "its size"),
};

constexpr Field fallback_fields[] = {
    required<&FallbackReport::wave>("wave", "the wave"),
    required<&FallbackReport::reason>("reason", "why it is launched alone"),
};

constexpr Field queue_fault_fields[] = {
    required<&QueueFaultReport::item>("item", "the first that failed, counted from 0 as they were given"),
    required<&QueueFaultReport::op>("op", "that ran it"),
    required<&QueueFaultReport::code>("code", "that it gave TIDEGATE_FAULT"),
};

constexpr Field queue_report_fields[] = {
    required<&QueueReport::wave>("wave", "the wave"),
    required<&QueueReport::items>("items", "that it was given"),
    required<&QueueReport::deduped_items>("deduped_items", "of pure ops that are identical to others"),
    required<&QueueReport::published_items>("published_items", "that went to the device"),
    required<&QueueReport::items_remaining>("items_remaining", "that were not done"),
    required<&QueueReport::requeues>("requeues", "whether its ops can"),
    required<&QueueReport::rounds>("rounds", "in all iterations; 0 where no op requeues"),
    required<&QueueReport::requeue_count>("requeue_count", "requeues of all items"),
    required<&QueueReport::aged_promotions>("aged_promotions",
                                            "times that an item ran in front of its priority, for its age"),
    required<&QueueReport::max_priority_age>("max_priority_age", "longest wait of an item, in rounds"),
    optional<&QueueReport::fault>("fault", "the item that failed"),
};

constexpr Field run_geometry_fields[] = {
    required<&Geometry::workgroup_size>("workgroup_size", "work-items of a work-group"),
    required<&Geometry::worker_groups>("worker_groups", "work-groups of a persistent launch; 0 without one"),
};

constexpr Field offset_fields[] = {
    required<&BufferOffset::buffer>("buffer", "name of the buffer"),
    required<&BufferOffset::offset>("offset", "where it lies in the arena, in bytes"),
};

constexpr Field run_memory_fields[] = {
    required<&RunMemory::figures, &MemoryReport::arena_bytes>("arena_bytes", "device memory of all buffers"),
    required<&RunMemory::figures, &MemoryReport::image_bytes>("image_bytes",
                                                              "of all images, beside the arena"),
    required<&RunMemory::figures, &MemoryReport::sum_bytes>("sum_bytes",
                                                            "what they would take without sharing"),
    required<&RunMemory::figures, &MemoryReport::lower_bound_bytes>("lower_bound_bytes",
                                                                    "no arena is smaller"),
    required<&RunMemory::figures, &MemoryReport::optimal>("optimal",
                                                          "true when it is proved that no arena is smaller"),
    required<&RunMemory::figures, &MemoryReport::table_bytes>(
        "table_bytes", "reserved beside the arena for descriptors and counters"),
    required<&RunMemory::offsets>("offsets", "where every buffer lies"),
};

constexpr Field telemetry_fields[] = {
    required<&Telemetry::bytes_uploaded>("bytes_uploaded", "bytes written to the device"),
    required<&Telemetry::bytes_read_back>("bytes_read_back", "bytes read from it"),
    required<&Telemetry::bytes_moved>("bytes_moved", "both together"),
    required<&Telemetry::resident_allocations>("resident_allocations", "blocks of device memory"),
    required<&Telemetry::kernel_launches>("kernel_launches", "launches of the dispatch"),
    required<&Telemetry::recorded_launches>("recorded_launches",
                                            "of these, enqueued together as a command buffer"),
    required<&Telemetry::sync_points>("sync_points", "times that the host waited for the device"),
    required<&Telemetry::occupancy_proxy_bps>(
        "occupancy_proxy_bps", "work-groups of the persistent launch over those that are resident together"),
    required<&Telemetry::frontier_density_bps>("frontier_density_bps", "density that the policy saw"),
    required<&Telemetry::readback_buffers>("readback_buffers", "buffers that were read back"),
    required<&Telemetry::compiled_pipeline_cache_hit>("compiled_pipeline_cache_hit",
                                                      "the generated kernel was kept from an earlier run"),
    required<&Telemetry::topology>("topology", "the policy's topology"),
    required<&Telemetry::pressure>("pressure", "the policy's queue pressure"),
    required<&Telemetry::execution_mode>("execution_mode", "the mode that was run"),
    required<&Telemetry::hit_capacity>("hit_capacity", "the policy's hit capacity"),
    required<&Telemetry::estimated_peak_device_bytes>("estimated_peak_device_bytes", "the policy's estimate"),
    required<&Telemetry::device_memory_budget_bytes>("device_memory_budget_bytes", "the budget; 0: none"),
};

constexpr Field halo_violation_fields[] = {
    required<&HaloViolation::wave>("wave", "name or number of the wave that reaches too far"),
    required<&HaloViolation::op>("op", "its op"),
    required<&HaloViolation::argument>("argument", "of the wave, counted from 0"),
    required<&HaloViolation::parameter>("parameter", "the kernel's name for it"),
    required<&HaloViolation::buffer>("buffer", "that it points to"),
    required<&HaloViolation::iteration>("iteration", "counted from 0"),
    required<&HaloViolation::writes>("writes", "whether it writes there"),
    required<&HaloViolation::subscript>("subscript", "as the kernel takes it"),
    required<&HaloViolation::dimension>("dimension", "in which it reaches too far: 0 is x"),
    required<&HaloViolation::tile>("tile", "its own, in this dimension"),
    required<&HaloViolation::tiles>("tiles", "its own, in all dimensions"),
    required<&HaloViolation::before>("before", "the earlier wave of the dependency"),
    required<&HaloViolation::before_tile>("before_tile", "that touched the element, in this dimension"),
    required<&HaloViolation::first_allowed>("first_allowed",
                                            "first tile of the earlier wave that the halo allows"),
    required<&HaloViolation::last_allowed>("last_allowed", "last tile that it allows"),
};

constexpr Field unwatched_fields[] = {
    required<&UnwatchedAccess::kernel>("kernel", "its name"),
    required<&UnwatchedAccess::parameter>("parameter", "the pointer's name"),
    required<&UnwatchedAccess::file>("file", "of the source"),
    required<&UnwatchedAccess::line>("line", "counted from 1"),
};

constexpr Field halo_fields[] = {
    required<&HaloReport::stated_halos>("stated_halos",
                                        "arguments of an earlier and a later wave, or of a wave and itself "
                                        "an iteration later, that touch the same memory and have one"),
    required<&HaloReport::looked_at>("looked_at", "of those: accesses met what the earlier wave had touched"),
    required<&HaloReport::checked_waves>("checked_waves", "waves that were run"),
    required<&HaloReport::complete>("complete", "whether the program came to its end, or to a violation"),
    optional<&HaloReport::violation>("violation", "the first access that lies outside"),
    required<&HaloReport::unwatched>("unwatched",
                                     "uses of pointers that are no subscripts, and are not looked at"),
};

constexpr Field window_fields[] = {
    required<&WindowReport::waves>("waves", "in the order in which each tile ran them"),
    required<&WindowReport::meetings>(
        "meetings",
        "barriers of a tile's work-items between two of them, where values go from one to another"),
    required<&WindowReport::register_buffers>("register_buffers",
                                              "buffers that stayed in registers, and in no memory"),
};

constexpr Field hot_op_fields[] = {
    required<&HotOpReport::op>("op", "its name, or those of a window's ops"),
    required<&HotOpReport::tiles>("tiles", "that it runs in all iterations"),
};

constexpr Field promotion_fields[] = {
    required<&PromotionReport::promoted>("promoted", "what was: none, windows, opcodes or all"),
    required<&PromotionReport::reason>("reason", "what decided"),
    required<&PromotionReport::windows>("windows", "waves that ran as one"),
    required<&PromotionReport::ops>(
        "ops", "hot ops, compiled for their arguments and looked at first: the hottest first"),
};

// A field of the report inside its document.
template <auto Member>
constexpr Field reported(std::string_view name, std::string_view meaning) {
  return required<&RunReportDocument::report, Member>(name, meaning);
}

constexpr Field run_report_fields[] = {
    reported<&RunReport::status>("status", "how the run ended"),
    reported<&RunReport::error>("error", "what kept it from being done"),
    reported<&RunReport::device>("device", "where it ran"),
    reported<&RunReport::strategy>("strategy",
                                   "launch: one launch per stage; barrier: one persistent launch"),
    reported<&RunReport::strategy_reason>("strategy_reason", "why this one"),
    reported<&RunReport::mode>("execution_mode", "how the generated kernel was made"),
    reported<&RunReport::mode_reason>("mode_reason", "why so"),
    reported<&RunReport::promotion>("promotion",
                                    "waves and ops that were promoted; the policy's word is evidence"),
    reported<&RunReport::candidates>(
        "candidates", "every way to launch it, with the cost model's figure; left out where nothing was "
                      "measured of the device"),
    reported<&RunReport::first_run>(
        "first_run", "how the way to launch it was chosen; left out where the command line says how"),
    reported<&RunReport::ordering>("ordering", "the proved memory ordering of persistent launches"),
    reported<&RunReport::items_processed>("items_processed", "tiles (virtual work-groups) that were run"),
    reported<&RunReport::items_remaining>("items_remaining",
                                          "tiles that were not, and items of queues that were not done"),
    reported<&RunReport::items_in_all>(
        "items_in_all", "tiles of the whole run: those that were run and those that were not, unless until "
                        "ended it early"),
    reported<&RunReport::iterations>("iterations", "repetitions of the waves that were completed"),
    reported<&RunReport::until>("until", "what ends the repetition, and how far it came"),
    reported<&RunReport::converged>("converged", "whether until was reached; left out without one"),
    reported<&RunReport::warnings>("warnings", "what the program most likely does not mean"),
    reported<&RunReport::wall_time_ns>("wall_time_ns", "all of it, from reading the sources on"),
    reported<&RunReport::queue_plan_ns>("queue_plan_ns", "planning"),
    reported<&RunReport::queue_publish_ns>("queue_publish_ns", "making and filling device memory"),
    reported<&RunReport::upload_ns>("upload_ns",
                                    "of that, what buffers and images hold at first, until it is there"),
    reported<&RunReport::build_ns>("build_ns", "building or loading kernels, what a driver compiles in first "
                                               "launches, and learning how many groups fit"),
    reported<&RunReport::backend_dispatch_ns>("backend_dispatch_ns",
                                              "from the first launch to the end of the last"),
    reported<&RunReport::read_back_ns>("read_back_ns", "what persistent launches say of themselves, outputs "
                                                       "and the states of queues, until the host has them"),
    reported<&RunReport::lineage_ns>("lineage_ns", "tracing source rules"),
    reported<&RunReport::published_items>("published_items", "tiles of one iteration; of queues their items"),
    reported<&RunReport::deduped_items>("deduped_items", "items of queues that were identical to others"),
    reported<&RunReport::lineage_items>("lineage_items", "waves that descend from a source rule"),
    reported<&RunReport::region_lineage>("region_lineage",
                                         "by group, bit n for source rule n of its waves or their ancestors"),
    reported<&RunReport::output_parity>("output_parity", "with --verify: comparison with plain launches"),
    reported<&RunReport::comparison>("comparison", "with --compare: times of both"),
    reported<&RunReport::bounds>("bounds", "with --check-bounds: what was written or read beside buffers"),
    reported<&RunReport::halos>("halos", "with --check-halos: what reaches beyond the halos that are stated"),
    reported<&RunReport::profile_file>("profile_file", "the device profile whose tuning it took"),
    reported<&RunReport::policy_file>("policy_file", "the launch policy that it took for the program's own"),
    reported<&RunReport::files_written>("files_written", "what was written beside this report"),
    reported<&RunReport::stuck_groups>("stuck_groups", "after a hang: which group waited for what"),
    reported<&RunReport::fallbacks>("fallbacks", "waves that cannot share a launch"),
    reported<&RunReport::queues>("queues", "waves of work items"),
    reported<&RunReport::priority>("priority", "the requeue accounting of all queues, and whether to read it "
                                               "out and reset it now"),
    reported<&RunReport::assumed_macros>(
        "assumed_macros",
        "without a device: macros of its compiler that the sources depend on, and that were "
        "taken to be as OpenCL C 3.0 has them, or else not defined"),
    reported<&RunReport::recommended_geometry>("recommended_geometry", "the policy's"),
    reported<&RunReport::effective_geometry>("effective_geometry", "what was launched"),
    required<&RunReportDocument::memory>("memory", "the arena"),
    required<&RunReportDocument::plan>("plan", "the groups of waves"),
    reported<&RunReport::recommendation>("recommendation", "of the launch policy"),
    required<&RunReportDocument::evidence>("evidence", "what the recommendation rests on"),
    reported<&RunReport::telemetry>("telemetry", "counts"),
    reported<&RunReport::slices_ns>("slices_ns", "every persistent launch"),
    reported<&RunReport::trace>("trace", "with --trace: what its file holds"),
};

} // namespace

constinit const Record Description<DeviceReport>::record =
    record_of<DeviceReport>("device_report", device_report_fields);
constinit const Record Description<Difference>::record =
    record_of<Difference>("difference", difference_fields);
constinit const Record Description<OutputParity>::record =
    record_of<OutputParity>("output_parity", parity_fields);
constinit const Record Description<CandidateReport>::record =
    record_of<CandidateReport>("launch_candidate", candidate_fields);
constinit const Record Description<TriedWay>::record = record_of<TriedWay>("tried_way", tried_fields);
constinit const Record Description<FirstRun>::record = record_of<FirstRun>("first_run", first_run_fields);
constinit const Record Description<Comparison>::record =
    record_of<Comparison>("comparison", comparison_fields);
constinit const Record Description<StuckGroup>::record = record_of<StuckGroup>("stuck_group", stuck_fields);
constinit const Record Description<BoundsViolation>::record =
    record_of<BoundsViolation>("bounds_violation", violation_fields);
constinit const Record Description<SimulatorFinding>::record =
    record_of<SimulatorFinding>("simulator_finding", finding_fields);
constinit const Record Description<BoundsReport>::record =
    record_of<BoundsReport>("bounds_report", bounds_fields);
constinit const Record Description<UntilReport>::record =
    record_of<UntilReport>("until_report", until_report_fields);
constinit const Record Description<TraceReport>::record =
    record_of<TraceReport>("trace_report", trace_fields);
constinit const Record Description<Warning>::record = record_of<Warning>("warning", warning_fields);
constinit const Record Description<WrittenFile>::record =
    record_of<WrittenFile>("written_file", written_file_fields);
constinit const Record Description<FallbackReport>::record =
    record_of<FallbackReport>("fallback", fallback_fields);
constinit const Record Description<QueueFaultReport>::record =
    record_of<QueueFaultReport>("queue_fault", queue_fault_fields);
constinit const Record Description<QueueReport>::record =
    record_of<QueueReport>("queue_report", queue_report_fields);
constinit const Record Description<HaloViolation>::record =
    record_of<HaloViolation>("halo_violation", halo_violation_fields);
constinit const Record Description<UnwatchedAccess>::record =
    record_of<UnwatchedAccess>("unwatched_access", unwatched_fields);
constinit const Record Description<HaloReport>::record = record_of<HaloReport>("halo_report", halo_fields);
constinit const Record Description<WindowReport>::record =
    record_of<WindowReport>("window_report", window_fields);
constinit const Record Description<HotOpReport>::record =
    record_of<HotOpReport>("hot_op_report", hot_op_fields);
constinit const Record Description<PromotionReport>::record =
    record_of<PromotionReport>("promotion_report", promotion_fields);
constinit const Record Description<Geometry>::record = record_of<Geometry>("geometry", run_geometry_fields);
constinit const Record Description<BufferOffset>::record =
    record_of<BufferOffset>("buffer_offset", offset_fields);
constinit const Record Description<RunMemory>::record = record_of<RunMemory>("run_memory", run_memory_fields);
constinit const Record Description<Telemetry>::record = record_of<Telemetry>("telemetry", telemetry_fields);
constinit const Record Description<RunReportDocument>::record =
    record_of<RunReportDocument>("run_report", run_report_fields);

constinit const Document DocumentOf<RunReportDocument>::document{
    .kind = "run_report",
    .title = "What a run did, how long it took, and the proof that it is right",
    .direction = Direction::output,
    .record = &Description<RunReportDocument>::record};

} // namespace tidegate::documents
