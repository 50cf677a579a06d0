// tidegate completion
#include "command_line.hpp"
#include "command_model.hpp"
#include <tidegate/commands/completion.hpp>

namespace tidegate::app {

void define_completion(CLI::App& command, Invocation& invocation) {
  struct Settings {
    std::string shell;
    std::string output = "-";
  };
  const auto settings = std::make_shared<Settings>();
  add_choice(command, "SHELL", settings->shell, commands::shell_names, "Shell to print the script for")
      ->required()
      ->option_text(positional_text);
  add_output(command, settings->output);
  command.callback([&invocation, settings] {
    invocation.run = [settings] {
      Invocation unused;
      const auto command_line = make_command_line(unused, ""); // the present one holds this command only
      return commands::completion_script(settings->shell, model_of(*command_line))
          .and_then(
              [&](const std::string& script) { return commands::write_text(settings->output, script); });
    };
  });
}

} // namespace tidegate::app
