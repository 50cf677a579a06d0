// tidegate tune choose, tidegate tune step
#include "command_line.hpp"
#include <tidegate/commands/mathematics.hpp>

namespace tidegate::app {

void define_tune(CLI::App& command, Invocation& invocation) {
  command.require_subcommand(1);
  add_document_command(command, invocation, "choose", "Choose the cheapest of measured candidates",
                       "Measured costs", commands::choose_tuning);
  add_document_command(command, invocation, "step", "Take a natural-gradient step", "Natural gradient",
                       commands::step_tuning);
}

} // namespace tidegate::app
