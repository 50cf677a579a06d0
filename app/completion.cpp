#include "app/completion.hpp"

#include "app/command_line.hpp"
#include "app/options.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tidegate::commands {
namespace {

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool share_a_name(const OptionModel& a, const OptionModel& b) {
  return std::ranges::any_of(a.names,
                             [&b](const std::string& name) { return std::ranges::count(b.names, name) > 0; });
}

void append_places(const CommandModel& command, const std::string& parent_path,
                   const std::vector<const OptionModel*>& inherited, std::vector<Place>& all) {
  Place place{.path = parent_path + command.name, .command = &command, .options = {}};
  for (const OptionModel& option : command.options) {
    place.options.push_back(&option);
  }
  const std::vector<const OptionModel*> own = place.options;
  for (const OptionModel* option : inherited) {
    if (std::ranges::none_of(own,
                             [option](const OptionModel* mine) { return share_a_name(*mine, *option); })) {
      place.options.push_back(option);
    }
  }
  all.push_back(place);
  for (const CommandModel& subcommand : command.subcommands) {
    append_places(subcommand, place.path + ' ', place.options, all);
  }
}

} // namespace

std::vector<Place> places(const CommandModel& root) {
  std::vector<Place> all;
  append_places(root, "", {}, all);
  return all;
}

bool repeats(const OptionModel& positional) {
  return positional.value.find("...") != std::string::npos;
}

bool names_then_files(const OptionModel& positional) {
  return repeats(positional) && positional.takes_file && !positional.choices.empty();
}

std::string_view without_brackets(std::string_view value) {
  const bool enclosed = value.starts_with('[') && value.find(']') == value.size() - 1;
  return enclosed ? value.substr(1, value.size() - 2) : value;
}

std::string identifier(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return !is_word_character(c); }, '_');
  return name;
}

std::string backslashed(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string shell_quoted(std::string_view text) {
  return '\'' + replaced(text, "'", R"('\'')") + '\'';
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    result += text.substr(at, found - at);
    if (found == std::string_view::npos) {
      return result;
    }
    result += to;
    at = found + from.size();
  }
}

Result<std::string> completion_script(std::string_view shell, const CommandModel& root) {
  if (shell == "bash") {
    return bash_completion(root);
  }
  if (shell == "zsh") {
    return zsh_completion(root);
  }
  if (shell == "fish") {
    return fish_completion(root);
  }
  return tl::unexpected(Error{.code = ErrorCode::unknown_name,
                              .message = fmt::format("there is no completion for {}", in_quotes(shell)),
                              .fix = fmt::format("give {}", one_of(shell_names))});
}

// The bash script: two tables, written as `case` statements, and a fixed function that walks the line with
// them.
//
// bash hands the function the line split at blanks and, when COMP_WORDBREAKS holds it, also at "="; the word
// to be completed is then only what stands behind the "=". With "=" taken out of COMP_WORDBREAKS the word is
// all of
// --format=table, and what is offered has to begin with --format=. Both happen in practice.

namespace {

// FUNCTION stands for the name of the entry function, PROGRAM for the root command. Beware of `set -eu`:
// every function ends with a status of its own, and arrays are expanded so that old shells accept empty ones.
constexpr std::string_view bash_engine = R"(FUNCTION_takes_value() {
  local entry
  for entry in ${options[@]+"${options[@]}"}; do
    if [[ $entry == *= && ",${entry%=}," == *",$1,"* ]]; then
      return 0
    fi
  done
  return 1
}

FUNCTION_offer() {
  local word quoted
  for word in "$@"; do
    if [[ $word == "$current"* ]]; then
      printf -v quoted %q "$word"
      COMPREPLY+=("$prefix$quoted")
    fi
  done
  return 0
}

FUNCTION_offer_options() {
  local entry name names
  for entry in ${options[@]+"${options[@]}"}; do
    IFS=, read -r -a names <<<"${entry%=}"
    for name in "${names[@]}"; do
      if [[ $used == *",$name,"* ]]; then
        continue 2
      fi
    done
    FUNCTION_offer "${names[@]}"
  done
  return 0
}

# Leaves file names to readline, which knows how to quote them, unless they stand beside names or behind a prefix.
FUNCTION_offer_files() {
  local name
  if [[ -z $prefix && ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null; then
    return 0
  fi
  while IFS= read -r name; do
    COMPREPLY+=("$prefix$name")
  done < <(compgen -f -- "$current")
  compopt -o filenames 2>/dev/null || return 0
}

FUNCTION_offer_values() {
  FUNCTION_offer ${choices[@]+"${choices[@]}"}
  if [[ -n $files ]]; then
    FUNCTION_offer_files
  fi
  return 0
}

FUNCTION() {
  local path=PROGRAM current=${2-${COMP_WORDS[COMP_CWORD]-}} prefix='' files='' pending='' ended='' used=, word entry
  local commands=() options=() choices=()
  local -i i position=1
  COMPREPLY=()

  FUNCTION_command "$path"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $pending ]]; then
      if [[ $word != '=' ]]; then
        pending=''
      fi
    elif [[ -n $ended || $word == - || ($word != -* && $word != '=') ]]; then
      for entry in ${commands[@]+"${commands[@]}"}; do
        if [[ $word == "$entry" ]]; then
          path+=" $word"
          position=0
          FUNCTION_command "$path"
          break
        fi
      done
      position+=1
    elif [[ $word == '=' ]]; then # a value for an option that takes none
      i+=1
    elif [[ $word == -- ]]; then
      ended=yes
    elif [[ $word == --* ]]; then
      used+="${word%%=*},"
      if [[ $word != *=* ]] && FUNCTION_takes_value "$word"; then
        pending=$word
      fi
    else
      used+="${word:0:2},"
      if FUNCTION_takes_value "$word"; then
        pending=$word
      fi
    fi
  done

  if [[ -n $pending ]]; then
    if [[ $current == '=' ]]; then
      current=''
    fi
    FUNCTION_value "$path $pending" || return 0
    FUNCTION_offer_values
  elif [[ -z $ended && $current == --*=* ]]; then
    prefix=${current%%=*}=
    current=${current#*=}
    FUNCTION_value "$path ${prefix%=}" || return 0
    FUNCTION_offer_values
  elif [[ -z $ended && $current == -* ]]; then
    FUNCTION_offer_options
  elif ((${#commands[@]})); then
    FUNCTION_offer "${commands[@]}"
  elif FUNCTION_value "$path $position" || FUNCTION_value "$path *"; then
    FUNCTION_offer_values
  elif [[ -z $ended ]]; then
    FUNCTION_offer_options
  fi
  return 0
}

complete -F FUNCTION PROGRAM
)";

std::string words(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) {
    quoted.push_back(shell_quoted(text));
  }
  return fmt::format("({})", fmt::join(quoted, " "));
}

std::string command_table(const std::vector<Place>& all) {
  std::string table;
  for (const Place& place : all) {
    std::vector<std::string> commands;
    for (const CommandModel& subcommand : place.command->subcommands) {
      commands.push_back(subcommand.name);
    }
    std::vector<std::string> options;
    for (const OptionModel* option : place.options) {
      options.push_back(fmt::format("{}{}", fmt::join(option->names, ","), option->value.empty() ? "" : "="));
    }
    table += fmt::format("  {})\n    commands={}\n    options={}\n    ;;\n", shell_quoted(place.path),
                         words(commands), words(options));
  }
  return table;
}

// The places that take the same values share one branch: inherited options would fill the script otherwise.
struct Values {
  std::string body;
  std::vector<std::string> places; // "'tidegate --errors'"
};

void add_values(std::vector<Values>& table, const std::string& place, const OptionModel& option) {
  const bool files = option.takes_file;
  if (option.choices.empty() && option.choices_command.empty() && !files) {
    return;
  }
  const std::string found = option.choices_command.empty()
                                ? fmt::format("choices={}", words(option.choices))
                                : fmt::format("mapfile -t choices < <(\"${{COMP_WORDS[0]}}\" {} 2>/dev/null)",
                                              option.choices_command);
  const std::string body = fmt::format("    {}\n    files={}\n", found, files ? "yes" : "''");
  auto same = std::ranges::find(table, body, &Values::body);
  if (same == table.end()) {
    same = table.insert(table.end(), {.body = body, .places = {}});
  }
  same->places.push_back(shell_quoted(place));
}

std::string value_table(const std::vector<Place>& all) {
  std::vector<Values> table;
  for (const Place& place : all) {
    for (const OptionModel* option : place.options) {
      for (const std::string& name : option->names) {
        add_values(table, place.path + ' ' + name, *option);
      }
    }
    std::size_t position = 0;
    for (const OptionModel& positional : place.command->positionals) {
      const std::string number = fmt::format("{} {}", place.path, ++position);
      if (names_then_files(positional)) {
        add_values(table, number, positional);
        OptionModel files;
        files.takes_file = true;
        add_values(table, place.path + " *", files);
      } else {
        add_values(table, repeats(positional) ? place.path + " *" : number, positional);
      }
    }
  }
  std::string text;
  for (const Values& values : table) {
    text += fmt::format("  {})\n{}    ;;\n", fmt::join(values.places, " | \\\n    "), values.body);
  }
  return text;
}

} // namespace

std::string bash_completion(const CommandModel& root) {
  const std::vector<Place> all = places(root);
  const std::string function = '_' + identifier(root.name);
  return fmt::format(R"(# bash completion for {0}, written by `{0} completion bash`. For bash 4 or newer.

# What may follow a command. The names of one option are joined by commas; a final "=" says that it takes a value.
{1}_command() {{
  case $1 in
{2}  esac
  return 0
}}

# What a value may be: behind "COMMAND OPTION", as the Nth word of a command ("COMMAND N") or as any ("COMMAND *").
{1}_value() {{
  case $1 in
{3}  *)
    return 1
    ;;
  esac
  return 0
}}

{4})",
                     root.name, function, command_table(all), value_table(all),
                     replaced(replaced(bash_engine, "FUNCTION", function), "PROGRAM", root.name));
}

// The fish script: one `complete` per option, subcommand and positional, each with the condition under which
// it is offered. All conditions ask one function, which walks the words before the cursor once for each
// question.

namespace {

// In single quotes fish knows no escapes but these two.
std::string fish_quoted(std::string_view text) {
  return '\'' + backslashed(text, R"(\')") + '\'';
}

// FUNCTION stands for the prefix of the function names.
constexpr std::string_view fish_engine = R"(    set -l path PROGRAM
    set -l count 0
    set -l used
    set -l value_of ''
    set -l ended no
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test -n "$value_of"
            set -a used $value_of
            set value_of ''
        else if test $ended = no; and test "$word" = --
            set ended yes
        else if test $ended = no; and contains -- "$path $word" $valued
            set value_of $word
        else if test $ended = no; and string match -q -- '-?*' "$word"
            if string match -q -- '--*' "$word"
                set -a used (string replace -r -- '=.*' '' "$word")
            else
                set -a used (string sub -l 2 -- "$word")
            end
        else if contains -- "$path $word" $commands
            set path "$path $word"
            set count 0
        else
            set count (math $count + 1)
        end
    end
    printf '%s\n' $path $count $used
end

# Whether the line names the command $argv[1] and has used none of the options $argv[2..].
function FUNCTION_lacks
    set -l line (FUNCTION_line)
    test "$line[1]" = "$argv[1]"; or return 1
    for name in $argv[2..-1]
        contains -- $name $line[3..-1]; and return 1
    end
    return 0
end

# Whether the line names the command $argv[1] and its next word is its $argv[2]th, or from that on ("+").
function FUNCTION_word
    set -l line (FUNCTION_line)
    test "$line[1]" = "$argv[1]"; or return 1
    set -l next (math $line[2] + 1)
    test $next -eq $argv[2]; or begin
        test "$argv[3]" = +; and test $next -gt $argv[2]
    end
end

)";

// Quoted only where it must be.
std::string fish_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/+@";
  return !text.empty() && text.find_first_not_of(plain) == std::string_view::npos ? std::string(text)
                                                                                  : fish_quoted(text);
}

// The argument of -a, which fish reads once more.
std::string fish_word_list(const std::vector<std::string>& choices) {
  std::vector<std::string> words;
  for (const std::string& choice : choices) {
    words.push_back(fish_word(choice));
  }
  return fish_word(fmt::format("{}", fmt::join(words, " ")));
}

// "-n CONDITION", which is quoted as a whole around its first argument in double quotes.
std::string condition(std::string_view question, const std::string& path, const std::string& rest) {
  return "-n " + fish_quoted(fmt::format("{} \"{}\"{}{}", question, backslashed(path, R"(\"$)"),
                                         rest.empty() ? "" : " ", rest));
}

class Script {
public:
  explicit Script(const CommandModel& root)
      : places_(places(root)), program_(root.name), prefix_("__" + identifier(root.name)) {}

  std::string text() {
    text_ = fmt::format("# fish completion for {0}, written by `{0} completion fish`.\n\n", program_);
    add_line_function();
    text_ += fmt::format("complete -c {} -f\n", program_);
    for (const Place& place : places_) {
      text_ += fmt::format("\n# {}\n", place.path);
      add_subcommands(place);
      add_positionals(place);
      for (const OptionModel* option : place.options) {
        add_option(place, *option);
      }
    }
    return text_;
  }

private:
  // The function that walks the line, with the two lists that it needs.
  void add_line_function() {
    std::string commands;
    std::string valued;
    for (const Place& place : places_) {
      if (&place != &places_.front()) {
        commands += " \\\n        " + fish_quoted(place.path);
      }
      for (const OptionModel* option : place.options) {
        for (const std::string& name : option->names) {
          if (!option->value.empty()) {
            valued += " \\\n        " + fish_quoted(place.path + ' ' + name);
          }
        }
      }
    }
    text_ += fmt::format(
        "# Prints the command that the line names, how many words it has already, and its options, "
        "without one that\n# still waits for its value.\nfunction {}_line\n"
        "    set -l commands{}\n    set -l valued{}\n",
        prefix_, commands, valued);
    text_ += replaced(replaced(fish_engine, "FUNCTION", prefix_), "PROGRAM", program_);
  }

  void add(const std::string& when, const std::string& what, std::string_view meaning) {
    text_ += fmt::format("complete -c {} {} {}", program_, when, what);
    if (!meaning.empty()) {
      text_ += " -d " + fish_quoted(meaning);
    }
    text_ += '\n';
  }

  void add_subcommands(const Place& place) {
    for (const CommandModel& subcommand : place.command->subcommands) {
      add(condition(prefix_ + "_word", place.path, "1"), "-a " + fish_word_list({subcommand.name}),
          subcommand.summary);
    }
  }

  void add_positionals(const Place& place) {
    std::size_t position = 0;
    for (const OptionModel& positional : place.command->positionals) {
      ++position;
      const std::string exactly = fmt::format("{}", position);
      const std::string from_here = repeats(positional) ? exactly + " +" : exactly;
      if (!positional.choices.empty()) {
        add(condition(prefix_ + "_word", place.path, names_then_files(positional) ? exactly : from_here),
            "-a " + fish_word_list(positional.choices), positional.takes_file ? "" : positional.meaning);
      }
      if (positional.takes_file) {
        add(condition(prefix_ + "_word", place.path, from_here), "-F", "");
      }
    }
  }

  void add_option(const Place& place, const OptionModel& option) {
    std::string what;
    for (const std::string& name : option.names) {
      what +=
          name.starts_with("--") ? " -l " + fish_word(name.substr(2)) : " -s " + fish_word(name.substr(1));
    }
    if (!option.value.empty()) {
      what += option.takes_file ? " -r -F" : " -x";
    }
    if (!option.choices_command.empty()) {
      what += " -a " + fish_quoted(fmt::format("({} {} 2>/dev/null)", program_, option.choices_command));
    } else if (!option.choices.empty()) {
      what += " -a " + fish_word_list(option.choices);
    }
    add(condition(prefix_ + "_lacks", place.path, fmt::format("{}", fmt::join(option.names, " "))),
        what.substr(1), option.meaning);
  }

  std::vector<Place> places_;
  std::string program_;
  std::string prefix_;
  std::string text_;
};

} // namespace

std::string fish_completion(const CommandModel& root) {
  return Script(root).text();
}

// The zsh script: one function per command around _arguments, which knows the syntax of options and what is
// used up.
//
// A command with subcommands completes its own options only before the first other word; behind it, the
// function of the subcommand gets the rest of the line as if it were a command of its own. Two levels of
// quoting meet in a spec such as '--format=[JSON or a table]:json|table:(json table)': colons and brackets
// divide the spec, and the action is then read by the shell.

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

namespace tidegate::app {

// tidegate completion

CommandModel completion_command() {
  struct Settings {
    std::string_view shell;
    std::string output = "-";
  };
  const auto settings = std::make_shared<Settings>();
  const auto choose = [&shell = settings->shell](std::size_t index) { shell = commands::shell_names[index]; };
  return {.options = {output_option(settings->output)},
          .positionals = {positional(
              "SHELL", index_option("", choose, commands::shell_names, "Shell to print the script for"))},
          .examples = {{"In this shell, at once:", "source <(tidegate completion bash)"}},
          .run = [settings](bool) {
            return commands::completion_script(settings->shell, command_line())
                .and_then([&](const std::string& script) {
                  return commands::write_text(settings->output, script);
                });
          }};
}

} // namespace tidegate::app
