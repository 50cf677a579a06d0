// The entry of the process: its signal handlers; run_tidegate() does the rest.
#include "app/command_line.hpp"
#include "app/serve.hpp"
#include "core/interrupt.hpp"
#include "tune/workbench.hpp"

#include <unistd.h>

int main(int argc, char** argv) {
  tidegate::prepare_process();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  tidegate::app::explain_interrupts(tidegate::app::wants_json_errors(arguments));
  const tidegate::ExitCode code = tidegate::app::run_tidegate(arguments);
  tidegate::hold_interrupts();
  if (tidegate::tuning::
          abandoned_builds()) { // a compiler still runs in this process, and no one waits for it
    std::fflush(nullptr);
    ::_exit(static_cast<int>(code));
  }
  tidegate::device::end_in_order();
  return static_cast<int>(code);
}
