// What a run is doing just now, for whoever watches it from another thread.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>

namespace tidegate::engine {

enum class Activity : std::uint8_t {
  asking,
  loading,
  compiling,
  building,
  filling,
  running,
  reading,
  proving,
  verifying,
  comparing,
  writing
};
inline constexpr std::array<std::string_view, 11> activity_names{
    "asking the device",        "loading the graph",
    "compiling the program",    "building kernels",
    "filling device memory",    "running the waves",
    "reading the outputs back", "running the plain launches that the outputs are compared with",
    "verifying the result",     "timing both ways",
    "writing the outputs"};

// Building has a limit of its own: the wall time is for the waves.
inline constexpr std::chrono::minutes build_limit{10};

struct Monitor {
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint32_t>::max(); // iterations

  std::atomic<Activity> activity = Activity::asking;
  std::atomic<std::uint64_t> iterations = 0;      // that were completed
  std::atomic<const char*> counted = "iteration"; // what they are called
  std::atomic<std::uint64_t> most_iterations = 1;
  std::atomic<std::uint64_t> in_flight = 0; // launches that the device has not come back from
  std::atomic<Clock::time_point> deadline = Clock::now() + build_limit;
  // Where a persistent launch looks now and then while it waits, in memory that host and device share:
  // anything but 0 makes it give up. Null where they share none.
  std::atomic<std::uint32_t*> gave_up = nullptr;
  std::atomic<bool> stopped = false; // the launch was asked to give up

  std::atomic<bool> settled = false; // one of two has decided how the run ends: it itself, or its watchdog

  // Called by the run, in its thread, as it begins with something; may be empty.
  std::function<void()> began;
  std::function<void()> before_kernels; // likewise, before kernels of the user's run

  void begin(Activity next) {
    activity = next;
    if (before_kernels && (next == Activity::running || next == Activity::proving)) {
      before_kernels();
    }
    if (began) {
      began();
    }
  }

  // True for the first caller: outputs are not written while the watchdog reports that there are none.
  bool settle() { return !settled.exchange(true); }

  // A watchdog that has given up ends the process meanwhile.
  void begin_writing() {
    while (!settle()) {
      std::this_thread::sleep_for(build_limit);
    }
    begin(Activity::writing);
  }

  void stop() {
    if (std::uint32_t* const word = gave_up) {
      stopped = true;
      std::atomic_ref(*word).store(1, std::memory_order_release);
    }
  }
};

// For kernels that never return: nothing on the device can stop them.

// At the monitor's deadline, and at an interrupt, it asks the launch that is under way to stop, from a thread
// of its own; when it still lives a grace period later it calls `give_up`, which says what has happened and
// ends the process. It looks no longer once the run writes its outputs.
class Watchdog {
public:
  Watchdog(Monitor& monitor, std::chrono::nanoseconds grace, std::function<void(bool interrupted)> give_up);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

} // namespace tidegate::engine
