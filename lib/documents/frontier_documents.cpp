#include <tidegate/documents/device_documents.hpp>
#include <tidegate/documents/frontier_documents.hpp>
#include <tidegate/documents/report_documents.hpp>

namespace tidegate::documents {

using traversal::FrontierMemory;
using traversal::FrontierReport;
using traversal::MemoryPart;
using traversal::RepeatedTimes;
using traversal::Replay;
using traversal::Verification;
using traversal::WaveRecord;
using traversal::WaveSummary;
using TraversedGraph = traversal::GraphReport;

template <>
struct Description<MemoryPart> {
  static const Record record;
};
template <>
struct Description<FrontierMemory> {
  static const Record record;
};
template <>
struct Description<TraversedGraph> {
  static const Record record;
};
template <>
struct Description<WaveSummary> {
  static const Record record;
};
template <>
struct Description<WaveRecord> {
  static const Record record;
};
template <>
struct Description<Replay> {
  static const Record record;
};
template <>
struct Description<Verification> {
  static const Record record;
};
template <>
struct Description<RepeatedTimes> {
  static const Record record;
};
template <>
struct Description<FrontierReport> {
  static const Record record;
};

namespace {

constexpr Field part_fields[] = {
    required<&MemoryPart::name>("name", "what it is for"),
    required<&MemoryPart::bytes>("bytes", "device memory"),
};

constexpr Field memory_fields[] = {
    required<&FrontierMemory::constrained>("constrained", "bitmaps alone: no queues, no transpose"),
    required<&FrontierMemory::bytes>("bytes", "device memory of all parts"),
    required<&FrontierMemory::full_bytes>("full_bytes", "of the layout that every topology can use"),
    required<&FrontierMemory::constrained_bytes>("constrained_bytes", "of the smallest layout"),
    required<&FrontierMemory::budget_bytes>("budget_bytes", "the budget, or what the device has"),
    required<&FrontierMemory::pressure_bps>("pressure_bps", "the full layout over the budget"),
    required<&FrontierMemory::parts>("parts", "of the layout that was taken"),
};

constexpr Field traversed_graph_fields[] = {
    required<&TraversedGraph::vertices>("vertices", "vertices"),
    required<&TraversedGraph::edges>("edges", "directed edges, as they are traversed"),
    required<&TraversedGraph::weights>("weights", "type of the weights"),
    required<&TraversedGraph::symmetric>("symmetric", "each edge is known to have its opposite"),
};

constexpr Field summary_fields[] = {
    required<&WaveSummary::waves>("waves", "waves"),
    required<&WaveSummary::alone_waves>("alone_waves", "of them worked by one work-group"),
    required<&WaveSummary::topology_changes>("topology_changes",
                                             "waves of another topology than the one before"),
    required<&WaveSummary::widest_wave>("widest_wave", "the first of those with the largest frontier"),
    required<&WaveSummary::widest_vertices>("widest_vertices", "vertices in it"),
    required<&WaveSummary::frontier_edges>("frontier_edges", "edges of all frontiers: what was explored"),
    required<&WaveSummary::scanned_edges>("scanned_edges", "edges that were looked at"),
    required<&WaveSummary::edges_per_second>("edges_per_second",
                                             "frontier_edges over the time of the traversal"),
};

constexpr Field wave_fields[] = {
    required<&WaveRecord::wave>("wave", "counted from 0"),
    required<&WaveRecord::topology>("topology", "how it was run"),
    required<&WaveRecord::previous_topology>("previous_topology",
                                             "of the wave before; empty: there was none"),
    required<&WaveRecord::rule>("rule", "that decided"),
    required<&WaveRecord::threshold>("threshold", "that the rule compared with: bps, edges or vertices"),
    required<&WaveRecord::vertices>("vertices", "in the frontier"),
    required<&WaveRecord::density_bps>("density_bps", "vertices over those of the graph"),
    required<&WaveRecord::frontier_edges>("frontier_edges", "edges that leave the frontier"),
    required<&WaveRecord::previous_edges>("previous_edges", "that left the one before"),
    required<&WaveRecord::unexplored_edges>("unexplored_edges",
                                            "of vertices that were in no frontier before this one"),
    required<&WaveRecord::scanned_edges>("scanned_edges", "edges that were looked at"),
    required<&WaveRecord::trend>("trend", "frontier_edges against previous_edges"),
    required<&WaveRecord::dense_waves>("dense_waves", "dense waves in a row before it"),
    required<&WaveRecord::alone>("alone", "worked by one work-group"),
};

constexpr Field replay_fields[] = {
    required<&Replay::waves>("waves", "that the policy was asked again for"),
    required<&Replay::agreed>("agreed", "for which it made the device's choice"),
    optional<&Replay::first_difference>("first_difference", "the first wave for which it did not"),
};

constexpr Field verification_fields[] = {
    required<&Verification::checks>("checks", "that were made, up to the first that failed"),
    required<&Verification::right>("right", "whether all of them passed"),
    optional<&Verification::error>("error", "the rule that is broken, and where"),
    optional<&Verification::allowed_change>(
        "allowed_change",
        "of pagerank: by how much one more iteration may change the ranks, in sum: by the tolerance, or as "
        "the last "
        "one did, and for each rank by 2^-24 of it for every edge that leads there, and for 16 more"),
};

constexpr Field times_fields[] = {
    required<&RepeatedTimes::rounds>("rounds", "how often it was timed"),
    required<&RepeatedTimes::run_ns>("run_ns", "median of the traversal"),
    required<&RepeatedTimes::run_rounds_ns>("run_rounds_ns", "every round"),
    optional<&RepeatedTimes::launches_ns>("launches_ns", "median of the same with a launch for each step"),
    optional<&RepeatedTimes::speedup>("speedup", "launches_ns over run_ns"),
    required<&RepeatedTimes::launches_rounds_ns>("launches_rounds_ns", "every round of it"),
};

constexpr Field report_fields[] = {
    required<&FrontierReport::status>("status", "how the run ended"),
    optional<&FrontierReport::error>("error", "what kept it from being done"),
    optional<&FrontierReport::device>("device", "where it ran"),
    required<&FrontierReport::strategy>("strategy",
                                        "barrier: one persistent launch; launch: a launch for each step"),
    required<&FrontierReport::strategy_reason>("strategy_reason", "why this one"),
    optional<&FrontierReport::ordering>("ordering", "the proved memory ordering of persistent launches"),
    required<&FrontierReport::algorithm>("algorithm", "what was computed"),
    required<&FrontierReport::semiring>(
        "semiring", "the pair of operations that multiplies the frontier with the graph's matrix"),
    required<&FrontierReport::switch_rule>("switch_rule", "what changes topologies"),
    optional<&FrontierReport::forced_topology>("forced_topology", "with --force-topology: that of all waves"),
    required<&FrontierReport::graph>("graph", "what was traversed"),
    required<&FrontierReport::memory>("memory", "of the device"),
    required<&FrontierReport::summary>("summary", "all waves together"),
    required<&FrontierReport::wall_time_ns>("wall_time_ns", "all of it"),
    required<&FrontierReport::load_ns>("load_ns", "reading or generating the graph"),
    required<&FrontierReport::build_ns>("build_ns",
                                        "building or loading kernels, and learning how many groups fit"),
    required<&FrontierReport::upload_ns>("upload_ns", "filling device memory"),
    required<&FrontierReport::traversal_ns>("traversal_ns", "from the first frontier to the last"),
    required<&FrontierReport::verify_ns>("verify_ns", "the checks of --verify or of a first run"),
    required<&FrontierReport::geometry>("geometry", "what was launched"),
    required<&FrontierReport::kernel_launches>("kernel_launches", "launches of the traversal"),
    required<&FrontierReport::sync_points>("sync_points", "times that the host waited for the device"),
    required<&FrontierReport::bytes_uploaded>("bytes_uploaded", "bytes written to the device"),
    required<&FrontierReport::bytes_read_back>("bytes_read_back", "bytes read from it"),
    required<&FrontierReport::built_from_cache>("built_from_cache",
                                                "the kernels were kept from an earlier run"),
    required<&FrontierReport::slices_ns>("slices_ns",
                                         "every launch, or run of them, that the host waited for"),
    optional<&FrontierReport::replay>("replay", "the policy over the logged numbers"),
    optional<&FrontierReport::verification>("verification",
                                            "with --verify and on a first run: what was checked"),
    optional<&FrontierReport::first_run>("first_run",
                                         "whether the result was checked without --verify, and why not"),
    optional<&FrontierReport::converged>(
        "converged", "of pagerank: whether the last iteration changed the ranks by less than the tolerance"),
    optional<&FrontierReport::rank_change>("rank_change", "by how much it changed them, in sum"),
    optional<&FrontierReport::comparison>("comparison", "with --compare: times of more rounds"),
    required<&FrontierReport::evidence>("evidence", "of every topology that was chosen, at its first wave"),
    optional<&FrontierReport::profile_file>("profile_file", "the device profile whose tuning it took"),
    optional<&FrontierReport::policy_file>("policy_file",
                                           "the launch policy that it took for the program's own"),
    required<&FrontierReport::warnings>("warnings", "what the program most likely does not mean"),
    required<&FrontierReport::files_written>("files_written", "what was written beside this report"),
    required<&FrontierReport::stuck_groups>("stuck_groups", "after a hang: which group waited for what"),
    required<&FrontierReport::waves>("waves", "every wave with its numbers and the choice made of them"),
};

} // namespace

constinit const Record Description<MemoryPart>::record = record_of<MemoryPart>("memory_part", part_fields);
constinit const Record Description<FrontierMemory>::record =
    record_of<FrontierMemory>("frontier_memory", memory_fields);
constinit const Record Description<TraversedGraph>::record =
    record_of<TraversedGraph>("traversed_graph", traversed_graph_fields);
constinit const Record Description<WaveSummary>::record =
    record_of<WaveSummary>("wave_summary", summary_fields);
constinit const Record Description<WaveRecord>::record = record_of<WaveRecord>("wave_record", wave_fields);
constinit const Record Description<Replay>::record = record_of<Replay>("replay", replay_fields);
constinit const Record Description<Verification>::record =
    record_of<Verification>("verification", verification_fields);
constinit const Record Description<RepeatedTimes>::record =
    record_of<RepeatedTimes>("repeated_times", times_fields);
constinit const Record Description<FrontierReport>::record =
    record_of<FrontierReport>("frontier_report", report_fields);

constinit const Document DocumentOf<FrontierReport>::document{
    .kind = "frontier_report",
    .title = "What the run of a frontier program did, wave by wave, and the proof that it is right",
    .direction = Direction::output,
    .record = &Description<FrontierReport>::record};

} // namespace tidegate::documents
