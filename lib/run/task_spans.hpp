// The spans that the work-groups of persistent launches have written (kernels/progress.cl), in the host's
// time.
#pragma once

#include <tidegate/compiler/device_clock.hpp>
#include <tidegate/run/trace.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::run {

// As it lies in device memory: tg_span of kernels/progress_state.h. Times are ticks of the device's clock.
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
std::vector<TaskSpan> task_spans(compiler::DeviceClock clock, std::span<const SliceTimes> slices,
                                 std::uint32_t group, std::span<const SpanRow> rows);

} // namespace tidegate::run
