#include <tidegate/run/task_spans.hpp>

#include <algorithm>
#include <cmath>

namespace tidegate::run {
namespace {

// Nanoseconds of a tick, from the slices as a whole: the longer the run, the better.
double tick_ns(compiler::DeviceClock clock, std::span<const SliceTimes> slices) {
  if (clock == compiler::DeviceClock::nanoseconds) {
    return 1;
  }
  double ns = 0;
  double ticks = 0;
  for (const SliceTimes& slice : slices) {
    ns += static_cast<double>(slice.end_ns - slice.begin_ns);
    ticks += static_cast<double>(slice.end_ticks - slice.begin_ticks);
  }
  return ticks == 0 ? 1 : ns / ticks;
}

std::uint64_t moment(const SliceTimes& slice, std::uint64_t ticks, double ns_per_tick) {
  const double since_begin =
      static_cast<double>(static_cast<std::int64_t>(ticks - slice.begin_ticks)) * ns_per_tick;
  const double length = static_cast<double>(slice.end_ns - slice.begin_ns);
  return slice.begin_ns + static_cast<std::uint64_t>(std::llround(std::clamp(since_begin, 0.0, length)));
}

} // namespace

std::vector<TaskSpan> task_spans(compiler::DeviceClock clock, std::span<const SliceTimes> slices,
                                 std::uint32_t group, std::span<const SpanRow> rows) {
  std::vector<TaskSpan> spans;
  const double ns_per_tick = tick_ns(clock, slices);
  std::size_t at = 0;
  for (const SpanRow& row : rows) {
    while (at + 1 < slices.size() && slices[at + 1].begin_ticks <= row.ended) {
      ++at;
    }
    if (slices.empty()) {
      break;
    }
    spans.push_back({.group = group,
                     .iteration = row.iteration,
                     .row = row.stage == SpanRow::until ? std::nullopt : std::optional(row.stage),
                     .asked_ns = moment(slices[at], row.asked, ns_per_tick),
                     .began_ns = moment(slices[at], row.began, ns_per_tick),
                     .ended_ns = moment(slices[at], row.ended, ns_per_tick),
                     .first = row.first,
                     .step = row.step,
                     .count = row.count});
  }
  return spans;
}

} // namespace tidegate::run
