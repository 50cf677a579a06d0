// Handles SIGINT, SIGTERM and SIGHUP with one handler for the life of the process. The handler ends the
// process at once with a message or, while an InterruptWatch exists, only records the signal, so that current
// work can finish and be reported. It is never uninstalled: drivers' compilers install handlers over it and
// forward signals to it.
#pragma once
#include "core/prelude.hpp"

namespace tidegate {

// Installs the handler, except for ignored signals (nohup). Before the process ends with exit code 130, it
// prints `message` to the current standard error, even if descriptor 2 is redirected later, or `again` if the
// first signal came at least half a second earlier. Call once, in main().
void handle_interrupts(std::string message, std::string again);

// Ends the process as the handler does, after a signal killed a child process: drivers briefly remove their
// handlers, and then a second signal kills the child.
[[noreturn]] void end_interrupted();

// Returns true for the three signals.
bool is_interrupt(int signal);

// While one exists, the first signal is only recorded. Watches nest. Without handle_interrupts() they have no
// effect.
class InterruptWatch : NotCopied {
public:
  InterruptWatch();
  ~InterruptWatch();

  // Returns true if a signal has come since the outermost watch began.
  static bool interrupted();
};

// Starts a watch that lasts to the end of the process, once the answer is complete.
void hold_interrupts();

// A signal that comes while it exists ends the process afterwards, unless another watch records it: for files that
// have a name before they are complete.
class InterruptsWait : InterruptWatch {
public:
  ~InterruptsWait();
};

} // namespace tidegate
