// Completion of command lines. The stub of each shell passes the words up to the cursor to `tidegate __complete`, which
// answers from the model that the parser uses: a candidate on each line, with a tab and its meaning where it has one, and a
// last line ":files" where names of files may stand too. A candidate that ends in "=" goes on without a blank.
#include "app/command_line.hpp"

namespace tidegate::app {

std::string complete(const CommandModel& root, std::span<const std::string> words) {
  const std::string typed = words.empty() ? "" : words.back(); // as far as it is
  const CommandModel* command = &root;
  std::vector<const OptionModel*> options; // of the command and its parents
  const OptionModel* waiting = nullptr;    // for its value
  std::size_t position = 0;
  bool ended = false; // by --
  const auto enter = [&](const CommandModel& named) {
    command = &named;
    position = 0;
    for (const OptionModel& option : named.options) {
      options.push_back(&option);
    }
  };
  enter(root);
  for (const std::string& word : words.first(words.empty() ? 0 : words.size() - 1)) {
    if (std::exchange(waiting, nullptr) != nullptr) {
      continue;
    }
    const auto below = std::ranges::find(command->subcommands, word, &CommandModel::name);
    if (!ended && word == "--") {
      ended = true;
    } else if (!ended && word.size() > 1 && word[0] == '-') { // --name, --name=value, -n or -nvalue
      const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
      const auto named = std::ranges::find_if(options, [&name](const OptionModel* option) {
        return std::ranges::find(option->names, name) != option->names.end();
      });
      if (named != options.end()) {
        waiting = (*named)->value.empty() || word != name ? nullptr : *named;
        if (!(*named)->repeats) {
          options.erase(named);
        }
      }
    } else if (below != command->subcommands.end()) {
      enter(*below);
    } else {
      ++position;
    }
  }
  std::string lines;
  const auto offer = [&](const std::string& text, const std::string& meaning = "") {
    if (text.starts_with(typed)) {
      lines += text + (meaning.empty() ? "" : "\t") + meaning + '\n';
    }
  };
  const auto offer_values = [&](const OptionModel& option) {
    for (const OptionModel& setting : command->settings) {
      if (option.value == "KEY=VALUE") {
        offer(setting.names[0] + '=', setting.meaning);
      }
    }
    for (const std::string& choice : option.choices) {
      offer(choice);
    }
    lines += option.takes_file ? ":files\n" : "";
    return option.takes_file || !option.choices.empty();
  };
  const auto& all = command->positionals;
  if (waiting != nullptr) {
    offer_values(*waiting);
  } else if (ended || !typed.starts_with('-')) {
    for (const CommandModel& subcommand : command->subcommands) {
      if (position == 0) { // else the command is unknown
        offer(subcommand.name, subcommand.summary);
      }
    }
    const bool more = position >= all.size() && !all.empty() && all.back().value.ends_with("...");
    lines += more ? ":files\n" : "";
    ended |= more || !command->subcommands.empty() || (position < all.size() && offer_values(all[position]));
  }
  for (const OptionModel* option : options) {
    for (const std::string& name : option->names) {
      if (waiting == nullptr && !ended) {
        offer(name, option->meaning);
      }
    }
  }
  return lines;
}

namespace {

// The words come from the line, because COMP_WORDS are taken apart at "="; a candidate goes without what stands in front of
// that. readline quotes the names of files itself where nothing else is offered.
constexpr std::string_view bash_stub =
    R"sh(# bash completion for tidegate, for bash 4 or newer: asks `tidegate __complete`.
_tidegate() {
  local words current=${2-} line=${COMP_LINE:0:COMP_POINT} head
  read -a words <<< "$line"
  [[ $line != *' ' ]] || words+=('')
  head=${words[-1]%"$current"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line != :files ]]; then
      line=${line%%$'\t'*}
      line=${line#"$head"}
      [[ $line != *= ]] || compopt -o nospace 2>/dev/null || :
      printf -v line %q "$line"
      COMPREPLY+=("$line")
    elif ((${#COMPREPLY[@]})) || ! compopt -o default 2>/dev/null; then
      compopt -o filenames 2>/dev/null || :
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    fi
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _tidegate tidegate
)sh";

constexpr std::string_view zsh_stub = R"sh(#compdef tidegate
# zsh completion for tidegate: asks `tidegate __complete`. It stands as _tidegate in a folder of $fpath, or is
# read after compinit: source <(tidegate completion zsh)
_tidegate() {
  local line files tab=$'\t'
  local -a found open
  for line in "${(@f)$("$words[1]" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=yes ;;
      *=|*=$tab*) open+=(${${line//:/\\:}/$tab/:}) ;;
      *) found+=(${${line//:/\\:}/$tab/:}) ;;
    esac
  done
  (( ! $#found )) || _describe tidegate found
  (( ! $#open )) || _describe tidegate open -S ''
  [[ -z $files ]] || _files
}
# From $fpath, the file is the body of the function and has to complete right away.
if [[ $funcstack[1] == _tidegate ]]; then
  _tidegate "$@"
else
  compdef _tidegate tidegate
fi
)sh";

constexpr std::string_view fish_stub =
    R"sh(# fish completion for tidegate, for fish 3.1 or newer: asks `tidegate __complete`.
function __tidegate
    set -l words (commandline -opc)
    set -l tool $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    for line in ($tool __complete $words "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path $current
        else
            echo $line
        end
    end
end
complete -c tidegate -f -a '(__tidegate)'
)sh";

} // namespace

// tidegate completion

CommandModel completion_command() {
  struct Settings {
    std::string_view stub;
    std::string output = "-";
  };
  const auto settings = std::make_shared<Settings>();
  OptionModel shell =
      option("", as_choice<std::string_view>({{"bash", bash_stub}, {"zsh", zsh_stub}, {"fish", fish_stub}}),
             settings->stub, "Shell to print the script for");
  shell.value = "SHELL";
  return {.options = {output_option(settings->output)},
          .positionals = {std::move(shell)},
          .examples = {{"In this shell, at once:", "source <(tidegate completion bash)"}},
          .run = [settings] { return write_text(settings->output, settings->stub); }};
}

} // namespace tidegate::app
