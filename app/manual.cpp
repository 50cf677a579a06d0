// The section COMMANDS of the manual page, which ends app/manual.roff, from the model of the command line.
#include "app/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidegate::commands {
namespace {

// roff reads a backslash as an escape, a dot or quote at the start of a line as a request, and prints "-" as
// a hyphen that cannot be pasted into a shell.
std::string line(std::string_view text) {
  std::string roff = "\\&";
  for (const char c : text) {
    const std::size_t special = std::string_view("\\-\"'`^~").find(c);
    constexpr std::string_view escapes[]{"\\e", "\\-", "\\(dq", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
    special == std::string_view::npos ? roff += c : roff += escapes[special];
  }
  return roff + '\n';
}

void append_option(const OptionModel& option, std::string_view separator, std::string& roff) {
  const bool many = option.choices.size() > 4; // roff does not break a tag
  const std::string value = many && !option.takes_file ? "NAME" : option.value;
  roff += ".TP\n.B " + line(fmt::format("{}{}{}", fmt::join(option.names, ", "),
                                        option.names.empty() || value.empty() ? "" : separator, value));
  roff +=
      line(option.meaning) + (many ? line(fmt::format("(one of {})", fmt::join(option.choices, ", "))) : "");
  if (!option.settings.empty()) {
    roff += ".RS\n";
    for (const OptionModel& setting : option.settings) {
      append_option(setting, "=", roff);
    }
    roff += ".RE\n";
  }
}

void append(const CommandModel& command, const std::string& path, std::string& roff) {
  roff += ".SS " + line(path) + line(command.summary) + ".PP\n.B " + line(path + " [OPTIONS]");
  for (const OptionModel& positional : command.positionals) {
    roff += ".B " + line(positional.value);
  }
  for (const auto* const options : {&command.positionals, &command.options}) {
    std::ranges::for_each(*options, [&roff](const OptionModel& option) { append_option(option, " ", roff); });
  }
  for (const CommandExample& example : command.examples) {
    roff += ".PP\n" + line(example.purpose) + ".nf\n.B " + line(example.line) + ".fi\n";
  }
  for (const CommandModel& subcommand : command.subcommands) {
    append(subcommand, path + ' ' + subcommand.name, roff);
  }
}

} // namespace

std::string manual_commands(const CommandModel& root) {
  std::string roff = ".SH COMMANDS\n";
  append(root, root.name, roff);
  return roff;
}

} // namespace tidegate::commands
