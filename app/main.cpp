// tidegate: parse the command line, run the command, report its error, exit with its code.
#include "command_line.hpp"
#include "terminal.hpp"
#include <tidegate/core/files.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

// Errors of the command line itself are wanted as JSON too, so this is known before the line is parsed.
bool wants_json_errors(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--errors=json" || (argument == "--errors" && i + 1 < arguments.size() &&
                                        std::string_view(arguments[i + 1]) == "json")) {
      return true;
    }
  }
  return false;
}

Result<ExitCode> run(std::vector<std::string> arguments, Invocation& invocation) {
  if (!arguments.empty() && arguments.front() == "help") { // help recommend: recommend --help
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  const auto named = named_subcommand(arguments);
  if (!named) {
    return tl::unexpected(named.error());
  }
  const auto command_line = make_command_line(invocation, *named);
  try {
    // CLI11 takes the arguments last to first.
    command_line->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    command_line->exit(help_or_version, text, text);
    return commands::write_text("-", text.str());
  } catch (const CLI::ParseError& refusal) {
    return tl::unexpected(usage_error(*command_line, refusal));
  }
  return invocation.run();
}

ExitCode run_and_report(const std::vector<std::string>& arguments) {
  Invocation invocation{.errors_as_json = wants_json_errors(arguments), .run = {}};
  Error error;
  try {
    auto result = run(arguments, invocation);
    if (result) {
      return *result;
    }
    error = std::move(result.error());
  } catch (const std::bad_alloc&) {
    error = {
        .code = ErrorCode::internal_error, .message = "out of memory", .fix = "give the process more memory"};
  } catch (const std::exception& exception) {
    error = {.code = ErrorCode::internal_error,
             .message = exception.what(),
             .fix = "this is a bug in tidegate: please report the command and its input"};
  }
  print_error(error, invocation.errors_as_json);
  return exit_code(error.code);
}

} // namespace
} // namespace tidegate::app

int main(int argc, char** argv) {
  tidegate::prepare_process();
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  return static_cast<int>(tidegate::app::run_and_report(arguments));
}
