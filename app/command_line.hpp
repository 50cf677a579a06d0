// The command line: its subcommands, and a parser made from their descriptions. CLI11 is included only by its
// source, since it takes longer to compile than all the rest of the folder.
#pragma once
#include "app/serve.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::app {

// The command line as plain data: the parser, completion and help texts are all made from it.

struct OptionModel {
  std::vector<std::string> names; // "-o", "--output"; empty for a positional
  std::string value;              // "FILE"; empty for a flag; of a positional "[FILE]" if it may be left out
  bool repeats = false;           // it may be given several times
  std::vector<std::string> choices; // the names that the value may have, or some of them, for shells to offer
  bool takes_file = false;
  std::string meaning;  // one line
  std::string no_value; // a value that stands for the option's absence, such as auto
  // Stores a given value; a flag's is empty. The parser uses an error's message and nearest name. Empty for
  // help and version.
  std::function<Result<void>(const std::string& value)> take;
};

// A command line that works in the repository's folder, and its purpose.
struct CommandExample {
  std::string purpose; // ends with a colon
  std::string line;
};

struct CommandModel {
  std::string name;
  std::string summary; // one line
  std::string group;   // under which its parent's help lists it; empty: none
  std::vector<OptionModel> options;
  std::vector<OptionModel> settings; // --set KEY=VALUE, or --KEY VALUE; help does not list them
  std::vector<OptionModel> positionals;
  std::vector<CommandModel> subcommands;
  std::vector<CommandExample> examples;
  std::function<Result<ExitCode>()> run; // runs after the options were taken; empty with subcommands
};

// Completes the last of the words. Returns a candidate on each line, with a tab and its meaning where it has one, and
// ":files" where file names may follow too.
std::string complete(const CommandModel& root, std::span<const std::string> words);

// Each call makes separate settings, which `take` fills and `run` reads.
CommandModel init_command(), run_command(), check_command(), tune_command(), devices_command(),
    recommend_command(), plan_command(), arena_command(), priority_command(), compare_command(),
    export_command(), schema_command(), completion_command(), version_command();
CommandModel tune_measure_command(), tune_choose_command(), tune_step_command(); // of tune

// Describes the subcommands that `words` name, or all without words: describing one takes longer than a recommendation.
CommandModel command_line(std::span<const std::string> words = {});

using Action = std::function<Result<ExitCode>()>;
Result<Action> parse(std::vector<std::string> arguments);

// Also for errors in the arguments themselves.
bool wants_json_errors(const std::vector<std::string>& arguments);

// Fills core's catalogue of document types. Call it before documents are read.
void fill_catalogue();

// The error of an exception that nothing below catches: the host's memory ran out, or there is a bug.
Error uncaught_error(const std::exception& exception, std::string fix_of_bug);

// Runs one command line with the process's standard streams, and prints its error. A process may call it again.
ExitCode run_tidegate(const std::vector<std::string>& arguments);

// Kinds of options, and options that several commands share.

// "a,b" as its parts, one at least.
std::vector<std::string> words_in(std::string_view list, char separator = ',');

// Sets `target`, or appends to it if it is a list, to `read` of the given text, which help calls `value`.
template <class Target, class Read>
OptionModel option(std::string_view names, std::string value, Target& target, Read read, std::string meaning,
                   std::string no_value = "") {
  constexpr bool is_list = requires {
    target.emplace_back(*read(std::string()));
  };
  const auto take = [&target, read](const std::string& text) -> Result<void> {
    return read(text).map([&target](auto&& given) {
      if constexpr (is_list) {
        target.push_back(std::move(given));
      } else {
        target = std::move(given);
      }
    });
  };
  return {.names = words_in(names),
          .value = std::move(value),
          .repeats = is_list,
          .meaning = std::move(meaning),
          .no_value = std::move(no_value),
          .take = take};
}

Result<std::uint64_t> read_count(const std::string& text, std::uint64_t least = 0,
                                 std::uint64_t most = ~std::uint64_t{0});

template <class Target>
OptionModel text_option(std::string_view names, std::string value, Target& target, std::string meaning) {
  const auto read = [](const std::string& text) -> Result<std::string> { return text; };
  return option(names, std::move(value), target, read, std::move(meaning));
}
template <class Target>
OptionModel file_option(std::string_view names, Target& target, std::string meaning) {
  OptionModel file = text_option(names, "FILE", target, std::move(meaning));
  file.takes_file = true;
  return file;
}
// A file that is written. `endings` are those of the right formats, without the dot; those of other formats are refused:
// run.pdf that is no PDF helps no one.
OptionModel written_file_option(std::string_view names, std::string& target, std::vector<std::string> endings,
                                std::string meaning);
template <class Target>
OptionModel count_option(std::string_view names, Target& target, std::string meaning) {
  const auto read = [](const std::string& text) { return read_count(text); };
  return option(names, "N", target, read, std::move(meaning), "0");
}
// A number; one below `least` leaves the choice to tidegate.
OptionModel number_option(std::string_view names, std::optional<std::uint32_t>& target, std::uint32_t least,
                          std::uint32_t most, std::string meaning);
template <class Target>
OptionModel bytes_option(std::string_view names, Target& target, std::string meaning) {
  return option(names, "BYTES", target, parse_bytes, std::move(meaning));
}
// Takes 10s, 2m or 150ms, or a plain number of `unit_ns`; the target has nanoseconds.
template <class Target>
OptionModel duration_option(std::string_view names, Target& target_ns, std::uint64_t unit_ns,
                            std::string meaning) {
  const auto read = [unit_ns](const std::string& text) {
    return parse_duration(text, unit_ns).map([](std::uint64_t ns) {
      return ns == 0 ? Target() : Target(ns);
    });
  };
  return option(names, "TIME", target_ns, read, std::move(meaning), "0");
}
template <class Target>
OptionModel device_option(Target& target, std::string meaning) {
  OptionModel device = text_option("--device", "SEL", target, std::move(meaning));
  device.choices = {"cpu", "gpu"};
  return device;
}
OptionModel flag(std::string_view names, bool& given, std::string meaning);

// Words, and what each stands for.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

template <class E>
Words<std::optional<E>> words_for() {
  Words<std::optional<E>> words;
  for (const std::string_view name : documents::Choices<E>::names) {
    words.emplace_back(name, static_cast<E>(words.size()));
  }
  return words;
}

Error unknown_word(std::string_view word, std::span<const std::string_view> known);

template <class T>
Result<T> value_of(const std::string& word, const Words<T>& words) {
  const auto found = std::ranges::find(words, word, &Words<T>::value_type::first);
  if (found == words.end()) {
    std::vector<std::string_view> known;
    std::ranges::transform(words, std::back_inserter(known), &Words<T>::value_type::first);
    return tl::unexpected(unknown_word(word, known));
  }
  return found->second;
}

// Takes one of these words.
template <class Target>
OptionModel choice_option(std::string_view names, Target& target,
                          const Words<std::type_identity_t<Target>>& words, std::string meaning,
                          std::string no_value = "") {
  const auto read = [words](const std::string& word) { return value_of(word, words); };
  OptionModel choice = option(names, "", target, read, std::move(meaning), std::move(no_value));
  for (const auto& [word, value] : words) {
    choice.choices.emplace_back(word);
  }
  choice.value = fmt::format("{}", fmt::join(choice.choices, "|"));
  return choice;
}
template <class Target>
OptionModel switch_option(std::string_view name, Target& on, std::string meaning, std::string usual = "") {
  return choice_option(name, on, {{"yes", true}, {"no", false}}, std::move(meaning), std::move(usual));
}

// Returns the option as a word without a name: "SHELL", or "[FILE]" if it may be left out; of a list "FILE..." or
// "[KIND] FILE...".
OptionModel positional(std::string value, OptionModel option);

// --format; `meaning` explains the names.
OptionModel
format_option(std::string_view& format, std::initializer_list<std::string_view> names = {"json", "table"},
              std::string meaning = "JSON or a table for people (default: a table on a terminal)");
// -o; `endings` as in written_file_option().
OptionModel output_option(std::string& output, std::vector<std::string> endings = {"json"});

// Adds what commands that answer documents have: --format, --stream, -o and the input.
CommandModel answering(Route& route, const std::string& document, CommandModel command,
                       bool draws_pictures = false);

OptionModel
parameter_option(std::vector<documents::Parameter>& parameters); // the last value of a name counts
OptionModel path_scope_option(PathScope& scope);                 // --allow-outside
std::vector<std::string> document_kinds();

} // namespace tidegate::app
