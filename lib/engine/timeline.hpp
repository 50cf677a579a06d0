// A traced run for readers: lanes of spans.
#pragma once
#include "engine/generate.hpp"
#include "engine/launch_times.hpp"

namespace tidegate::engine {
struct CompiledProgram;

enum class SpanKind : std::uint8_t {
  launch,    // one launch
  slice,     // one persistent launch
  iteration, // from the first of its tasks to the first of the next iteration
  work,      // tiles
  wait,      // for other work-groups
  until,     // the test that ends the repetition
};
inline constexpr std::array<std::string_view, 6> span_kind_names{"launch", "slice", "iteration",
                                                                 "work",   "wait",  "until"};

// Packs of tiles of a stage: first, first + step, … With one tile per pack they are its tiles.
struct TileRun {
  std::uint32_t first = 0;
  std::int32_t step = 0;
  std::uint32_t count = 0;
};

struct TimelineSpan {
  SpanKind kind = SpanKind::work;
  std::uint64_t begin_ns = 0; // since the start of the dispatch
  std::uint64_t end_ns = 0;
  std::uint32_t name = 0; // index into the names
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> stage = {}; // of the schedule
  std::optional<TileRun> tiles = {};
};

struct Lane {
  std::string name;
  std::vector<TimelineSpan> spans; // in order, without overlap
};

// A value over time: each point holds from its moment on.
struct Curve {
  std::string name;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> points; // ns since the start of the dispatch, value
};

struct Timeline {
  engine::DeviceClock clock = engine::DeviceClock::none; // none: only launches are known
  std::vector<std::string> names;
  std::vector<Lane> lanes;
  std::vector<Curve> curves;
  std::optional<std::uint64_t> until_met_ns; // when the value was reached
  std::uint64_t left_out = 0;                // spans that did not fit

  [[nodiscard]] std::uint64_t span_count() const;
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

// Returns where the time went; nothing if spans are missing. `device_bytes_per_ns` is copied.
std::optional<WaveTimes> wave_times_of(const engine::CompiledProgram& compiled, const Trace& trace,
                                       std::uint32_t workers, double device_bytes_per_ns);

// Returns the timeline of a run; `until_met`: the condition held at its end.
Timeline timeline_of(const engine::CompiledProgram& compiled, const Trace& trace, bool until_met);

} // namespace tidegate::engine
