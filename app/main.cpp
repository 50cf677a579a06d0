// tidegate: parse the command line, run the command, report its error, exit with its code.
#include "app/command_line.hpp"
#include "app/terminal.hpp"
#include "core/files.hpp"
#include "core/interrupt.hpp"
#include <tidegate/core/text.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// The size that was asked for when memory ran out, which std::bad_alloc does not say; sanitizers have their
// own allocators.
static std::atomic<std::size_t> refused_bytes{0};

#ifndef __SANITIZE_ADDRESS__
void* operator new(std::size_t bytes) {
  if (void* const memory = std::malloc(std::max<std::size_t>(bytes, 1))) {
    return memory;
  }
  refused_bytes = bytes;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}
#endif

namespace tidegate::app {
namespace {

ExitCode run_and_report(const std::vector<std::string>& arguments, bool errors_as_json) {
  fill_catalogue();
  Error error;
  try {
    auto result = parse(arguments).and_then([&](const Run& run) { return run(errors_as_json); });
    if (result) {
      return *result;
    }
    error = std::move(result.error());
    if (InterruptWatch::interrupted() &&
        error.code != ErrorCode::interrupted) { // compilers in drivers remove their files then, and fail
      error = interrupt_error();
    }
  } catch (const std::bad_alloc&) {
    const std::size_t bytes = refused_bytes;
    error = {.code = ErrorCode::host_out_of_memory,
             .message = "the host has no memory left" +
                        (bytes == 0 ? std::string() : " for another " + bytes_text(bytes)),
             .fix = "give the process more memory, or the program smaller buffers",
             .requested = bytes == 0 ? std::nullopt : std::optional<std::uint64_t>(bytes)};
  } catch (const std::exception& exception) {
    error = {.code = ErrorCode::internal_error,
             .message = exception.what(),
             .fix = "this is a bug in tidegate: please report the command and its input"};
  }
  const InterruptWatch interrupts;
  print_error(error, errors_as_json);
  return exit_code(error);
}

} // namespace
} // namespace tidegate::app

int main(int argc, char** argv) {
  tidegate::prepare_process();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const bool errors_as_json = tidegate::app::wants_json_errors(arguments);
  tidegate::app::explain_interrupts(errors_as_json);
  const tidegate::ExitCode code = tidegate::app::run_and_report(arguments, errors_as_json);
  tidegate::hold_interrupts();
  return static_cast<int>(code);
}
