// tidegate completion
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/commands/completion.hpp>

#include <memory>

namespace tidegate::app {

CommandModel completion_command() {
  struct Settings {
    std::string_view shell;
    std::string output = "-";
  };
  const auto settings = std::make_shared<Settings>();
  const auto choose = [&shell = settings->shell](std::size_t index) { shell = commands::shell_names[index]; };
  return {.options = {output_option(settings->output)},
          .positionals = {positional(
              "SHELL", index_option("", choose, commands::shell_names, "Shell to print the script for"))},
          .examples = {{"In this shell, at once:", "source <(tidegate completion bash)"}},
          .run = [settings](bool) {
            return commands::completion_script(settings->shell, command_line())
                .and_then([&](const std::string& script) {
                  return commands::write_text(settings->output, script);
                });
          }};
}

} // namespace tidegate::app
