// Times of launches and of work-groups' tasks in a run, converted to the host's clock, and its timeline for readers.
#pragma once
#include "device/session.hpp"

namespace tidegate::runtime {

// Clock that work-groups read for --trace; the values match kernels/common/clock.cl.
enum class DeviceClock : std::uint8_t {
  none,
  nanoseconds, // NVIDIA: a nanosecond register
  extension,   // cl_khr_kernel_clock
  processor,   // the cycle counter of an x86 processor, if host and device are the same
};
inline constexpr std::array<std::string_view, 4> device_clock_names{"none", "globaltimer",
                                                                    "cl_khr_kernel_clock", "processor"};

DeviceClock device_clock(const device::DeviceInfo& device);

// A launch on the device; nanoseconds since the start of the dispatch.
struct LaunchSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::optional<std::uint32_t> stage; // of the schedule; empty for a slice of a persistent run
  std::uint32_t iteration = 0;        // first one of the launch
};

// Packs of tiles of a stage: first, first + step, … With one tile per pack they are its tiles.
struct TileRun {
  std::uint32_t first = 0;
  std::int32_t step = 0;
  std::uint32_t count = 0;
};

// A task of one work-group: consecutive tiles of a stage, or the test that ends the repetition.
struct TaskSpan {
  std::uint32_t group = 0;
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> row; // index into the tables' stages; empty for `until`
  std::uint64_t asked_ns = 0;       // the group reached the task
  std::uint64_t began_ns = 0;       // all waits had ended
  std::uint64_t ended_ns = 0;       // the task was done
  TileRun tiles;
};

struct Trace {
  std::vector<LaunchSpan> launches;
  std::vector<TaskSpan> tasks; // by group, then by time
  std::uint64_t left_out = 0;  // spans that did not fit
};

// Default limit of spans: a file of about 50 MB.
inline constexpr std::uint64_t default_trace_spans = 200'000;

class LaunchTimes {
public:
  using Clock = std::chrono::steady_clock;

  // Keeps at most `room` launches; 0 disables the measurement.
  LaunchTimes(std::uint64_t room, Clock::time_point start) : room_(room), start_(start) {}

  // Returns an event for the next launch, or null if there is no room.
  device::Event* event(std::optional<std::uint32_t> stage, std::uint32_t iteration);

  // Returns the spans of all launches so far; their queue must have finished. Throws device::Refused.
  [[nodiscard]] std::vector<LaunchSpan> spans(const device::Session& session) const;

  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
  std::uint64_t room_;
  Clock::time_point start_;
  std::vector<device::Event> events_;
  std::vector<LaunchSpan> launches_; // which begin where the host is about to enqueue them
  std::uint64_t left_out_ = 0;
};

namespace in_kernels {
using uint = std::uint32_t;
using ulong = std::uint64_t;
#include "common/span.h"
} // namespace in_kernels
using SpanRow = in_kernels::tg_span;

// Times of a persistent launch by both clocks.
struct SliceTimes {
  std::uint64_t begin_ns = 0; // of the launch
  std::uint64_t end_ns = 0;
  std::uint64_t begin_ticks = 0; // begin and end of its first work-group
  std::uint64_t end_ticks = 0;
};

// Converts the rows of one group, in order of time. The clocks may disagree slightly; spans are clipped to
// their slices.
std::vector<TaskSpan> task_spans(DeviceClock clock, std::span<const SliceTimes> slices, std::uint32_t group,
                                 std::span<const SpanRow> rows);

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
  DeviceClock clock = DeviceClock::none; // none: only launches are known
  std::vector<std::string> names;
  std::vector<Lane> lanes;
  std::vector<Curve> curves;
  std::optional<std::uint64_t> until_met_ns; // when the value was reached
  std::uint64_t left_out = 0;                // spans that did not fit

  [[nodiscard]] std::uint64_t span_count() const;
};

} // namespace tidegate::runtime
