// When launches began and ended on the device, by the profiling of their events, in the host's time.
#pragma once

#include <tidegate/device/handles.hpp>
#include <tidegate/run/trace.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidegate::run {

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

} // namespace tidegate::run
