// Completion of command lines. The stub of each shell passes the words up to the cursor to `tidegate
// __complete`, which answers from the model that the parser uses: a candidate on each line, with a tab and
// its meaning where it has one, and a last line ":files" where names of files may stand too (":files html
// htm" where they end so). A candidate that ends in "=" goes on without a blank.
#include "app/options.hpp"

namespace tidegate::app {
namespace {

using Words = std::vector<std::string>;

// bash takes words apart at "=": --format = table. Joins them, and returns how much of the last word bash
// keeps.
std::size_t join_at_equals(Words& words) {
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

// The place in the command line that the words lead to, and what may stand there.
class Completion {
public:
  // `kept`: how much of the last word bash keeps.
  Completion(const CommandModel& root, std::string typed, std::size_t kept)
      : typed_(std::move(typed)), kept_(kept) {
    enter(root);
  }

  void take(const std::string& word) {
    if (waiting_) {
      waiting_ = nullptr;
    } else if (!ended_ && word == "--") {
      ended_ = true;
    } else if (!ended_ && word.size() > 1 && word[0] == '-') {
      const bool is_long = word.starts_with("--");
      if (const OptionModel* const option =
              named(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2))) {
        used_.insert(option);
        const bool has_value = word.size() > 2 && (!is_long || word.find('=') != std::string::npos);
        waiting_ = option->value.empty() || has_value ? nullptr : option;
      }
    } else {
      const auto below = std::ranges::find(command_->subcommands, word, &CommandModel::name);
      below == command_->subcommands.end() ? static_cast<void>(++position_) : enter(*below);
    }
  }

  std::string answer() {
    const std::size_t equals = typed_.starts_with("--") ? typed_.find('=') : std::string::npos;
    if (waiting_) {
      offer_values(*waiting_, "");
    } else if (!ended_ && equals != std::string::npos) {
      if (const OptionModel* const option = named(typed_.substr(0, equals))) {
        offer_values(*option, typed_.substr(0, equals + 1));
      }
    } else if (!ended_ && typed_.starts_with('-')) {
      offer_options();
    } else if (!command_->subcommands.empty()) {
      for (const CommandModel& subcommand : command_->subcommands) {
        if (position_ == 0) { // else the command is unknown
          offer(subcommand.name, subcommand.summary);
        }
      }
    } else if (!offer_positional() && !ended_) {
      offer_options();
    }
    return lines_ + files_;
  }

private:
  void enter(const CommandModel& command) {
    std::vector<const OptionModel*> all;
    std::ranges::transform(command.options, std::back_inserter(all), [](const auto& own) { return &own; });
    for (const OptionModel* const inherited : options_) {
      const auto same = [inherited](const OptionModel& own) {
        return std::ranges::find_first_of(own.names, inherited->names) != own.names.end();
      };
      if (std::ranges::none_of(command.options, same)) {
        all.push_back(inherited);
      }
    }
    options_ = std::move(all);
    command_ = &command;
    position_ = 0;
  }

  const OptionModel* named(const std::string& name) const {
    for (const OptionModel* option : options_) {
      if (std::ranges::find(option->names, name) != option->names.end()) {
        return option;
      }
    }
    return nullptr;
  }

  void offer(const std::string& word, std::string_view meaning = "") {
    if (word.starts_with(typed_)) {
      lines_ += word.substr(kept_) + (meaning.empty() ? "" : "\t") + std::string(meaning) + '\n';
    }
  }

  // The values of an option, each after `prefix`, which is typed already.
  void offer_values(const OptionModel& option, const std::string& prefix) {
    if (const std::size_t equals = typed_.find('=', prefix.size()); equals != std::string::npos) {
      for (const OptionModel& setting : option.settings) {
        if (typed_.compare(prefix.size(), equals - prefix.size(), setting.names.front()) == 0) {
          return offer_values(setting, typed_.substr(0, equals + 1));
        }
      }
    }
    for (const OptionModel& setting : option.settings) {
      offer(prefix + setting.names.front() + '=', setting.meaning);
    }
    for (const std::string& choice : option.choices) {
      offer(prefix + choice);
    }
    if (option.takes_file) {
      offer_files(option.endings);
    }
  }

  void offer_files(const Words& endings = {}) {
    files_ = fmt::format(":files{}{}\n", endings.empty() ? "" : " ", fmt::join(endings, " "));
  }

  void offer_options() {
    for (const OptionModel* option : options_) {
      for (const std::string& name : option->names) {
        if (!used_.contains(option) || option->repeats) {
          offer(name, option->meaning);
        }
      }
    }
  }

  bool offer_positional() {
    const auto& positionals = command_->positionals;
    if (position_ < positionals.size()) {
      offer_values(positionals[position_], "");
      return positionals[position_].takes_file || !positionals[position_].choices.empty();
    }
    if (positionals.empty() || !positionals.back().value.ends_with("...")) {
      return false;
    }
    offer_files(); // of "[KIND] FILE..." only the first word may be a name
    return true;
  }

  const std::string typed_;
  const std::size_t kept_;
  std::string lines_, files_;
  const CommandModel* command_ = nullptr;
  std::vector<const OptionModel*> options_; // of the command, then those of its parents
  std::set<const OptionModel*> used_;
  const OptionModel* waiting_ = nullptr; // for its value
  std::size_t position_ = 0;
  bool ended_ = false; // by --
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
  Completion completion(root, words.empty() ? "" : words.back(), kept);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    completion.take(words[i]);
  }
  return completion.answer();
}

// The section COMMANDS of the manual page, which ends app/manual.roff, from the model of the command line.

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
