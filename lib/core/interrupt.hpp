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
class RemovedWhenInterrupted : NotCopied {
public:
  explicit RemovedWhenInterrupted(const std::string& path);
  ~RemovedWhenInterrupted();

private:
  std::size_t place_;
};

// While one exists, the first signal is only recorded. Watches nest. Without handle_interrupts() they have no
// effect.
class InterruptWatch : NotCopied {
public:
  InterruptWatch();
  ~InterruptWatch();

  // Returns true if a signal has come since the outermost watch began.
  static bool interrupted();
};

// Suspends all watches: meanwhile a signal ends the process at once, and one that has come before does so here. For work
// that cannot be asked to stop and whose result no one needs then.
class InterruptsEndProcess : NotCopied {
public:
  InterruptsEndProcess();
  ~InterruptsEndProcess();

private:
  int suspended_;
};

// Starts a watch that lasts to the end of the process, once the answer is complete.
void hold_interrupts();

// Blocks the signals in this thread while state that the handler reads is inconsistent.
class InterruptsBlocked : NotCopied {
public:
  InterruptsBlocked();
  ~InterruptsBlocked();

private:
  sigset_t before_{};
};

} // namespace tidegate
