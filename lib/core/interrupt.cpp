// The signal handler uses atomics, state prepared in advance and async-signal-safe calls only.
#include "core/interrupt.hpp"

#include <tidegate/core/error.hpp>

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace tidegate {
namespace {

constexpr std::array<int, 3> watched{SIGINT, SIGTERM, SIGHUP};
constexpr std::int64_t one_keystroke_ns = 500'000'000; // a terminal and a parent may both send one

// Set before the handler is installed.
std::string message_at_once;
std::string message_again;
int errors = STDERR_FILENO; // a duplicate, because descriptor 2 captures the drivers' output

constexpr int ended = -1'000'000; // in place of a number of watches, so that no watch begins any more

std::atomic<int> watches{0};
std::atomic<std::int64_t> first_at{0}; // 0: not interrupted
std::atomic<bool> ending{false};

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now); // async-signal-safe
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[noreturn]] void end_process(std::string_view message) {
  while (ending.exchange(true)) { // another thread is ending the process
    ::pause();
  }
  [[maybe_unused]] const ssize_t printed = ::write(errors, message.data(), message.size());
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

// Adds a watch. If another thread is ending the process, waits for that, so that the exit code is that thread's.
void begin_watch() {
  if (watches++ < 0) {
    for (;;) {
      ::pause();
    }
  }
}

void on_interrupt(int /*signal*/) {
  if (int none = 0; watches.compare_exchange_strong(none, ended)) {
    end_process(message_at_once);
  }
  const std::int64_t now = now_ns();
  std::int64_t first = 0;
  if (!first_at.compare_exchange_strong(first, now) && now - first >= one_keystroke_ns) {
    end_process(message_again);
  }
}

} // namespace

void handle_interrupts(std::string message, std::string again) {
  message_at_once = std::move(message);
  message_again = std::move(again);
  constexpr int past_the_standard_streams = 3;
  if (const int copy = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, past_the_standard_streams); copy >= 0) {
    errors = copy;
  }
  for (const int number : watched) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      continue;
    }
    action = {};
    action.sa_handler = on_interrupt;
    for (const int other : watched) {
      ::sigaddset(&action.sa_mask, other);
    }
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
}

void end_interrupted() {
  end_process(message_at_once);
}

bool is_interrupt(int signal) {
  return std::ranges::find(watched, signal) != watched.end();
}

InterruptWatch::InterruptWatch() {
  if (watches == 0) {
    first_at = 0;
  }
  begin_watch();
}

InterruptWatch::~InterruptWatch() {
  --watches;
}

bool InterruptWatch::interrupted() {
  return first_at != 0;
}

void hold_interrupts() {
  begin_watch();
}

InterruptsWait::~InterruptsWait() {
  if (watches == 1 && interrupted()) {
    end_interrupted();
  }
}

} // namespace tidegate
