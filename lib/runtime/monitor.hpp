// The current activity of a run, for threads that watch it, and the watchdog that ends a run at its deadline.
#pragma once
#include "device/isolation.hpp"
#include "device/session.hpp"

namespace tidegate::runtime {

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

// Building has a separate limit: the wall time applies to the waves only.
inline constexpr std::chrono::minutes build_limit{10};

// A place in a run: `iteration` iterations are done, of the next one the stages before `stage`, and of that stage the
// first `turn` turns of every work-group.
struct Position {
  std::uint32_t iteration = 0;
  std::uint32_t stage = 0;
  std::uint32_t turn = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

struct Monitor {
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint32_t>::max(); // iterations

  std::atomic<Activity> activity = Activity::asking;
  std::atomic<std::uint64_t> iterations = 0;      // completed
  std::atomic<const char*> counted = "iteration"; // unit of `iterations`
  std::atomic<std::uint64_t> most_iterations = 1;
  std::atomic<std::uint64_t> items = 0;     // vertices of a traversal's frontiers that were processed
  std::atomic<std::uint64_t> in_flight = 0; // launches that have not finished
  std::atomic<Clock::time_point> deadline = Clock::now() + build_limit;
  // True while this process waits for other ranks, which may take long: it is not stuck meanwhile. May be null.
  std::atomic<const std::atomic<bool>*> waiting = nullptr;
  std::atomic<bool> stopped = false; // a launch was asked to give up
  static constexpr std::uint32_t no_wave = ~0U;
  std::atomic<std::uint32_t> wave = no_wave; // as written, that the device runs by itself, if that is known

  std::atomic<bool> settled = false; // set once, by the run or by its watchdog, to decide how the run ends

  // Keep, for reports of runs that do not return, the calls of a run from now on and how far it has come.
  void count(std::shared_ptr<const device::Calls> calls) {
    const std::scoped_lock lock(progress_mutex_);
    before_ = calls->now();
    calls_ = std::move(calls);
    reached_ = {};
  }
  void reach(const Position& reached) {
    const std::scoped_lock lock(progress_mutex_);
    reached_ = reached;
  }
  [[nodiscard]] device::CallCounts calls() const {
    const std::scoped_lock lock(progress_mutex_);
    return calls_ ? calls_->since(before_) : device::CallCounts();
  }
  [[nodiscard]] Position reached() const {
    const std::scoped_lock lock(progress_mutex_);
    return reached_;
  }

  // Says what the run is doing in place of its activity, and until when at the latest; "" for the activity.
  void say(std::string what, Clock::time_point end) {
    const std::scoped_lock lock(progress_mutex_);
    said_ = {std::move(what), end};
  }
  [[nodiscard]] std::pair<std::string, Clock::time_point> said() const {
    const std::scoped_lock lock(progress_mutex_);
    return said_;
  }

  [[nodiscard]] bool waits_for_others() const {
    const std::atomic<bool>* const waits = waiting;
    return waits != nullptr && *waits;
  }

  // Called in the run's thread at the start of each activity; may be empty.
  std::function<void()> began;

  void begin(Activity next) {
    activity = next;
    if (next == Activity::running || next == Activity::proving) {
      device::work_notes().kernels_ran = true;
    }
    if (began) {
      began();
    }
  }

  // Returns true for the first caller only: either the run writes its outputs or the watchdog reports a
  // failure.
  bool settle() { return !settled.exchange(true); }

  // If the watchdog has already given up, waits until it ends the process.
  void begin_writing() {
    while (!settle()) {
      std::this_thread::sleep_for(build_limit);
    }
    begin(Activity::writing);
  }

  // A waiting persistent launch polls this word, in memory that host and device share, and gives up when it is not 0; null
  // before its memory goes.
  void share(std::uint32_t* gave_up) {
    const std::scoped_lock lock(progress_mutex_);
    gave_up_ = gave_up;
  }
  void stop() {
    const std::scoped_lock lock(progress_mutex_);
    if (gave_up_ != nullptr) {
      stopped = true;
      std::atomic_ref(*gave_up_).store(1, std::memory_order_release);
    }
  }

private:
  mutable std::mutex progress_mutex_;
  std::shared_ptr<const device::Calls> calls_;
  device::CallCounts before_;
  Position reached_;
  std::uint32_t* gave_up_ = nullptr;
  std::pair<std::string, Clock::time_point> said_;
};

// Ends runs whose kernels never return. At the monitor's deadline, or at an interrupt, it asks the current
// launch to stop. If the launch still runs after `patience` it calls `give_up`, which reports the hang
// and ends the process. It stops watching once the run writes its outputs.
class Watchdog : NotCopied {
public:
  Watchdog(Monitor& monitor, std::chrono::nanoseconds patience,
           std::function<void(bool interrupted)> give_up);
  ~Watchdog();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

} // namespace tidegate::runtime
