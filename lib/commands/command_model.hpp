// The command line as plain data: what is parsed, completed and told in help texts and the manual are all
// made from it.
#pragma once

#include <tidegate/core/error.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tidegate::commands {

struct OptionModel {
  std::vector<std::string> names; // "-o", "--output"; empty for a positional
  std::string value;              // "FILE"; empty for a flag; of a positional "[FILE]" if it may be left out
  std::vector<std::string> choices; // the names that the value may have, if it is one of a few
  bool takes_file = false;
  std::string choices_command; // arguments of the tool that print further ones, a line each, for shells
  std::string meaning;         // one line
  std::string needs;           // the option without which this one means nothing
  // Puts a given value where it goes; a flag has an empty one. Of an error the message and the nearest name
  // count. Nothing for what is answered without a command: help and version.
  std::function<Result<void>(const std::string& value)> take;
};

// A command line that can be tried in the folder of the repository, and what one wants with it.
struct CommandExample {
  std::string purpose; // ends with a colon
  std::string line;
};

struct CommandModel {
  std::string name;
  std::string summary; // one line
  std::string group;   // under which its parent's help lists it; empty: none
  std::vector<OptionModel> options;
  std::vector<OptionModel> positionals;
  std::vector<CommandModel> subcommands;
  std::vector<CommandExample> examples;
  std::function<Result<ExitCode>(bool errors_as_json)>
      run; // after the options were taken; nothing with subcommands
};

} // namespace tidegate::commands
