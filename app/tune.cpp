// tidegate tune: measure (tune_measure.cpp), choose, step
#include "command_line.hpp"
#include "options.hpp"
#include <tidegate/commands/mathematics.hpp>

namespace tidegate::app {

CommandModel tune_command() {
  return {
      .subcommands = {
          tune_measure_command(),
          document_command("choose", "Choose the cheapest of measured candidates", "Measured costs",
                           {"Which of the measured candidates is the cheapest?",
                            "tidegate tune choose examples/measured_costs.json"},
                           commands::choose_tuning),
          document_command("step", "Take a natural-gradient step", "Natural gradient",
                           {"A step from a gradient:", "tidegate tune step examples/natural_gradient.json"},
                           commands::step_tuning)}};
}

} // namespace tidegate::app
