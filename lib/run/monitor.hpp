// What a run is doing just now, for whoever watches it from another thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace tidegate::run {

enum class Activity : std::uint8_t {
  compiling,
  building,
  filling,
  running,
  reading,
  proving,
  comparing,
  writing
};
inline constexpr std::array<std::string_view, 8> activity_names{
    "compiling the program",    "building kernels",
    "filling device memory",    "waiting for the device to run the waves",
    "reading the outputs back", "running the plain launches that the outputs are compared with",
    "timing both ways",         "writing the outputs"};

struct Monitor {
  std::atomic<Activity> activity = Activity::compiling;
  std::atomic<std::uint64_t> iterations = 0; // that were completed
  std::atomic<std::uint64_t> in_flight = 0;  // launches that the device has not come back from
};

} // namespace tidegate::run
