#include "runtime/monitor.hpp"

#include "core/interrupt.hpp"

namespace tidegate::runtime {

Watchdog::Watchdog(Monitor& monitor, std::chrono::nanoseconds patience, std::function<void(bool)> give_up) {
  monitor.settled = false;
  thread_ = std::thread([this, &monitor, patience, give_up = std::move(give_up)] {
    using Clock = Monitor::Clock;
    constexpr auto look = std::chrono::milliseconds(50);
    std::optional<Clock::time_point> interrupted_at;
    std::optional<Clock::time_point> compiles_since;
    std::unique_lock lock(mutex_);
    while (!monitor.settled && !changed_.wait_for(lock, look, [this] { return done_; })) {
      const auto now = Clock::now();
      if (InterruptWatch::interrupted() && !interrupted_at) {
        interrupted_at = now;
      }
      const auto more = monitor.waits_for_others() ? build_limit : std::chrono::minutes(0);
      if (!device::work_notes().compiling) {
        compiles_since.reset();
      } else if (!compiles_since) {
        compiles_since = now;
      }
      const auto deadline = compiles_since ? *compiles_since + build_limit : monitor.deadline.load() + more;
      const auto end = std::min(deadline, interrupted_at.value_or(Clock::time_point::max()));
      if (now >= end) {
        monitor.stop(); // repeatedly, because a slice that has just started has cleared the word
      }
      if (now - patience >= end && monitor.settle()) {
        give_up(interrupted_at.has_value());
        return;
      }
    }
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

} // namespace tidegate::runtime
