// The results of a run, which are the document run_report. Plain data.
#pragma once
#include "engine/proof.hpp"
#include "runtime/documents.hpp"

namespace tidegate::engine {
struct CompiledProgram;

struct BufferOffset {
  std::string buffer;
  std::uint64_t offset = 0;
};

struct MemoryReport {
  std::uint64_t arena_bytes = 0;
  std::uint64_t image_bytes = 0;
  std::uint64_t sum_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;
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

// Waves that ran as one wave.
struct WindowReport {
  std::vector<std::string> waves;
};

// Promotions of the run; the evidence holds the policy's reasons.
struct PromotionReport {
  engine::Promotion promoted = engine::Promotion::none;
  std::string reason;
  std::vector<WindowReport> windows;
  std::vector<std::string> ops; // hot ones, with separate cases in the generated kernel
};

// The time of a wave in a traced run, or of several waves that ran as one task.
struct WaveTime {
  std::string waves; // for people, joined by " + "
  std::uint64_t executions = 0;
  std::uint64_t time_ns = 0;      // from the first start to the last end of each execution
  std::uint64_t work_ns = 0;      // of all work-groups
  std::uint64_t wait_ns = 0;      // of all work-groups, for others, before they began it
  std::uint64_t buffer_bytes = 0; // of the buffers that an execution reads and writes
  std::uint64_t critical_ns = 0;  // part of the critical path
};

// The critical path leads backwards from the task that ended last: from each task to the one that ended last among
// those that it waited for and the one before it in its work-group.
struct WaveTimes {
  std::vector<WaveTime> waves;          // the longest part of the critical path first
  std::uint64_t critical_path_ns = 0;   // from the begin of its first task
  std::uint64_t synchronization_ns = 0; // part of it between tasks: signals, barriers, launches
  double device_bytes_per_ns = 0;       // memory rate that the self-test measured; 0: unknown
};

struct RunReport : runtime::ReportHead {
  std::optional<FirstRun> first_run; // of an open launch plan
  std::string mode_reason;           // of telemetry.execution_mode
  PromotionReport promotion;
  std::vector<Candidate> candidates; // if facts about the device are known
  std::uint64_t items_in_all = 0;    // of the most iterations that the program may run
  std::uint64_t iterations = 0;
  std::optional<std::string> until_value;
  std::optional<UntilReport> until; // if the program has one and completed an iteration
  std::optional<OutputParity> output_parity;
  std::vector<ExpectedReport> expected; // of a program that expects outputs
  std::optional<StressReport> stress;
  std::optional<BoundsReport> bounds; // --check bounds
  std::vector<WaveReason> fallbacks;
  std::vector<HitsReport> hits;     // of a program with lists
  std::vector<ActiveReport> active; // of waves with active tiles, after a run
  std::vector<QueueReport> queues;
  std::vector<std::string> assumed_macros; // without a device: macros on which the sources depend
  MemoryReport memory;
  documents::FrontierMemoryPlan plan;
  policy::LaunchRecommendation recommendation;
  documents::Evidence evidence;
  std::optional<WaveTimes> wave_times;             // of a traced run whose spans are all there
  std::shared_ptr<const CompiledProgram> compiled; // that ran, for the page; empty of a report that was read
};

} // namespace tidegate::engine

namespace tidegate::documents {

TIDEGATE_HAS_DOCUMENT(engine::RunReport);

} // namespace tidegate::documents
