// Completion scripts, one generator per shell, from the command line as plain data.
//
// A script holds all that it offers: completing a word never runs tidegate. Each script does the same two
// things, in the manner of its shell: it walks the words before the cursor to find the command they name, and
// then offers what may follow there.
#pragma once
#include "app/command_line.hpp"
#include <tidegate/core/error.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::commands {

inline constexpr std::array<std::string_view, 3> shell_names{"bash", "zsh", "fish"};

std::string bash_completion(const CommandModel& root); // bash 4 or newer, without the package bash-completion
std::string zsh_completion(const CommandModel& root);  // for a folder of $fpath and for `source`
std::string fish_completion(const CommandModel& root); // fish 3.1 or newer

// The script for a shell of shell_names, else unknown_name.
Result<std::string> completion_script(std::string_view shell, const CommandModel& root);

// What the completion generators share: the tree of commands as a list, and the quoting of the shells.

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
