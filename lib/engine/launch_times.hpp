// When launches began and ended on the device, by the profiling of their events, in the host's time.
#pragma once
#include "device/opencl.hpp"
#include "engine/generate.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::engine {

// What was seen of a run while it ran: when its launches began and ended, and when each work-group waited and
// worked. Plain data; timeline.hpp makes lanes of it.

// A launch on the device; nanoseconds since the dispatch began.
struct LaunchSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::optional<std::uint32_t> stage; // of the schedule; empty for a slice of a persistent run
  std::uint32_t iteration = 0;        // in which it began
};

// A task of one work-group: a run of tiles of a stage, or the look at what ends the repetition.
struct TaskSpan {
  std::uint32_t group = 0;
  std::uint32_t iteration = 0;
  std::optional<std::uint32_t> row; // of the tables' stages; empty for `until`
  std::uint64_t asked_ns = 0;       // it came to the task,
  std::uint64_t began_ns = 0;       // had nothing left to wait for,
  std::uint64_t ended_ns = 0;       // and was done
  std::uint32_t first = 0;          // packs of tiles: first, first + step, …
  std::int32_t step = 0;
  std::uint32_t count = 0;
};

struct Trace {
  std::vector<LaunchSpan> launches;
  std::vector<TaskSpan> tasks; // by group, in each by time
  std::uint64_t left_out = 0;  // spans that there was no room for
};

// Spans that are kept unless asked otherwise: a file of some 50 MB.
inline constexpr std::uint64_t default_trace_spans = 200'000;

class LaunchTimes {
public:
  using Clock = std::chrono::steady_clock;

  // At most so many launches are kept; none: nothing is measured.
  LaunchTimes(std::uint64_t room, Clock::time_point start) : room_(room), start_(start) {}

  // For the launch that is enqueued next; null when there is no room for it.
  cl::Event* event(std::optional<std::uint32_t> stage, std::uint32_t iteration);

  // The spans of all launches so far; their queue must have finished. Throws device::Refused.
  [[nodiscard]] std::vector<LaunchSpan> spans() const;

  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
  struct Launch {
    cl::Event event;
    std::optional<std::uint32_t> stage;
    std::uint32_t iteration = 0;
    std::uint64_t host_ns = 0; // just before it was enqueued
  };

  std::uint64_t room_;
  Clock::time_point start_;
  std::vector<Launch> launches_;
  std::uint64_t left_out_ = 0;
};

// The spans that the work-groups of persistent launches have written (kernels/wave/progress.cl), in the host's
// time.

// As it lies in device memory: tg_span of kernels/wave/progress_state.h. Times are ticks of the device's clock.
struct SpanRow {
  std::uint64_t asked = 0;
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
  std::uint32_t iteration = 0;
  std::uint32_t stage = 0;
  std::uint32_t first = 0;
  std::int32_t step = 0;
  std::uint32_t count = 0;
  std::uint32_t unused = 0;

  static constexpr std::uint32_t until = ~std::uint32_t{0}; // in place of a stage
};

// A persistent launch by both clocks.
struct SliceTimes {
  std::uint64_t begin_ns = 0; // of the launch
  std::uint64_t end_ns = 0;
  std::uint64_t begin_ticks = 0; // when its first work-group began and ended
  std::uint64_t end_ticks = 0;
};

// `rows` are those of one group, by time. What two clocks make of the same moment may differ a little: no
// span leaves its slice.
std::vector<TaskSpan> task_spans(engine::DeviceClock clock, std::span<const SliceTimes> slices,
                                 std::uint32_t group, std::span<const SpanRow> rows);

} // namespace tidegate::engine
