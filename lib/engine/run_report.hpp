// What a run tells. Plain data; the document run_report is made of it.
#pragma once
#include "engine/memory_layout.hpp"
#include "engine/recommend.hpp"
#include "engine/schedule.hpp"
#include "engine/synchronization.hpp"
#include "engine/timeline.hpp"
#include "work/program.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/profile.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>
#include <tidegate/policy/launch_policy.hpp>
#include <tidegate/policy/priority.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// A compiled program as people look at it: what its waves are and wait for, when its buffers live and where,
// and why the launch policy says what it says. Waves are those that were written, as in the report's plan;
// windows say which of them ran as one.

struct CompiledProgram;
} // namespace tidegate::engine

namespace tidegate::engine {

struct WaveSummary {
  std::string name; // that the program gives it, or its op and index
  std::string text; // what spans and arrows of a timeline call it
  std::string op;
  engine::WavePhase phase = engine::WavePhase::each;
  std::uint32_t tiles = 0;
};

// Waves that ran as one wave.
struct WindowSummary {
  std::string text; // what spans and arrows of a timeline call it
  std::vector<std::uint32_t> waves;
};

enum class BufferPlace : std::uint8_t { arena, image, registers };
inline constexpr std::array<std::string_view, 3> buffer_place_names{"arena", "image", "registers"};

struct BufferSummary {
  std::string name;
  std::uint64_t bytes = 0;
  BufferPlace place = BufferPlace::arena;
  std::uint64_t offset = 0;      // bytes, in the arena
  engine::GroupRange alive = {}; // groups
};

struct ProgramSummary {
  std::vector<WaveSummary> waves;
  std::vector<WindowSummary> windows;
  std::vector<engine::ResolvedDependency> dependencies;
  bool derived = false; // the dependencies
  std::vector<BufferSummary> buffers;
  std::uint32_t most_iterations = 1;
  std::uint64_t budget_bytes = 0; // 0: neither program nor device has one
  bool budget_given = false;      // by the program; otherwise it is what the device has
  std::vector<policy::TraceStep> reasons;
};

ProgramSummary summary_of(const engine::CompiledProgram& compiled);

enum class RunStatus : std::uint8_t {
  done,
  planned,        // --dry-run: no device was touched
  deadline,       // the wall time was over first
  interrupted,    // by a signal
  hang,           // a wait on the device ran out
  outputs_differ, // from those of plain launches
  checked,        // --check-bounds, --check-halos: nothing was found
  out_of_bounds,  // --check-bounds: something was
  outside_halo,   // --check-halos: a wave reaches further than the program states
  unchecked,      // --check-halos: none is stated, or not everything could be looked at
  queue_failed,   // an item failed, or items are left that make no progress
};
inline constexpr std::array<std::string_view, 11> run_status_names{
    "done",    "planned",       "deadline",     "interrupted", "hang",        "outputs_differ",
    "checked", "out_of_bounds", "outside_halo", "unchecked",   "queue_failed"};

// A work-group that waited in vain.
struct StuckGroup {
  std::uint32_t group = 0;
  std::uint64_t iteration = 0;
  std::uint32_t stage = 0;        // that it wanted to begin
  std::vector<std::string> waves; // of the stage
  std::uint64_t tile = 0;         // of the stage, its own first
  std::string counter;            // what it looked at
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
};

struct Difference {
  std::string buffer;
  std::uint64_t element = 0;
  std::string expected; // as the plain launches left it
  std::string found;
};

// What most likely lies behind outputs that differ.
enum class DifferenceCause : std::uint8_t {
  race,     // plain launches do not repeat themselves either
  order,    // this run does not repeat itself
  rounding, // floats, some units in the last place apart
  unknown,
};
inline constexpr std::array<std::string_view, 4> difference_cause_names{"race", "order", "rounding",
                                                                        "unknown"};

struct OutputParity {
  std::uint64_t checked = 0; // buffers
  bool equal = false;
  std::optional<Difference> first_difference;
  std::uint64_t differing_elements = 0;
  std::optional<std::uint64_t>
      largest_difference_ulp;                  // units in the last place, where only finite floats differ
  std::optional<DifferenceCause> likely_cause; // where they differ
};

struct Comparison {
  std::uint64_t rounds = 0;
  double plain_ns = 0; // medians
  double plain_min_ns = 0, plain_max_ns = 0;
  double run_ns = 0;
  double run_min_ns = 0, run_max_ns = 0;
  double speedup = 0; // plain over run
  std::vector<double> plain_rounds_ns;
  std::vector<double> run_rounds_ns;
};

enum class Side : std::uint8_t { before, behind };
inline constexpr std::array<std::string_view, 2> side_names{"before", "behind"};

// A wave that wrote beside a buffer.
struct BoundsViolation {
  std::string wave;
  std::uint64_t iteration = 0;
  std::string buffer;
  Side side = Side::behind;
  std::uint64_t distance_bytes = 0; // of the nearest changed byte: 0 is the first behind, 1 the last before
};

// What Oclgrind says of an access.
struct SimulatorFinding {
  std::string message;
  std::string kernel;
  std::string work_item;
  std::string file;
  std::uint64_t line = 0;
};

struct BoundsReport {
  std::uint64_t guard_bytes = 0;   // on each side of each buffer; 0 in the simulator, which needs none
  std::uint64_t checked_waves = 0; // after so many launches the guards were looked at
  bool complete = true;            // the program came to its end in time, or to a violation
  std::vector<BoundsViolation> violations;
  std::string simulator; // the runtime that ran it too; empty where none is installed
  std::vector<SimulatorFinding> findings;
};

// The first access that a stated halo does not allow.
struct HaloViolation {
  std::string wave;
  std::string op;
  std::uint64_t argument = 0;
  std::string parameter; // its name
  std::string buffer;
  std::uint64_t iteration = 0;
  bool writes = false;
  std::uint64_t subscript = 0; // as the kernel takes it
  std::uint32_t dimension = 0;
  std::uint32_t tile = 0;           // in this dimension
  std::vector<std::uint32_t> tiles; // its place in all of them
  std::string before;               // the earlier wave
  std::uint32_t before_tile = 0;    // that touched the element, in this dimension
  std::uint32_t first_allowed = 0;  // of the earlier wave
  std::uint32_t last_allowed = 0;
};

// A use of a pointer that is no subscript, and so is not looked at.
struct UnwatchedAccess {
  std::string kernel;
  std::string parameter;
  std::string file;
  std::uint64_t line = 0;
};

struct HaloReport {
  std::uint64_t stated_halos = 0; // between two waves' arguments
  std::uint64_t looked_at = 0;    // of those: an access met what an earlier wave had touched
  std::uint64_t checked_waves = 0;
  bool complete = true; // the program came to its end in time, or to a violation
  std::optional<HaloViolation> violation;
  std::vector<UnwatchedAccess> unwatched;
};

struct MemoryReport {
  std::uint64_t arena_bytes = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t sum_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;
  bool optimal = false;
  std::uint64_t table_bytes = 0;                              // descriptors and counters beside the arena
  std::vector<std::pair<std::string, std::uint64_t>> offsets; // by buffer
};

// What ends the repetition, and how far it came.
struct UntilReport {
  std::string buffer;
  std::string waiting_for; // the value of element 0
  std::string value;       // that it had after the last iteration
  bool reached = false;
};

// A file that the run has written beside its report.
struct WrittenFile {
  std::string file;
  std::string what; // "buffer \"heat\"", "image \"photo\"", "generated kernel", "trace", "page"
  std::uint64_t bytes = 0;
};

// The file of --trace.
struct TraceReport {
  std::string file;
  std::string clock; // of the device; "none" where only launches are known
  std::uint64_t spans = 0;
  std::uint64_t left_out_spans = 0; // that there was no room for
};

// An item that was not done.
struct QueueFaultReport {
  std::uint64_t item = 0; // as the queue was given
  std::string op;
  std::uint32_t code = 0; // of TIDEGATE_FAULT
};

// A wave of work items. Ages count rounds.
struct QueueReport {
  std::string wave;
  std::uint64_t items = 0; // that were given
  std::uint64_t deduped_items = 0;
  std::uint64_t published_items = 0;
  std::uint64_t items_remaining = 0;
  bool requeues = false; // its ops can
  std::uint64_t rounds = 0;
  std::uint64_t requeue_count = 0;
  std::uint64_t aged_promotions = 0;
  std::uint32_t max_priority_age = 0;
  std::optional<QueueFaultReport> fault;
};

struct FallbackReport {
  std::string wave;
  std::string reason;
};

// Waves that one wave ran as.
struct WindowReport {
  std::vector<std::string> waves;
  std::uint64_t meetings = 0;                // of a tile's work-items between two of them
  std::vector<std::string> register_buffers; // that were nowhere but in registers
};

// An op that had cases of its own in the generated kernel.
struct HotOpReport {
  std::string op;
  std::uint64_t tiles = 0; // in all iterations
};

// What was promoted; what the policy says of it stands in the evidence.
struct PromotionReport {
  engine::Promotion promoted = engine::Promotion::none;
  std::string reason;
  std::vector<WindowReport> windows;
  std::vector<HotOpReport> ops;
};

// A way in which the program could have been launched, by the cost model (compiler/cost_model.hpp).
struct CandidateReport {
  Strategy strategy = Strategy::launch;
  std::uint32_t side_by_side = 1; // tiles in a work-group
  std::uint32_t workgroup_size = 0;
  std::uint32_t worker_groups = 0;        // of a persistent launch
  std::optional<engine::TileOrder> order; // likewise
  double estimated_ns = 0;
  device::CostParts estimated_parts_ns; // that is their sum
  bool taken = false;
  std::optional<double> measured_ns;  // of what was taken: the median where rounds were compared
  std::optional<std::string> refused; // why it may not be taken
};

// A way to launch the program that its first run tried.
struct TriedWay {
  std::string knob;            // what was changed
  std::string value;           // to what
  std::optional<double> ratio; // of its time to that of what was best before; none where it was not timed
  bool taken = false;
  std::string thrown_out; // why it does not count; or empty
};

// How the first run of a program on a device chose the way to launch it: candidates were compared with plain
// launches on the program's own data, and timed. Later runs take what was kept.
struct FirstRun {
  bool compared = false;        // with plain launches: all that could be taken
  bool equal = false;           // in every byte of the outputs
  bool measured = false;        // candidates were timed
  bool kept = false;            // in the user's folder, for later runs
  std::string reason;           // for people
  std::uint64_t iterations = 0; // that were compared; 0 where nothing was
  std::uint64_t budget_ns = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t runs = 0;
  std::optional<double> plain_ns; // medians of a dispatch of those iterations
  std::optional<double> taken_ns;
  std::vector<TriedWay> tried;
  std::optional<OutputParity> difference;     // of what was not equal to plain launches
  std::optional<std::string> difference_file; // that holds everything that a report of the fault needs
};

struct Geometry { // of the launches
  std::uint32_t workgroup_size = 0;
  std::uint32_t worker_groups = 0;
};

struct Telemetry {
  std::uint64_t bytes_uploaded = 0;
  std::uint64_t bytes_read_back = 0;
  std::uint64_t bytes_moved = 0;
  std::uint64_t resident_allocations = 0;
  std::uint64_t kernel_launches = 0;
  std::uint64_t recorded_launches = 0; // of these, enqueued together as a command buffer
  std::uint64_t sync_points = 0;
  std::uint64_t occupancy_proxy_bps = 0;
  std::uint64_t frontier_density_bps = 0;
  std::uint64_t readback_buffers = 0;
  bool compiled_pipeline_cache_hit = false;
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

struct RunReport {
  RunStatus status = RunStatus::done;
  std::optional<Error> error; // when it is not done
  std::optional<DeviceReport> device;
  Strategy strategy = Strategy::launch;
  std::string strategy_reason;
  policy::ExecutionMode mode = policy::ExecutionMode::interpreter;
  std::string mode_reason;
  PromotionReport promotion;
  std::optional<std::vector<CandidateReport>> candidates; // where something is known of the device
  std::optional<FirstRun> first_run;                      // where the way to launch was left open
  std::optional<device::Ordering> ordering;               // persistent launches only
  std::uint64_t items_processed = 0;                      // tiles
  std::uint64_t items_remaining = 0;
  std::uint64_t items_in_all = 0; // tiles of as many iterations as the program may take
  std::uint64_t iterations = 0;
  std::optional<UntilReport> until; // where the program has one, and an iteration was completed
  std::optional<bool> converged;    // likewise: whether it was reached
  std::vector<Warning> warnings;
  std::uint64_t wall_time_ns = 0;
  std::uint64_t queue_plan_ns = 0;
  std::uint64_t queue_publish_ns = 0;
  std::uint64_t upload_ns = 0; // of that
  std::uint64_t build_ns = 0;
  std::uint64_t backend_dispatch_ns = 0;
  std::uint64_t read_back_ns = 0;
  std::uint64_t lineage_ns = 0;
  std::uint64_t published_items = 0;
  std::uint64_t deduped_items = 0;
  std::uint64_t lineage_items = 0;
  std::vector<std::uint32_t> region_lineage; // by group in dispatch order, bit n for source rule n
  std::optional<OutputParity> output_parity;
  std::optional<Comparison> comparison;
  std::optional<BoundsReport> bounds; // --check-bounds
  std::optional<HaloReport> halos;    // --check-halos
  std::vector<WrittenFile> files_written;
  std::vector<StuckGroup> stuck_groups;
  std::vector<FallbackReport> fallbacks;
  std::vector<QueueReport> queues;
  std::optional<policy::DrainRecommendation> priority; // of the requeues of all queues
  std::vector<std::string> assumed_macros;             // without a device: that the sources depend on
  Geometry recommended_geometry;
  Geometry effective_geometry;
  MemoryReport memory;
  planning::MemoryPlan plan;
  policy::LaunchRecommendation recommendation;
  policy::TopologyEvidence topology_evidence;
  policy::PromotionEvidence promotion_evidence;
  Telemetry telemetry;
  std::vector<std::uint64_t> slices_ns; // of persistent launches
  std::optional<TraceReport> trace;
  std::optional<std::string> profile_file; // that the choices rest on
  std::optional<std::string> policy_file;  // instead of the program's own policy
  std::optional<Timeline> timeline;        // of a traced run
  ProgramSummary program;
};

} // namespace tidegate::engine
