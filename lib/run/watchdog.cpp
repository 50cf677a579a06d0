#include <tidegate/core/interrupt.hpp>
#include <tidegate/run/watchdog.hpp>

#include <utility>

namespace tidegate::run {

Watchdog::Watchdog(std::chrono::steady_clock::time_point deadline, std::chrono::nanoseconds grace,
                   std::function<void(bool)> give_up)
    : thread_([this, deadline, grace, give_up = std::move(give_up)] {
        using Clock = std::chrono::steady_clock;
        constexpr auto look = std::chrono::milliseconds(50);
        auto end = deadline + grace;
        bool interrupted = false;
        std::unique_lock lock(mutex_);
        while (!changed_.wait_for(lock, look, [this] { return done_; })) {
          if (InterruptWatch::interrupted() && !interrupted) {
            interrupted = true;
            end = std::min(end, Clock::now() + grace);
          }
          if (Clock::now() >= end) {
            give_up(interrupted);
            return;
          }
        }
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

} // namespace tidegate::run
