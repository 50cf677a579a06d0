// The entry of the process: its allocator and its signal handlers; run_tidegate() does the rest.
#include "app/command_line.hpp"
#include "app/serve.hpp"
#include "core/interrupt.hpp"
#include "tune/workbench.hpp"

#include <unistd.h>

#ifndef TIDEGATE_SANITIZE // sanitizers have their own allocators
void* operator new(std::size_t bytes) {
  if (void* const memory = std::malloc(std::max<std::size_t>(bytes, 1))) {
    return memory;
  }
  tidegate::app::refused_bytes = bytes;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
#endif

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
