// The zsh script: one function per command around _arguments, which knows the syntax of options and what is
// used up.
//
// A command with subcommands completes its own options only before the first other word; behind it, the
// function of the subcommand gets the rest of the line as if it were a command of its own. Two levels of
// quoting meet in a spec such as '--format=[JSON or a table]:json|table:(json table)': colons and brackets
// divide the spec, and the action is then read by the shell.
#include <tidegate/commands/completion.hpp>
#include <tidegate/commands/completion_parts.hpp>

#include <fmt/format.h>

namespace tidegate::commands {
namespace {

// A message or an action as part of a spec, where a backslash before anything but a colon means itself.
std::string part(std::string_view text) {
  return backslashed(text, ":");
}

// A command for _describe, which does know escaped backslashes.
std::string described(const CommandModel& command) {
  return backslashed(command.name, R"(\:)") + ':' + backslashed(command.summary, R"(\:)");
}

std::string explanation(const OptionModel& option) {
  return '[' + backslashed(option.meaning, R"(\[]:)") + ']';
}

std::string zsh_word_list(const std::vector<std::string>& choices) {
  std::vector<std::string> words;
  for (const std::string& choice : choices) {
    words.push_back(backslashed(choice, "\\ \t\"'`$&;|<>(){}[]*?~#^=!%"));
  }
  return fmt::format("({})", fmt::join(words, " "));
}

// What zsh calls the value: its long list of names would be no use there.
std::string message(const OptionModel& option) {
  const std::string& name = option.names.back();
  return part(option.choices.empty() ? option.value : name.substr(name.find_first_not_of('-')));
}

// How _arguments finds the values: nothing, one of some words, a file, or either.
std::string action(const OptionModel& option) {
  if (!option.choices_command.empty()) {
    return part(fmt::format("{{compadd -- ${{(f)\"$(tidegate {} 2>/dev/null)\"}}}}", option.choices_command));
  }
  if (option.choices.empty()) {
    return option.takes_file ? "_files" : "";
  }
  if (!option.takes_file) {
    return part(zsh_word_list(option.choices));
  }
  return part(fmt::format(" _alternative {} {}", shell_quoted("names:name:" + zsh_word_list(option.choices)),
                          shell_quoted("files:file:_files")));
}

void add_option_specs(const OptionModel& option, std::vector<std::string>& specs) {
  const std::string others = option.names.size() > 1 ? fmt::format("({})", fmt::join(option.names, " ")) : "";
  for (const std::string& name : option.names) {
    // -o FILE and -oFILE; --output FILE and --output=FILE
    const std::string_view joint = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    const std::string value =
        option.value.empty() ? "" : fmt::format(":{}:{}", message(option), action(option));
    specs.push_back(shell_quoted(fmt::format("{}{}{}{}{}", others, name, joint, explanation(option), value)));
  }
}

void add_positional_specs(const std::vector<OptionModel>& positionals, std::vector<std::string>& specs) {
  std::size_t position = 0;
  for (const OptionModel& positional : positionals) {
    ++position;
    const std::string message = part(without_brackets(positional.value));
    if (names_then_files(positional)) {
      specs.push_back(shell_quoted(fmt::format("{}:{}:{}", position, message, action(positional))));
      specs.push_back(shell_quoted(fmt::format("*:{}:_files", message)));
    } else {
      const std::string place = repeats(positional) ? "*" : fmt::format("{}", position);
      specs.push_back(shell_quoted(fmt::format("{}:{}:{}", place, message, action(positional))));
    }
  }
}

std::string function_of(std::string_view path) {
  return '_' + identifier(path);
}

std::string leaf_function(const Place& place) {
  std::vector<std::string> specs;
  for (const OptionModel* option : place.options) {
    add_option_specs(*option, specs);
  }
  add_positional_specs(place.command->positionals, specs);
  if (specs.empty()) {
    return fmt::format("{}() {{\n  _message 'no more arguments'\n}}\n\n", function_of(place.path));
  }
  return fmt::format("{}() {{\n  _arguments -S \\\n    {}\n}}\n\n", function_of(place.path),
                     fmt::join(specs, " \\\n    "));
}

std::string group_function(const Place& place) {
  std::vector<std::string> specs;
  for (const OptionModel* option : place.options) {
    add_option_specs(*option, specs);
  }
  specs.push_back(shell_quoted("1:command:->command"));
  specs.push_back(shell_quoted("*::argument:->argument"));

  std::string commands;
  std::string branches;
  for (const CommandModel& subcommand : place.command->subcommands) {
    commands += fmt::format("      {}\n", shell_quoted(described(subcommand)));
    branches += fmt::format("    {}) {} && result=0 ;;\n", shell_quoted(subcommand.name),
                            function_of(place.path + ' ' + subcommand.name));
  }
  return fmt::format(R"({0}() {{
  local curcontext=$curcontext context state state_descr line result=1
  local -a commands
  local -A opt_args
  _arguments -C -S -A '-*' \
    {1} && result=0
  case $state in
  command)
    commands=(
{2}    )
    _describe -t commands {3} commands && result=0
    ;;
  argument)
    curcontext=${{curcontext%:*:*}}:{4}-$words[1]:
    case $words[1] in
{5}    esac
    ;;
  esac
  return result
}}

)",
                     function_of(place.path), fmt::join(specs, " \\\n    "), commands,
                     shell_quoted(place.path + " command"), replaced(place.path, " ", "-"), branches);
}

} // namespace

std::string zsh_completion(const CommandModel& root) {
  std::string functions;
  for (const Place& place : places(root)) {
    functions += place.command->subcommands.empty() ? leaf_function(place) : group_function(place);
  }
  return fmt::format(R"(#compdef {0}
# zsh completion for {0}, written by `{0} completion zsh`. It stands as _{0} in a folder of $fpath,
# or is read after compinit: source <({0} completion zsh)

{1}# From $fpath, the file is the body of the function and has to complete right away.
if [[ $funcstack[1] == {2} ]]; then
  {2} "$@"
else
  compdef {2} {0}
fi
)",
                     root.name, functions, function_of(root.name));
}

} // namespace tidegate::commands
