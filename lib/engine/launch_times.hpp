// Times of launches and of work-groups' tasks in a run, converted to the host's clock.
#pragma once
#include "device/session.hpp"
#include "engine/generate.hpp"

namespace tidegate::engine {

// A launch on the device; nanoseconds since the start of the dispatch.
struct LaunchSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::optional<std::uint32_t> stage; // of the schedule; empty for a slice of a persistent run
  std::uint32_t iteration = 0;        // first one of the launch
};

// A task of one work-group: consecutive tiles of a stage, or the test that ends the repetition.
struct TaskSpan {
  std::uint32_t group = 0;
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> row; // index into the tables' stages; empty for `until`
  std::uint64_t asked_ns = 0;       // the group reached the task
  std::uint64_t began_ns = 0;       // all waits had ended
  std::uint64_t ended_ns = 0;       // the task was done
  std::uint32_t first = 0;          // packs of tiles: first, first + step, …
  std::int32_t step = 0;
  std::uint32_t count = 0;
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
  struct Launch {
    device::Event event;
    std::optional<std::uint32_t> stage;
    std::uint32_t iteration = 0;
    std::uint64_t host_ns = 0; // just before it was enqueued
  };

  std::uint64_t room_;
  Clock::time_point start_;
  std::vector<Launch> launches_;
  std::uint64_t left_out_ = 0;
};

// The rows that kernels write; times are ticks of the device's clock.
namespace in_kernels {
using uint = std::uint32_t;
using ulong = std::uint64_t;
#include "wave/progress_state.h"
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
std::vector<TaskSpan> task_spans(engine::DeviceClock clock, std::span<const SliceTimes> slices,
                                 std::uint32_t group, std::span<const SpanRow> rows);

} // namespace tidegate::engine
