// tidegate priority drain, tidegate priority diffuse
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/commands/mathematics.hpp>

namespace tidegate::app {

CommandModel priority_command() {
  return {
      .subcommands = {document_command("drain", "Should the requeue counters be read out and reset?",
                                       "Requeue accounting",
                                       {"Is it time to read the counters out?",
                                        "tidegate priority drain examples/requeue_accounting.json"},
                                       commands::drain_priority),
                      document_command("diffuse", "Diffuse priorities between siblings", "Sibling diffusion",
                                       {"The priorities after diffusion:",
                                        "tidegate priority diffuse examples/sibling_diffusion.json"},
                                       commands::diffuse_priority)}};
}

} // namespace tidegate::app
