// Writes the manual page and the completion scripts into the folder that is its argument: what an
// installation of tidegate holds beside the binary, made from the command line that the binary parses.
#include "app/command_line.hpp"
#include "app/completion.hpp"
#include "app/manual.hpp"
#include "app/serve.hpp"
#include "app/terminal.hpp"
#include "core/files.hpp"

#include <cstdio>

namespace tidegate::app {
namespace {

Result<ExitCode> generate(const std::string& folder) {
  const CommandModel model = command_line();
  const auto write = [&folder](const char* name, std::string_view text) {
    return commands::write_text(folder + '/' + name, text);
  };
  return write("tidegate.1", commands::manual_page(model, TIDEGATE_VERSION))
      .and_then([&](ExitCode) { return write("tidegate.bash", commands::bash_completion(model)); })
      .and_then([&](ExitCode) { return write("_tidegate", commands::zsh_completion(model)); })
      .and_then([&](ExitCode) { return write("tidegate.fish", commands::fish_completion(model)); });
}

} // namespace
} // namespace tidegate::app

int main(int argc, char** argv) {
  using namespace tidegate;
  prepare_process();
  if (argc != 2) {
    std::fputs("usage: tidegate_documentation FOLDER\n", stderr);
    return static_cast<int>(ExitCode::usage);
  }
  const Result<ExitCode> result = app::generate(argv[1]);
  if (!result) {
    app::print_error(result.error(), false);
    return static_cast<int>(exit_code(result.error()));
  }
  return static_cast<int>(*result);
}
