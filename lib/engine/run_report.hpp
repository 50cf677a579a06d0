// The results of a run, which become the document run_report. Plain data.
#pragma once
#include "core/statistics.hpp"
#include "engine/active.hpp"
#include "engine/hits.hpp"
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include "engine/recommend.hpp"
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"
#include "engine/timeline.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/core/text.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

struct CompiledProgram;

struct WaveSummary {
  std::string name; // given by the program, or its op and index
  std::string text; // label of its spans and arrows in a timeline
  std::string op;
  engine::Section section = engine::Section::each;
  std::uint32_t tiles = 0;
};

// Waves that ran as one wave.
struct WindowSummary {
  std::string text; // label of its spans and arrows in a timeline
  std::vector<std::uint32_t> waves;
};

enum class MemoryKind : std::uint8_t { arena, image, registers };
inline constexpr std::array<std::string_view, 3> memory_kind_names{"arena", "image", "registers"};

struct BufferSummary {
  std::string name;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::arena;
  std::uint64_t offset = 0;         // bytes, in the arena
  planning::ArenaBuffer alive = {}; // in barrier groups
};

// A compiled program for readers of reports: its waves with dependencies, its buffers with lifetimes and
// offsets, and the reasons of the launch policy. Waves are those of the program as written; windows list
// which of them ran as one.
struct ProgramSummary {
  std::vector<WaveSummary> waves;
  std::vector<WindowSummary> windows;
  planning::WaveDag dag;
  bool derived = false; // the dependencies were derived
  std::vector<BufferSummary> buffers;
  std::uint32_t most_iterations = 1;
  std::uint64_t budget_bytes = 0; // 0: neither program nor device has a limit
  bool budget_given = false;      // by the program; otherwise it is the device's memory
  std::vector<policy::ExplanationStep> reasons;
};

ProgramSummary summary_of(const engine::CompiledProgram& compiled);

enum class RunStatus : std::uint8_t {
  done,
  planned,        // --dry-run: no device was used
  deadline,       // the wall time was exceeded
  interrupted,    // by a signal
  hang,           // a wait on the device timed out
  outputs_differ, // from those of plain launches
  checked,        // --check bounds, --check halos: no violation
  out_of_bounds,  // --check bounds: a violation
  outside_halo,   // --check halos: a wave reaches beyond a stated halo
  unchecked,      // --check halos: no halo is stated, or some accesses could not be watched
  queue_failed,   // an item failed, or the remaining items make no progress
  hits_overflow,  // a list has no room for all hits
};
inline constexpr std::array<std::string_view, 12> run_status_names{
    "done",    "planned",       "deadline",     "interrupted", "hang",         "outputs_differ",
    "checked", "out_of_bounds", "outside_halo", "unchecked",   "queue_failed", "hits_overflow"};

// A work-group whose wait timed out.
struct StuckGroup {
  std::uint32_t group = 0;
  std::uint64_t iteration = 0;
  std::uint32_t stage = 0;        // the stage to start
  std::vector<std::string> waves; // of the stage
  std::uint64_t tile = 0;         // its first tile, as an index into the stage
  std::string counter;            // the counter that it polled
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
};

struct Difference {
  std::string buffer;
  std::uint64_t element = 0;
  std::string expected; // result of the plain launches
  std::string found;
};

// Likely cause of differing outputs.
enum class DifferenceCause : std::uint8_t {
  race,     // plain launches do not repeat their outputs
  order,    // this run does not repeat its outputs
  rounding, // floats that differ by some units in the last place
  unknown,
  item_order, // the outputs depend on the order of a queue's items
};
inline constexpr std::array<std::string_view, 5> difference_cause_names{"race", "order", "rounding",
                                                                        "unknown", "item_order"};

struct OutputParity {
  std::uint64_t checked = 0; // buffers
  bool equal = false;
  std::optional<Difference> first_difference;
  std::uint64_t differing_elements = 0;
  std::optional<std::uint64_t>
      largest_difference_ulp;                  // units in the last place, if only finite floats differ
  std::optional<DifferenceCause> likely_cause; // if they differ
  std::optional<bool>
      items_reversed; // true: this run is equal, and plain launches with items in reverse differ
};

// An output next to the user's own reference.
struct ExpectedReport {
  std::string buffer;
  std::string file;
  double rtol = 0;
  double atol = 0;
  bool equal = false; // within the tolerances
  std::uint64_t elements = 0;
  std::uint64_t outside = 0;       // elements outside of the tolerances
  std::optional<Difference> worst; // the one that is nearest to them or farthest outside, if any differs
};

// Kinds of runs under stress, by their difference from plain launches in the program's order.
enum class StressKind : std::uint8_t {
  wave_order, // plain launches of the waves in another order that the dependencies allow
  launch,     // the strategies, with tiles in another order and late work-groups
  barrier,
  counters,
};
inline constexpr std::array<std::string_view, 4> stress_kind_names{"wave_order", "launch", "barrier",
                                                                   "counters"};

struct StressRuns {
  StressKind kind = StressKind::wave_order;
  std::uint64_t runs = 0;
};

struct StressFailure {
  std::uint64_t seed = 0; // --stress 1 with this seed repeats it
  StressKind kind = StressKind::wave_order;
  std::string variation; // for people
  RunStatus status =
      RunStatus::done; // outputs_differ, or the status with which the run ended without outputs
  std::optional<OutputParity> difference;
  // Two waves whose order decides, or else those that write the differing buffer.
  std::vector<std::string> waves;
  bool order_decides = false; // of the two waves
};

struct StressReport {
  std::uint64_t runs = 0; // that were requested
  std::uint64_t seed = 0; // of the first
  bool in_time = true;    // all of them, or those before the failure
  std::vector<StressRuns> completed;
  std::optional<StressFailure> failure;
};

// A run timed again and again, next to plain launches: of a traversal, a launch for each step.
struct Comparison {
  std::uint64_t rounds = 0;
  double plain_ns = 0; // medians
  double run_ns = 0;
  double speedup = 0; // plain time divided by run time: the median of the rounds, with its interval
  double speedup_low = 0, speedup_high = 0;
  SpeedVerdict verdict = SpeedVerdict::too_few_rounds;
  std::vector<double> plain_rounds_ns;
  std::vector<double> run_rounds_ns;
  std::optional<bool> traced; // the kernel also reads the device's clock, as --trace needs it
};

// This run's times next to those of an earlier report; nothing pairs the rounds.
struct BaselineReport {
  std::string file;
  std::uint64_t rounds = 0;
  double run_ns = 0;  // median of the earlier run
  double speedup = 1; // the earlier time divided by this run's, with its interval
  double speedup_low = 1, speedup_high = 1;
  SpeedVerdict verdict = SpeedVerdict::too_few_rounds;
};

enum class Side : std::uint8_t { before, after };
inline constexpr std::array<std::string_view, 2> side_names{"before", "after"}; // in documents

// A wave that wrote outside a buffer.
struct BoundsViolation {
  std::string wave;
  std::uint64_t iteration = 0;
  std::string buffer;
  Side side = Side::after;
  std::uint64_t distance_bytes = 0; // of the nearest changed byte; 0: the first byte past the end
  std::uint64_t changed_bytes = 0;  // of the guard
  std::uint64_t buffer_bytes = 0;
};

// Returns where it wrote: past the end of "sums" (first byte at offset 280, 4 bytes changed).
std::string place_text(const BoundsViolation& violation);

struct BoundsReport {
  std::uint64_t guard_bytes = 0;   // on each side of each buffer
  std::uint64_t checked_waves = 0; // launches after which the guards were checked
  bool complete = true;            // the program finished in time, or reached a violation
  std::vector<BoundsViolation> violations;
};

// The first access beyond a stated halo.
struct HaloViolation {
  std::string wave;
  std::string op;
  std::uint64_t argument = 0;
  std::string parameter; // its name
  std::string buffer;
  std::uint64_t iteration = 0;
  bool writes = false;
  std::uint64_t subscript = 0; // as in the kernel
  std::uint32_t dimension = 0;
  std::uint32_t tile = 0;           // in this dimension
  std::vector<std::uint32_t> tiles; // its place in all of them
  std::string before;               // that tile in all dimensions
  std::uint32_t before_tile = 0;    // tile of the earlier wave that touched the element
  std::uint32_t first_allowed = 0;  // of the earlier wave
  std::uint32_t last_allowed = 0;
};

// A use of a pointer that is not a subscript and therefore not checked.
struct UnwatchedAccess {
  std::string kernel;
  std::string parameter;
  std::string file;
  std::uint64_t line = 0;
};

struct HaloReport {
  std::uint64_t stated_halos = 0; // between two waves' arguments
  std::uint64_t looked_at = 0;    // halos for which an access was checked
  std::uint64_t checked_waves = 0;
  bool complete = true; // the program finished in time, or reached a violation
  std::optional<HaloViolation> violation;
  std::vector<UnwatchedAccess> unwatched;
};

struct BufferOffset {
  std::string buffer;
  std::uint64_t offset = 0;
};

struct MemoryReport {
  std::uint64_t arena_bytes = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t sum_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;
  bool optimal = false;
  std::uint64_t table_bytes = 0; // descriptors and counters outside the arena
  std::vector<BufferOffset> offsets;
};

// The end condition of the repetition, and its last value.
struct UntilReport {
  std::string buffer;
  std::string waiting_for; // value of element 0 that ends the repetition
  std::string value;       // value after the last iteration
  bool reached = false;
};

// A file that the run wrote in addition to its report.
struct WrittenFile {
  std::string file;
  std::string what; // "buffer \"heat\"", "image \"photo\"", "generated kernel", "trace", "page"
  std::uint64_t bytes = 0;
};

// The file of --trace.
struct TraceReport {
  std::string file;
  std::string clock; // clock of the device; "none" if only launches are known
  std::uint64_t spans = 0;
  std::uint64_t left_out_spans = 0; // spans that did not fit
};

// Items of a queue whose ops publish, counted on the device in all iterations.
struct PublishingReport {
  std::uint64_t given_items = 0; // that the iterations began with
  std::uint64_t published_items = 0;
  std::uint64_t executed_items = 0;
  std::uint64_t deduped_items = 0; // published items that were identical to others
  std::uint32_t capacity = 0;
  std::uint32_t needed_capacity = 0;
  std::optional<std::uint64_t> grown_from; // the first capacity, if the program ran again
};

// A wave of work items. Ages count rounds.
struct QueueReport {
  std::string wave;
  std::uint64_t items = 0; // given items
  std::uint64_t deduped_items = 0;
  std::uint64_t published_items = 0;
  std::uint64_t items_processed = 0; // in all iterations, like those that remain
  std::uint64_t items_remaining = 0;
  bool requeues = false; // some op can requeue
  std::uint64_t rounds = 0;
  std::uint64_t requeue_count = 0;
  std::uint64_t aged_promotions = 0;
  std::uint32_t max_priority_age = 0;
  std::optional<PublishingReport> publishing;
};

struct FallbackReport {
  std::string wave;
  std::string reason;
};

// One of several ranks. Times are those of its dispatch.
struct RankReport {
  std::uint32_t rank = 0;
  std::string host;
  std::string device;
  std::uint64_t dispatch_ns = 0;
  std::uint64_t waiting_ns = 0; // part of dispatch_ns: for messages of other ranks
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages = 0;                // sent
  std::optional<std::uint64_t> edges;        // of a graph: of its vertices
  std::optional<std::uint64_t> device_bytes; // for its part of a graph, or its buffers
};

// Each rank runs its part of a wave, or rank 0 runs it and sends the others what it may have written.
enum class RunsOn : std::uint8_t { parts, one };
inline constexpr std::array<std::string_view, 2> runs_on_names{"parts", "one"};

struct RankWaveReport {
  std::string wave;
  RunsOn runs_on = RunsOn::parts;
  std::string reason, fix;
};

struct RankBufferReport {
  std::string buffer;
  bool split = false;           // each rank writes its part
  bool in_parts = false;        // and has room for what it touches alone
  std::uint64_t bytes_sent = 0; // of its contents, by all ranks
  std::string reason, fix;      // why it is not split, or has room for all of it
};

// A run on several ranks.
struct RanksReport {
  std::vector<RankReport> ranks;
  std::uint32_t slowest = 0; // the rank that worked longest, without waiting
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages = 0;
  std::vector<RankWaveReport> waves;     // of a wave program
  std::vector<RankBufferReport> buffers; // of a wave program
};

// Waves that ran as one wave.
struct WindowReport {
  std::vector<std::string> waves;
  std::vector<std::string> register_buffers; // buffers that exist only in registers
};

// An op with separate cases in the generated kernel.
struct HotOpReport {
  std::string op;
  std::uint64_t tiles = 0; // in all iterations
};

// Promotions of the run; the evidence holds the policy's reasons.
struct PromotionReport {
  engine::Promotion promoted = engine::Promotion::none;
  std::string reason;
  std::vector<WindowReport> windows;
  std::vector<HotOpReport> ops;
};

// A launch plan with its estimate by the cost model (engine/cost_model.hpp).
struct CandidateReport {
  Strategy strategy = Strategy::launch;
  std::uint32_t side_by_side = 1;             // concurrent tiles in a work-group
  std::uint32_t worker_groups = 0;            // of a persistent launch
  std::optional<engine::TileMapping> mapping; // of a persistent launch
  double estimated_ns = 0;
  bool taken = false;
  std::optional<double> measured_ns;  // of the chosen plan; the median if rounds were compared
  std::optional<std::string> refused; // why it may not be chosen
};

// A candidate that a first run of the program has begun with. One with neither a ratio nor a reason is tried again.
struct TriedWay {
  std::string value;
  std::optional<double> ratio; // its time divided by that of plain launches; empty if it was not timed
  bool taken = false;
  std::string thrown_out; // why it was rejected; or empty
};

// The choice of a launch plan by the first runs of a program on a device: candidates are compared with plain launches
// on the program's data, and timed, until each has been tried. Later runs reuse the result.
struct FirstRun {
  bool compared = false;        // with plain launches
  bool equal = false;           // the outputs of what runs, in every byte
  bool measured = false;        // candidates were timed
  bool kept = false;            // in the user's folder, for later runs
  bool settled = false;         // no later run tries candidates
  std::string reason;           // for people
  std::string next;             // what the next run does, for people
  std::uint64_t candidates = 0; // of them `tried` has those that were tried, by all runs
  std::uint64_t repeat = 0;     // of the program when candidates were timed; 0: unknown
  std::uint64_t iterations = 0; // compared iterations; 0 if nothing was compared
  std::uint64_t budget_ns = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t runs = 0;
  std::optional<double> plain_ns; // medians of a dispatch of those iterations
  std::optional<double> taken_ns;
  std::vector<TriedWay> tried;
  std::optional<OutputParity> difference;     // of a candidate that differed from plain launches
  std::optional<std::string> difference_file; // file with all data for a bug report
};

struct Geometry { // of the launches
  std::uint32_t workgroup_size = 0;
  std::uint32_t worker_groups = 0;
};

// Counts of a run: by the session of the device, by the device, and from the place that the run came to. The
// last six are the policy's and the program's.
struct Telemetry {
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_read_back = 0;
  std::uint64_t bytes_moved = 0;
  std::uint64_t resident_allocations = 0;
  std::uint64_t kernel_launches = 0;   // of the dispatch
  std::uint64_t filling_launches = 0;  // outside of it, to fill device memory or to check results there
  std::uint64_t recorded_launches = 0; // part of these, enqueued as a command buffer
  std::uint64_t sync_points = 0;
  std::uint64_t occupancy_proxy_bps = 0;
  std::uint64_t frontier_density_bps = 0;
  std::uint64_t readback_buffers = 0;
  bool compiled_pipeline_cache_hit = false;
  bool resident_input_cache_hit = false; // of a stream
  policy::Topology topology = policy::Topology::empty;
  policy::QueuePressure pressure = policy::QueuePressure::empty;
  policy::ExecutionMode execution_mode = policy::ExecutionMode::interpreter;
  std::uint64_t hit_capacity = 0;
  std::uint64_t estimated_peak_device_bytes = 0;
  std::uint64_t device_memory_budget_bytes = 0;
};

struct DeviceReport {
  std::string name;
  std::string platform;
  std::string driver_version;
};

// The part of a report that wave programs and traversals have in common.
struct ReportHead {
  std::optional<Identifier> id; // of the request, in a stream
  RunStatus status = RunStatus::done;
  std::optional<Error> error; // if it is not done
  std::optional<DeviceReport> device;
  Strategy strategy = Strategy::launch;
  std::string strategy_reason;
  std::optional<device::MemoryOrdering> ordering; // persistent launches only
  // The choice of a wave program's open launch plan, or the check of a traversal's first result.
  std::optional<FirstRun> first_run;
  std::optional<bool> converged; // `until` or PageRank's tolerance was reached
  std::vector<Warning> warnings;
  std::uint64_t wall_time_ns = 0; // total
  std::uint64_t upload_ns = 0;    // of a wave program: part of queue_publish_ns
  std::uint64_t build_ns = 0;
  std::uint64_t dispatch_ns = 0; // from the first launch to the end of the last
  std::vector<std::uint64_t> slices_ns;
  // Items: work-items of waves and items of queues, or vertices of frontiers.
  std::uint64_t items_processed = 0;
  std::uint64_t items_remaining = 0;
  std::uint64_t published_items = 0;
  std::uint64_t deduped_items = 0;
  std::uint64_t queue_plan_ns = 0;
  std::uint64_t queue_publish_ns = 0;
  std::uint64_t read_back_ns = 0;
  std::uint64_t lineage_ns = 0;
  std::uint64_t lineage_items = 0;            // that derive from a source rule
  std::uint64_t lineage_iterations = 0;       // that are listed
  std::vector<std::uint32_t> region_lineage;  // by executed group; bit n stands for source rule n
  Geometry geometry;                          // of the launches
  std::optional<std::string> geometry_reason; // if there were any
  Telemetry telemetry;
  std::string mode_reason;
  std::vector<WrittenFile> files_written;
  std::vector<StuckGroup> stuck_groups;
  std::optional<Comparison> comparison; // with --compare
  std::optional<BaselineReport> baseline;
  std::optional<std::string> profile_file; // the profile that was used
  std::optional<std::string> policy_file;  // replaces the program's policy
  std::optional<Timeline> timeline;        // of a traced run
  std::optional<TraceReport> trace;        // of its file
  std::optional<RanksReport> ranks;        // of a run on several
};

struct RunReport : ReportHead {
  policy::ExecutionMode mode = policy::ExecutionMode::interpreter;
  PromotionReport promotion;
  std::optional<std::vector<CandidateReport>> candidates; // if facts about the device are known
  std::uint64_t items_in_all = 0;                         // of the most iterations that the program may run
  std::uint64_t iterations = 0;
  std::optional<UntilReport> until; // if the program has one and completed an iteration
  std::optional<OutputParity> output_parity;
  std::optional<std::vector<ExpectedReport>> expected; // of a program that expects outputs
  std::optional<StressReport> stress;
  std::optional<BoundsReport> bounds; // --check bounds
  std::optional<HaloReport> halos;    // --check halos
  std::vector<FallbackReport> fallbacks;
  std::optional<std::vector<FallbackReport>> new_launches; // waves for whose images a launch ends
  std::optional<std::vector<HitsReport>> hits;             // of a program with lists
  std::optional<std::vector<ActiveReport>> active;         // of waves with active tiles, after a run
  std::vector<QueueReport> queues;
  std::vector<std::string> assumed_macros; // without a device: macros on which the sources depend
  MemoryReport memory;
  planning::MemoryPlan plan;
  policy::LaunchRecommendation recommendation;
  policy::TopologyEvidence topology_evidence;
  policy::PromotionEvidence promotion_evidence;
  std::optional<WaveTimes> wave_times; // of a traced run whose spans are all there
  ProgramSummary program;
};

} // namespace tidegate::engine
