// The command line as plain data, read off the CLI11 commands that parse it: what is generated from it
// (completions and the manual) cannot differ from what the tool takes.
#pragma once

#include <tidegate/commands/command_model.hpp>

#include <CLI/CLI.hpp>

namespace tidegate::app {

// The type name of an option says what its value may be, as in the help text: "json|table" is one of these
// names, FILE in it is a file and KIND a document type. A positional that may be left out has its value in
// brackets. `command` is complete: from make_command_line() for every subcommand.
commands::CommandModel model_of(const CLI::App& command);

} // namespace tidegate::app
