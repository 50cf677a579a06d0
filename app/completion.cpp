// Completion of command lines. The stub of each shell passes the words up to the cursor to `tidegate
// __complete`, which answers from the model that the parser uses: a candidate on each line, with a tab and
// its meaning where it has one, and a last line ":files" where names of files may stand too (":files html
// htm" where they end so). A candidate that ends in "=" goes on without a blank.
#include "app/command_line.hpp"

namespace tidegate::app {
namespace {

// bash takes words apart at "=": --format = table. Joins them, and returns how much of the last word bash
// keeps.
std::size_t join_at_equals(std::vector<std::string>& words) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < words.size();) {
    if (words[i] != "=") {
      ++i;
      continue;
    }
    const bool last = i + 2 >= words.size();
    words[i - 1] += '=';
    kept = last ? words[i - 1].size() : 0;
    words[i - 1] += i + 1 < words.size() ? words[i + 1] : "";
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(std::min(i + 2, words.size())));
  }
  return kept;
}

// Where the words of a command line lead, and what may stand there.
struct Place {
  const std::string typed; // the last word, as far as it is
  const std::size_t kept;  // how much of it bash keeps
  const CommandModel* command = nullptr;
  std::vector<const OptionModel*> options{}; // of the command, then those of its parents
  std::set<const OptionModel*> used{};
  const OptionModel* waiting = nullptr; // for its value
  std::size_t position = 0;
  bool ended = false; // by --
  std::string lines{}, files{};

  void enter(const CommandModel& entered) {
    command = &entered;
    position = 0;
    std::vector<const OptionModel*> own;
    std::ranges::transform(entered.options, std::back_inserter(own),
                           [](const auto& option) { return &option; });
    options.insert(options.begin(), own.begin(), own.end());
  }

  [[nodiscard]] const OptionModel* named(const std::string& name) const {
    const auto found = std::ranges::find_if(options, [&name](const OptionModel* option) {
      return std::ranges::find(option->names, name) != option->names.end();
    });
    return found == options.end() ? nullptr : *found;
  }

  void take(const std::string& word) {
    if (waiting != nullptr) {
      waiting = nullptr;
    } else if (!ended && word == "--") {
      ended = true;
    } else if (!ended && word.size() > 1 && word[0] == '-') {
      const bool is_long = word.starts_with("--");
      if (const OptionModel* const option =
              named(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2))) {
        used.insert(option);
        const bool has_value = word.size() > 2 && (!is_long || word.find('=') != word.npos);
        waiting = option->value.empty() || has_value ? nullptr : option;
      }
    } else if (const auto below = std::ranges::find(command->subcommands, word, &CommandModel::name);
               below != command->subcommands.end()) {
      enter(*below);
    } else {
      ++position;
    }
  }

  void offer(const std::string& text, std::string_view meaning = "") {
    if (text.starts_with(typed)) {
      lines += text.substr(kept) + (meaning.empty() ? "" : "\t") + std::string(meaning) + '\n';
    }
  }

  // Offers the values of an option, each after `prefix`, which is typed already. Returns false if there are none.
  bool offer_values(const OptionModel& option, const std::string& prefix) {
    const std::size_t equals = typed.find('=', prefix.size());
    for (const OptionModel& setting : option.settings) {
      if (equals != typed.npos && typed.substr(prefix.size(), equals - prefix.size()) == setting.names[0]) {
        return offer_values(setting, typed.substr(0, equals + 1));
      }
      offer(prefix + setting.names[0] + '=', setting.meaning);
    }
    for (const std::string& choice : option.choices) {
      offer(prefix + choice);
    }
    if (option.takes_file) {
      files = fmt::format(":files{}{}\n", option.endings.empty() ? "" : " ", fmt::join(option.endings, " "));
    }
    return option.takes_file || !option.choices.empty();
  }

  bool offer_positionals() {
    const auto& all = command->positionals;
    if (position < all.size()) {
      return offer_values(all[position], "");
    }
    const bool more = !all.empty() && all.back().value.ends_with("..."); // of "[KIND] FILE..." a file
    files = more ? ":files\n" : "";
    return more;
  }

  void complete() {
    const bool is_option = !ended && typed.starts_with('-');
    const std::size_t equals = is_option && typed.starts_with("--") ? typed.find('=') : typed.npos;
    if (waiting != nullptr) {
      offer_values(*waiting, "");
    } else if (equals != typed.npos) {
      if (const OptionModel* const option = named(typed.substr(0, equals))) {
        offer_values(*option, typed.substr(0, equals + 1));
      }
    } else if (!is_option && !command->subcommands.empty()) {
      for (const CommandModel& subcommand : command->subcommands) {
        if (position == 0) { // else the command is unknown
          offer(subcommand.name, subcommand.summary);
        }
      }
    } else if ((is_option || !offer_positionals()) && !ended) {
      for (const OptionModel* option : options) {
        for (const std::string& name : option->names) {
          if (!used.contains(option) || option->repeats) {
            offer(name, option->meaning);
          }
        }
      }
    }
  }
};

// COMP_WORDS holds "=" as a word where COMP_WORDBREAKS does; readline quotes the names of files itself where
// nothing else is offered.
constexpr std::string_view bash_stub =
    R"sh(# bash completion for tidegate, for bash 4 or newer: asks `tidegate __complete`.
_tidegate() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}") current=${2-} prefix='' line endings
  [[ ${words[-1]} == = ]] || words[-1]=$current
  [[ $current != --*=* ]] || prefix=${current%%=*}=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line != :files* ]]; then
      line=${line%%$'\t'*}
      [[ $line != *= ]] || compopt -o nospace 2>/dev/null || :
      printf -v line %q "$line"
      COMPREPLY+=("$line")
    elif [[ $line != :files || -n $prefix ]] || ((${#COMPREPLY[@]})) || ! compopt -o default 2>/dev/null; then
      endings="${line#:files} "
      compopt -o filenames 2>/dev/null || :
      while IFS= read -r line; do
        [[ $endings != ' ' && ! -d $line && $endings != *" ${line##*.} "* ]] || COMPREPLY+=("$prefix$line")
      done < <(compgen -f -- "${current#"$prefix"}")
    fi
  done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}
complete -F _tidegate tidegate
)sh";

constexpr std::string_view zsh_stub = R"sh(#compdef tidegate
# zsh completion for tidegate: asks `tidegate __complete`. It stands as _tidegate in a folder of $fpath, or is
# read after compinit: source <(tidegate completion zsh)
_tidegate() {
  local line files tab=$'\t'
  local -a found open endings
  for line in "${(@f)$("$words[1]" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files*) files=yes endings=(${=line#:files}) ;;
      *=|*=$tab*) open+=(${${line//:/\\:}/$tab/:}) ;;
      *) found+=(${${line//:/\\:}/$tab/:}) ;;
    esac
  done
  (( ! $#found )) || _describe tidegate found
  (( ! $#open )) || _describe tidegate open -S ''
  if [[ -n $files ]]; then
    [[ $PREFIX != --*=* ]] || compset -P '*='
    if (( $#endings )); then _files -g "*.(${(j:|:)endings})"; else _files; fi
  fi
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
        if not string match -q ':files*' -- $line
            echo $line
            continue
        end
        set -l endings (string split -n ' ' -- (string replace ':files' '' -- $line))
        set -l prefix (string match -r -- '^--[^=]*=' $current)
        for file in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $current))
            set -l name (string split -m 1 \t -- $file)[1]
            if test -z "$endings"; or string match -qr '/$' -- $name; or contains -- (string replace -r '.*\.' '' -- $name) $endings
                echo "$prefix$file"
            end
        end
    end
end
complete -c tidegate -f -a '(__tidegate)'
)sh";

constexpr std::array<std::string_view, 3> shell_names{"bash", "zsh", "fish"};
constexpr std::array stubs{bash_stub, zsh_stub, fish_stub};

} // namespace

std::string complete(const CommandModel& root, std::vector<std::string> words) {
  const std::size_t kept = join_at_equals(words);
  Place place{.typed = words.empty() ? "" : words.back(), .kept = kept};
  place.enter(root);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    place.take(words[i]);
  }
  place.complete();
  return place.lines + place.files;
}

// tidegate completion

CommandModel completion_command() {
  struct Settings {
    std::string_view stub;
    std::string output = "-";
  };
  const auto settings = std::make_shared<Settings>();
  const auto choose = [&stub = settings->stub](std::size_t index) { stub = stubs[index]; };
  return {.options = {output_option(settings->output)},
          .positionals = {positional("SHELL",
                                     index_option("", choose, shell_names, "Shell to print the script for"))},
          .examples = {{"In this shell, at once:", "source <(tidegate completion bash)"}},
          .run = [settings] { return write_text(settings->output, settings->stub); }};
}

} // namespace tidegate::app
