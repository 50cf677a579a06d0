// tidegate priority drain, tidegate priority diffuse
#include "command_line.hpp"
#include <tidegate/commands/mathematics.hpp>

namespace tidegate::app {

void define_priority(CLI::App& command, Invocation& invocation) {
  command.require_subcommand(1);
  add_document_command(command, invocation, "drain", "Should the requeue counters be read out and reset?",
                       "Requeue accounting", commands::drain_priority);
  add_document_command(command, invocation, "diffuse", "Diffuse priorities between siblings",
                       "Sibling diffusion", commands::diffuse_priority);
}

} // namespace tidegate::app
