#include <tidegate/documents/device_documents.hpp>
#include <tidegate/documents/report_documents.hpp>
#include <tidegate/documents/run_documents.hpp>

namespace tidegate::documents {

using run::Comparison;
using run::DeviceReport;
using run::Difference;
using run::Geometry;
using run::LeftBehind;
using run::MemoryReport;
using run::OutputParity;
using run::RunReport;
using run::StuckGroup;
using run::Telemetry;

template <>
struct Description<DeviceReport> {
  static const Record record;
};
template <>
struct Description<Difference> {
  static const Record record;
};
template <>
struct Description<OutputParity> {
  static const Record record;
};
template <>
struct Description<Comparison> {
  static const Record record;
};
template <>
struct Description<StuckGroup> {
  static const Record record;
};
template <>
struct Description<LeftBehind> {
  static const Record record;
};
template <>
struct Description<Geometry> {
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
};

constexpr Field comparison_fields[] = {
    required<&Comparison::rounds>("rounds", "how often both ways were timed, in turn"),
    required<&Comparison::plain_ns>("plain_ns", "median of the plain launches, one per wave"),
    required<&Comparison::run_ns>("run_ns", "median of this run's dispatch"),
    required<&Comparison::speedup>("speedup", "plain_ns over run_ns"),
    required<&Comparison::plain_rounds_ns>("plain_rounds_ns", "every round of the plain launches"),
    required<&Comparison::run_rounds_ns>("run_rounds_ns", "every round of this run"),
};

constexpr Field stuck_fields[] = {
    required<&StuckGroup::group>("group", "the work-group"),
    required<&StuckGroup::stage>("stage", "shared stage of the iteration at whose end it waited"),
    required<&StuckGroup::waves>("waves", "the waves of that stage"),
    required<&StuckGroup::expected>("expected", "arrivals at the barrier that it waited for"),
    required<&StuckGroup::seen>("seen", "arrivals that it saw"),
};

constexpr Field left_behind_fields[] = {
    required<&LeftBehind::wave>("wave", "the wave"),
    required<&LeftBehind::reason>("reason", "why it is launched alone"),
};

constexpr Field run_geometry_fields[] = {
    required<&Geometry::workgroup_size>("workgroup_size", "work-items of a work-group"),
    required<&Geometry::worker_groups>("worker_groups", "work-groups of a persistent launch; 0 without one"),
};

constexpr Field offset_fields[] = {
    required<&BufferOffset::buffer>("buffer", "name of the buffer"),
    required<&BufferOffset::offset>("offset", "where it lies in the arena, in bytes"),
};

constexpr Field memory_fields[] = {
    required<&RunMemory::figures, &MemoryReport::arena_bytes>("arena_bytes", "device memory of all buffers"),
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
    required<&Telemetry::sync_points>("sync_points", "times that the host waited for the device"),
    required<&Telemetry::occupancy_proxy_bps>(
        "occupancy_proxy_bps", "work-groups of the persistent launch over those that are resident together"),
    required<&Telemetry::frontier_density_bps>("frontier_density_bps", "density that the policy saw"),
    required<&Telemetry::readback_buffers>("readback_buffers", "buffers that were read back"),
    required<&Telemetry::compiled_pipeline_cache_hit>("compiled_pipeline_cache_hit",
                                                      "the generated kernel was kept from an earlier run"),
    required<&Telemetry::resident_input_cache_hit>("resident_input_cache_hit",
                                                   "inputs were on the device already"),
    required<&Telemetry::topology>("topology", "the policy's topology"),
    required<&Telemetry::pressure>("pressure", "the policy's queue pressure"),
    required<&Telemetry::execution_mode>("execution_mode", "the mode that was run"),
    required<&Telemetry::hit_capacity>("hit_capacity", "the policy's hit capacity"),
    required<&Telemetry::estimated_peak_device_bytes>("estimated_peak_device_bytes", "the policy's estimate"),
    required<&Telemetry::device_memory_budget_bytes>("device_memory_budget_bytes", "the budget; 0: none"),
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
    reported<&RunReport::ordering>("ordering", "the proved memory ordering of persistent launches"),
    reported<&RunReport::items_processed>("items_processed", "tiles (virtual work-groups) that were run"),
    reported<&RunReport::items_remaining>("items_remaining", "tiles that were not"),
    reported<&RunReport::iterations>("iterations", "repetitions of the waves that were completed"),
    reported<&RunReport::wall_time_ns>("wall_time_ns", "all of it, from reading the sources on"),
    reported<&RunReport::queue_plan_ns>("queue_plan_ns", "planning"),
    reported<&RunReport::queue_publish_ns>("queue_publish_ns", "filling device memory"),
    reported<&RunReport::build_ns>("build_ns",
                                   "building or loading kernels, and learning how many groups fit"),
    reported<&RunReport::backend_dispatch_ns>("backend_dispatch_ns",
                                              "from the first launch to the end of the last"),
    reported<&RunReport::lineage_ns>("lineage_ns", "tracing source rules"),
    reported<&RunReport::deduped_items>("deduped_items", "items that were not run twice"),
    reported<&RunReport::published_items>("published_items", "tiles of one iteration"),
    reported<&RunReport::lineage_items>("lineage_items", "waves that descend from a source rule"),
    reported<&RunReport::region_lineage>("region_lineage",
                                         "by group, bit n for source rule n of its waves or their ancestors"),
    reported<&RunReport::output_parity>("output_parity", "with --verify: comparison with plain launches"),
    reported<&RunReport::comparison>("comparison", "with --compare: times of both"),
    reported<&RunReport::stuck_groups>("stuck_groups", "after a hang: which group waited for what"),
    reported<&RunReport::left_behind>("left_behind", "waves that cannot share a launch"),
    reported<&RunReport::assumed_macros>(
        "assumed_macros", "without a device: macros of its compiler that the sources depend on, and that were "
                          "taken to be as OpenCL C 3.0 has them, or else not defined"),
    reported<&RunReport::recommended_geometry>("recommended_geometry", "the policy's"),
    reported<&RunReport::effective_geometry>("effective_geometry", "what was launched"),
    required<&RunReportDocument::memory>("memory", "the arena"),
    required<&RunReportDocument::plan>("plan", "the groups of waves"),
    reported<&RunReport::recommendation>("recommendation", "of the launch policy"),
    required<&RunReportDocument::evidence>("evidence", "what the recommendation rests on"),
    reported<&RunReport::telemetry>("telemetry", "counts"),
    reported<&RunReport::slices_ns>("slices_ns", "every persistent launch"),
};

} // namespace

constinit const Record Description<DeviceReport>::record =
    record_of<DeviceReport>("device_report", device_report_fields);
constinit const Record Description<Difference>::record =
    record_of<Difference>("difference", difference_fields);
constinit const Record Description<OutputParity>::record =
    record_of<OutputParity>("output_parity", parity_fields);
constinit const Record Description<Comparison>::record =
    record_of<Comparison>("comparison", comparison_fields);
constinit const Record Description<StuckGroup>::record = record_of<StuckGroup>("stuck_group", stuck_fields);
constinit const Record Description<LeftBehind>::record =
    record_of<LeftBehind>("left_behind", left_behind_fields);
constinit const Record Description<Geometry>::record = record_of<Geometry>("geometry", run_geometry_fields);
constinit const Record Description<BufferOffset>::record =
    record_of<BufferOffset>("buffer_offset", offset_fields);
constinit const Record Description<RunMemory>::record = record_of<RunMemory>("run_memory", memory_fields);
constinit const Record Description<Telemetry>::record = record_of<Telemetry>("telemetry", telemetry_fields);
constinit const Record Description<RunReportDocument>::record =
    record_of<RunReportDocument>("run_report", run_report_fields);

constinit const Document DocumentOf<RunReportDocument>::document{
    .kind = "run_report",
    .title = "What a run did, how long it took, and the proof that it is right",
    .direction = Direction::output,
    .record = &Description<RunReportDocument>::record};

} // namespace tidegate::documents
