// The manual page tidegate(1).
#pragma once
#include "app/command_line.hpp"

#include <string>
#include <string_view>

namespace tidegate::commands {

// roff for the man macros, for groff and mandoc. What the commands and options are comes from the model; what
// the tool promises as a whole (streams, exit codes, environment) is told here.
std::string manual_page(const CommandModel& root, std::string_view version);

} // namespace tidegate::commands
