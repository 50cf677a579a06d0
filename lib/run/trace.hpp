// What was seen of a run while it ran: when its launches began and ended, and when each work-group waited and
// worked. Plain data; timeline.hpp makes lanes of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::run {

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

} // namespace tidegate::run
