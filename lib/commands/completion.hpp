// Completion scripts, one generator per shell, from the command line as plain data.
//
// A script holds all that it offers: completing a word never runs tidegate. Each script does the same two
// things, in the manner of its shell: it walks the words before the cursor to find the command they name, and
// then offers what may follow there.
#pragma once

#include <tidegate/commands/command_model.hpp>
#include <tidegate/core/error.hpp>

#include <array>
#include <string>
#include <string_view>

namespace tidegate::commands {

inline constexpr std::array<std::string_view, 3> shell_names{"bash", "zsh", "fish"};

std::string bash_completion(const CommandModel& root); // bash 4 or newer, without the package bash-completion
std::string zsh_completion(const CommandModel& root);  // for a folder of $fpath and for `source`
std::string fish_completion(const CommandModel& root); // fish 3.1 or newer

// The script for a shell of shell_names, else unknown_name.
Result<std::string> completion_script(std::string_view shell, const CommandModel& root);

} // namespace tidegate::commands
