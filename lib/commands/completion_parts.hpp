// What the completion generators share: the tree of commands as a list, and the quoting of the shells.
#pragma once

#include <tidegate/commands/command_model.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::commands {

// A command where it stands.
struct Place {
  std::string path; // "tidegate priority drain"
  const CommandModel* command = nullptr;
  std::vector<const OptionModel*> options; // its own, then those of its parents that it does not redefine
};

// The root and every command below it, parents first.
std::vector<Place> places(const CommandModel& root);

// Whether a positional takes any number of words ("FILE...").
bool repeats(const OptionModel& positional);

// Of a positional that takes names and any number of files ("[KIND] FILE..."), only the first word may be a
// name.
bool names_then_files(const OptionModel& positional);

// "FILE" of "[FILE]"; "[KIND] FILE..." stays.
std::string_view without_brackets(std::string_view value);

// "tidegate priority drain" as part of a function name: every other character becomes an underscore.
std::string identifier(std::string_view text);

// The text with each character of `special` behind a backslash.
std::string backslashed(std::string_view text, std::string_view special);

// One word for bash and zsh: 'it'\''s'.
std::string shell_quoted(std::string_view text);

// `text` with every `from` replaced.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

} // namespace tidegate::commands
