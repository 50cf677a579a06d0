#include "runtime/trace.hpp"

namespace tidegate::runtime {
namespace {

#if defined(__x86_64__)
constexpr bool x86 = true;
#else
constexpr bool x86 = false; // other systems may forbid programs to read the counter
#endif

} // namespace

DeviceClock device_clock(const device::DeviceInfo& device) {
  if (device::takes_ptx(device)) {
    return DeviceClock::nanoseconds;
  }
  if (device.extensions.find("cl_khr_kernel_clock") != std::string::npos) {
    return DeviceClock::extension;
  }
  // Clang has a built-in function for the counter.
  return x86 && device::is_pocl(device) && device.type == device::DeviceType::cpu ? DeviceClock::processor
                                                                                  : DeviceClock::none;
}

device::Event* LaunchTimes::event(std::optional<std::uint32_t> stage, std::uint32_t iteration) {
  if (launches_.size() == room_) {
    left_out_ += room_ == 0 ? 0 : 1;
    return nullptr;
  }
  launches_.push_back({.begin_ns = elapsed_ns(start_), .stage = stage, .iteration = iteration});
  return &events_.emplace_back();
}

// The device's clock has an unknown origin. A launch is never queued before the host enqueues it, so the
// smallest difference between these times is the offset of the clocks.
std::vector<LaunchSpan> LaunchTimes::spans(const device::Session& session) const {
  std::int64_t apart = std::numeric_limits<std::int64_t>::min();
  std::vector<device::EventTimes> times;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    times.push_back(session.times_of(events_[i]));
    apart = std::max(apart, static_cast<std::int64_t>(launches_[i].begin_ns - times[i].queued));
  }
  std::vector<LaunchSpan> spans = launches_;
  std::int64_t last_end = 0; // launches run in order; clocks are accurate to a few microseconds
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::int64_t begin = std::max(last_end, static_cast<std::int64_t>(times[i].started) + apart);
    last_end = std::max(begin, static_cast<std::int64_t>(times[i].ended) + apart);
    spans[i].begin_ns = static_cast<std::uint64_t>(begin);
    spans[i].end_ns = static_cast<std::uint64_t>(last_end);
  }
  return spans;
}

namespace {

// Returns nanoseconds per tick, from the first slice to the last; longer runs are more accurate.
double tick_ns(DeviceClock clock, std::span<const SliceTimes> slices) {
  if (clock == DeviceClock::nanoseconds) {
    return 1;
  }
  const std::uint64_t ticks = slices.empty() ? 0 : slices.back().end_ticks - slices.front().begin_ticks;
  return ticks == 0 ? 1
                    : static_cast<double>(slices.back().end_ns - slices.front().begin_ns) /
                          static_cast<double>(ticks);
}

std::uint64_t moment(const SliceTimes& slice, std::uint64_t ticks, double ns_per_tick) {
  const double since_begin =
      static_cast<double>(static_cast<std::int64_t>(ticks - slice.begin_ticks)) * ns_per_tick;
  const double length = static_cast<double>(slice.end_ns - slice.begin_ns);
  return slice.begin_ns + static_cast<std::uint64_t>(std::llround(std::clamp(since_begin, 0.0, length)));
}

} // namespace

std::vector<TaskSpan> task_spans(DeviceClock clock, std::span<const SliceTimes> slices, std::uint32_t group,
                                 std::span<const SpanRow> rows) {
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
                     .row = row.stage == TG_SPAN_UNTIL ? std::nullopt : std::optional(row.stage),
                     .asked_ns = moment(slices[at], row.asked, ns_per_tick),
                     .began_ns = moment(slices[at], row.began, ns_per_tick),
                     .ended_ns = moment(slices[at], row.ended, ns_per_tick),
                     .tiles = {row.first, static_cast<std::int32_t>(row.step), row.count}});
  }
  return spans;
}

std::uint64_t Timeline::span_count() const {
  std::uint64_t count = 0;
  for (const Lane& lane : lanes) {
    count += lane.spans.size();
  }
  return count;
}

} // namespace tidegate::runtime
