// tidegate tune choose, tidegate tune step
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/commands/mathematics.hpp>

namespace tidegate::app {

CommandModel tune_command() {
  return {.subcommands = {document_command("choose", "Choose the cheapest of measured candidates",
                                           "Measured costs", commands::choose_tuning),
                          document_command("step", "Take a natural-gradient step", "Natural gradient",
                                           commands::step_tuning)}};
}

} // namespace tidegate::app
