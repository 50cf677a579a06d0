#include <tidegate/core/interrupt.hpp>

#include <time.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tidegate {
namespace {

constexpr std::array<int, 3> watched{SIGINT, SIGTERM, SIGHUP};
constexpr std::int64_t one_keystroke_ns = 500'000'000; // a terminal and a parent may send the same one twice

std::atomic<std::int64_t> first_at{0}; // 0: not interrupted
struct sigaction* earlier = nullptr;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now); // allowed in handlers
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void note(int number) {
  const std::int64_t now = now_ns();
  std::int64_t none = 0;
  if (first_at.compare_exchange_strong(none, now) || now - none < one_keystroke_ns) {
    return;
  }
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i] == number) {
      ::sigaction(number, &earlier[i], nullptr);
    }
  }
  ::raise(number);
}

} // namespace

InterruptWatch::InterruptWatch() {
  first_at = 0;
  earlier = before_;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) {
      struct sigaction action {};
      action.sa_handler = note;
      action.sa_flags = SA_RESTART;
      ::sigaction(watched[i], &action, nullptr);
    }
  }
}

InterruptWatch::~InterruptWatch() {
  for (std::size_t i = 0; i < watched.size(); ++i) {
    ::sigaction(watched[i], &before_[i], nullptr);
  }
}

bool InterruptWatch::interrupted() {
  return first_at != 0;
}

} // namespace tidegate
