// For kernels that never return: nothing on the device can stop them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tidegate::run {

// Calls `give_up` on a thread of its own when it still lives at `deadline` and the grace period behind it, or
// the grace period after an interrupt. `give_up` says what has happened and ends the process.
class Watchdog {
public:
  Watchdog(std::chrono::steady_clock::time_point deadline, std::chrono::nanoseconds grace,
           std::function<void(bool interrupted)> give_up);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

} // namespace tidegate::run
