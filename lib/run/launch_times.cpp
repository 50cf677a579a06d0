#include <tidegate/core/elapsed.hpp>
#include <tidegate/run/launch_times.hpp>

#include <algorithm>
#include <limits>

namespace tidegate::run {
namespace {

std::int64_t profiled(const cl::Event& event, cl_profiling_info what) {
  cl_ulong value = 0;
  device::require(event.getProfilingInfo(what, &value), "asking when a launch ran");
  return static_cast<std::int64_t>(value);
}

} // namespace

cl::Event* LaunchTimes::event(std::optional<std::uint32_t> stage, std::uint32_t iteration) {
  if (launches_.size() == room_) {
    left_out_ += room_ == 0 ? 0 : 1;
    return nullptr;
  }
  launches_.push_back({.event = {}, .stage = stage, .iteration = iteration, .host_ns = elapsed_ns(start_)});
  return &launches_.back().event;
}

// The device's clock counts nanoseconds from a moment of its own. A launch is never queued before the host
// asked for it: the launch that was queued soonest after that says how far the clocks are apart.
std::vector<LaunchSpan> LaunchTimes::spans() const {
  std::int64_t apart = std::numeric_limits<std::int64_t>::min();
  for (const Launch& launch : launches_) {
    apart = std::max(apart, static_cast<std::int64_t>(launch.host_ns) -
                                profiled(launch.event, CL_PROFILING_COMMAND_QUEUED));
  }
  std::vector<LaunchSpan> spans;
  std::int64_t last_end = 0; // launches run in order; clocks are read to some microsecond
  for (const Launch& launch : launches_) {
    const std::int64_t begin = std::max(last_end, profiled(launch.event, CL_PROFILING_COMMAND_START) + apart);
    last_end = std::max(begin, profiled(launch.event, CL_PROFILING_COMMAND_END) + apart);
    spans.push_back({.begin_ns = static_cast<std::uint64_t>(begin),
                     .end_ns = static_cast<std::uint64_t>(last_end),
                     .stage = launch.stage,
                     .iteration = launch.iteration});
  }
  return spans;
}

} // namespace tidegate::run
