// The command line: which subcommands there are, and the parser of what they say of themselves. CLI11 stays
// behind this header, since it takes longer to compile than all the rest of the folder.
#pragma once

#include <tidegate/commands/command_model.hpp>
#include <tidegate/core/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::app {

using commands::CommandModel;

// One function per file of this folder: what a subcommand takes and does, without its name. Each call makes
// settings of its own, which `take` fills and `run` reads.
CommandModel recommend_command();
CommandModel plan_command();
CommandModel arena_command();
CommandModel init_command();
CommandModel run_command();
CommandModel priority_command();
CommandModel tune_command();
CommandModel tune_measure_command(); // of tune
CommandModel devices_command();
CommandModel check_command();
CommandModel schema_command();
CommandModel completion_command();
CommandModel version_command();

// The command line with the subcommand called `only`, or with all of them when that is empty: describing one
// costs more than a recommendation, and a process runs one.
CommandModel command_line(std::string_view only = {});

// What the arguments ask for, with the values in their places: a command, or a help text. An error says what
// is wrong with them, with the nearest command or option.
using Run = std::function<Result<ExitCode>(bool errors_as_json)>;
Result<Run> parse(std::vector<std::string> arguments);

// Whether the arguments ask for errors as JSON, those about the arguments themselves included.
bool wants_json_errors(const std::vector<std::string>& arguments);

} // namespace tidegate::app
