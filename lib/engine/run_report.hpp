// The results of a run, which become the document run_report. Plain data.
#pragma once
#include "engine/active.hpp"
#include "engine/bounds.hpp"
#include "engine/hits.hpp"
#include "engine/job.hpp"
#include "engine/memory_layout.hpp"
#include "engine/queue_rounds.hpp"
#include "engine/recommend.hpp"
#include "engine/report_head.hpp"
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

struct FallbackReport {
  std::string wave;
  std::string reason;
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
