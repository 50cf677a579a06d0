// Handles SIGINT, SIGTERM and SIGHUP with one handler for the life of the process. The handler ends the
// process at once with a message or, while an InterruptWatch exists, only records the signal, so that current
// work can finish and be reported. It is never uninstalled: drivers' compilers install handlers over it and
// forward signals to it.
#pragma once
#include "core/prelude.hpp"

#include <signal.h>

namespace tidegate {

// Installs the handler, except for ignored signals (nohup). Before the process ends with exit code 130, it
// prints `message` to the current standard error, even if descriptor 2 is redirected later, or `again` if the
// first signal came at least half a second earlier. Call once, in main().
void handle_interrupts(std::string message, std::string again);

// Ends the process as the handler does, after a signal killed a child process: drivers briefly remove their
// handlers, and then a second signal kills the child. Also removes the child's unfinished files.
[[noreturn]] void end_interrupted();

// Returns true for the three signals.
bool is_interrupt(int signal);

// Removes a file if a signal ends the process during this object's life. Has room for four files; further
// ones are not removed.
class RemovedWhenInterrupted {
public:
  explicit RemovedWhenInterrupted(const std::string& path);
  RemovedWhenInterrupted(const RemovedWhenInterrupted&) = delete;
  RemovedWhenInterrupted& operator=(const RemovedWhenInterrupted&) = delete;
  ~RemovedWhenInterrupted();

private:
  std::size_t place_;
};

// While one exists, the first signal is only recorded. Watches nest. Without handle_interrupts() they have no
// effect.
class InterruptWatch {
public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  // Returns true if a signal has come since the outermost watch began.
  static bool interrupted();
};

// Suspends all watches: meanwhile a signal ends the process at once, and one that has come before does so here. For work
// that cannot be asked to stop and whose result no one needs then.
class InterruptsEndProcess {
public:
  InterruptsEndProcess();
  InterruptsEndProcess(const InterruptsEndProcess&) = delete;
  InterruptsEndProcess& operator=(const InterruptsEndProcess&) = delete;
  ~InterruptsEndProcess();

private:
  int suspended_;
};

// Starts a watch that lasts to the end of the process, once the answer is complete.
void hold_interrupts();

// Blocks the signals in this thread while state that the handler reads is inconsistent.
class InterruptsBlocked {
public:
  InterruptsBlocked();
  InterruptsBlocked(const InterruptsBlocked&) = delete;
  InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;
  ~InterruptsBlocked();

private:
  sigset_t before_{};
};

} // namespace tidegate
