// The fish script: one `complete` per option, subcommand and positional, each with the condition under which
// it is offered. All conditions ask one function, which walks the words before the cursor once for each
// question.
#include <tidegate/commands/completion.hpp>
#include <tidegate/commands/completion_parts.hpp>

#include <fmt/format.h>

namespace tidegate::commands {
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

} // namespace tidegate::commands
