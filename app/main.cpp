// tidegate: parse the command line, run the command, report its error, exit with its code.
#include "command_line.hpp"
#include "terminal.hpp"
#include <tidegate/core/files.hpp>
#include <tidegate/core/interrupt.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

ExitCode run_and_report(const std::vector<std::string>& arguments, bool errors_as_json) {
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
    error = {
        .code = ErrorCode::internal_error, .message = "out of memory", .fix = "give the process more memory"};
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
