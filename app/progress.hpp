// What a long run is doing, on standard error.
#pragma once

#include <tidegate/run/monitor.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tidegate::app {

enum class ProgressStyle : std::uint8_t {
  none,
  line,  // on a terminal: one line that is written anew, once the run has taken a second, and goes at its end
  lines, // one for everything that the run begins with, and one a second while the waves run
};

// "running the waves, iteration 12 of 500, 3.2 s".
std::string progress_text(const run::Monitor& monitor, std::chrono::nanoseconds elapsed);

// Looks at the monitor of a run from a thread of its own: the watchdog of a run has no time for terminals
// that do not take text.
class Progress {
public:
  // `text` says what is going on, for so long; left out, it is progress_text().
  using Text = std::function<std::string(std::chrono::nanoseconds elapsed)>;
  Progress(run::Monitor& monitor, ProgressStyle style, const Text& text = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Nothing more is told, and the line is gone. From any thread.
  void finish();

private:
  void watch();
  void write(std::string_view text) const;
  void tell(); // under the lock

  run::Monitor& monitor_;
  ProgressStyle style_;
  Text text_;
  int descriptor_; // standard error of its own: what drivers print there is caught while they build
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool line_stands_ = false;
  std::thread thread_;
};

} // namespace tidegate::app
