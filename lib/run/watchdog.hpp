// For kernels that never return: nothing on the device can stop them.
#pragma once

#include <tidegate/run/monitor.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tidegate::run {

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

} // namespace tidegate::run
