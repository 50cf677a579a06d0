// SIGINT, SIGTERM and SIGHUP: one handler for the whole life of the process. It ends the process at once with
// a message, or while an InterruptWatch lives only notes the signal, so that what is under way can come to an
// end and be reported. It is never taken away: drivers' compilers install handlers over it and hand signals
// on to it.
#pragma once
#include <signal.h>

#include <cstddef>
#include <string>

namespace tidegate {

// Handles the signals from now on, but for those that are ignored (nohup). `message` goes to what is standard
// error now, wherever file descriptor 2 leads later, before the process ends with exit code 130; `again`
// instead, when a signal has been noted half a second earlier or more. Call once, in main().
void handle_interrupts(std::string message, std::string again);

// Ends the process as the signals do, for a child that a signal has ended before it could: drivers' handlers
// are away for a moment when a second one comes. Files that the child had not finished are removed, too.
[[noreturn]] void end_interrupted();

// Whether it is one of the three.
bool is_interrupt(int signal);

// A file that a signal which ends the process removes, while this lives. Beyond a few at a time none is.
class RemovedWhenInterrupted {
public:
  explicit RemovedWhenInterrupted(const std::string& path);
  RemovedWhenInterrupted(const RemovedWhenInterrupted&) = delete;
  RemovedWhenInterrupted& operator=(const RemovedWhenInterrupted&) = delete;
  ~RemovedWhenInterrupted();

private:
  std::size_t place_;
};

// While one lives, the first signal is only noted; they nest. Without handle_interrupts it does nothing.
class InterruptWatch {
public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  // Whether a signal has come since the outermost watch began.
  static bool interrupted();
};

// A watch to the end of the process, whose answer is complete.
void hold_interrupts();

// Keeps the signals away from this thread, until its state is one that the handler knows.
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
