// The bash script: two tables, written as `case` statements, and a fixed function that walks the line with
// them.
//
// bash hands the function the line split at blanks and, when COMP_WORDBREAKS holds it, also at "="; the word
// to be completed is then only what stands behind the "=". With "=" taken out of COMP_WORDBREAKS the word is
// all of
// --format=table, and what is offered has to begin with --format=. Both happen in practice.
#include <tidegate/commands/completion.hpp>
#include <tidegate/commands/completion_parts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidegate::commands {
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

} // namespace tidegate::commands
