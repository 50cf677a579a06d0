// The command line as plain data, for everything that is generated from it: completions and the manual.
#pragma once

#include <string>
#include <vector>

namespace tidegate::commands {

struct OptionModel {
  std::vector<std::string> names;   // "-o", "--output"; empty for a positional
  std::string value;                // "FILE"; empty for a flag
  std::vector<std::string> choices; // the names that the value may have, if it is one of a few
  bool takes_file = false;
  std::string meaning; // one line
};

struct CommandModel {
  std::string name;
  std::string summary; // one line
  std::vector<OptionModel> options;
  std::vector<OptionModel> positionals;
  std::vector<CommandModel> subcommands;
};

} // namespace tidegate::commands
