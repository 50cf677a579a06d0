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

// A purpose, which ends with a colon, and a command line that works in the repository's folder.
using CommandExample = std::pair<std::string, std::string>;

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

// The error of an exception that nothing below catches: the host's memory ran out, or there is a bug.
Error uncaught_error(const std::exception& exception, std::string fix_of_bug);

// Runs one command line with the process's standard streams, and prints its error. A process may call it again.
ExitCode run_tidegate(const std::vector<std::string>& arguments);

// Kinds of values, and options that several commands share.

// "a,b" as its parts, one at least.
std::vector<std::string> words_in(std::string_view list, char separator = ',');

// A kind of values, and how help and shells show it: the members are those of OptionModel.
template <class T>
struct ValueKind {
  std::string value;
  std::function<Result<std::optional<T>>(const std::string& text)> read; // nothing: of no_value
  std::vector<std::string> choices{};
  bool takes_file = false;
  std::string no_value{};
};

// `value`: of an option "FILE", of a positional "SHELL", "[FILE]" if it may be left out, "FILE..." or "[KIND] FILE...".
ValueKind<std::string> as_text(std::string value);
ValueKind<std::string> as_file(std::string value = "FILE");
// A file that is written. `endings` are those of the right formats, without the dot; those of other formats are refused:
// run.pdf that is no PDF helps no one.
ValueKind<std::string> as_written_file(std::vector<std::string> endings);
ValueKind<std::uint64_t> as_bytes();
// Takes 10s, 2m or 150ms, or a plain number of `unit_ns`; the value is in nanoseconds.
ValueKind<std::uint64_t> as_duration(std::uint64_t unit_ns = 1'000'000'000);
ValueKind<std::string> as_device();

Result<std::uint64_t> read_count(const std::string& text, std::uint64_t most);
template <class T = std::uint64_t>
ValueKind<T> as_count(T most = std::numeric_limits<T>::max(), std::string no_value = "0") {
  const auto read = [most, may_be_0 = no_value.empty()](const std::string& text) {
    return read_count(text, most).map([may_be_0](std::uint64_t count) {
      return count != 0 || may_be_0 ? std::optional(static_cast<T>(count)) : std::nullopt;
    });
  };
  return {.value = "N", .read = read, .no_value = std::move(no_value)};
}

// Words, and what each stands for.
template <class T>
using Words = std::vector<std::pair<std::string_view, T>>;

template <class E>
Words<E> words_for() {
  Words<E> words;
  for (const std::string_view name : documents::Choices<E>::names) {
    words.emplace_back(name, static_cast<E>(words.size()));
  }
  return words;
}

Error unknown_word(std::string_view word, std::span<const std::string_view> known);

// One of these words; `no_value` stands in front of them if it is another one.
template <class T>
ValueKind<T> as_choice(Words<T> words, std::string_view no_value = "") {
  std::vector<std::string_view> names;
  std::ranges::transform(words, std::back_inserter(names), &Words<T>::value_type::first);
  if (!no_value.empty() && std::ranges::find(names, no_value) == names.end()) {
    names.insert(names.begin(), no_value);
  }
  const auto read = [words = std::move(words), names](const std::string& word) -> Result<std::optional<T>> {
    if (std::ranges::find(names, word) == names.end()) {
      return tl::unexpected(unknown_word(word, names));
    }
    const auto found = std::ranges::find(words, word, &Words<T>::value_type::first);
    return found == words.end() ? std::nullopt : std::optional(found->second);
  };
  return {.value = fmt::format("{}", fmt::join(names, "|")),
          .read = read,
          .choices = {names.begin(), names.end()},
          .no_value = std::string(no_value)};
}
inline ValueKind<bool> as_switch(std::string_view usual = "") {
  return as_choice<bool>({{"yes", true}, {"no", false}}, usual);
}

// Sets `target` to the given value, or appends it if that is a list. Positionals have no names.
template <class T, class Target>
OptionModel option(std::string_view names, ValueKind<T> kind, Target& target, std::string meaning) {
  constexpr bool is_list = requires(T given) {
    target.emplace_back(given);
  };
  const auto take = [&target, read = std::move(kind.read)](const std::string& text) -> Result<void> {
    return read(text).map([&target](std::optional<T> given) {
      if constexpr (is_list) {
        target.push_back(given.value_or(T()));
      } else if constexpr (requires { target.reset(); }) {
        target = std::move(given);
      } else {
        target = std::move(given).value_or(T());
      }
    });
  };
  return {.names = names.empty() ? std::vector<std::string>() : words_in(names),
          .value = std::move(kind.value),
          .repeats = is_list,
          .choices = std::move(kind.choices),
          .takes_file = kind.takes_file,
          .meaning = std::move(meaning),
          .no_value = std::move(kind.no_value),
          .take = take};
}
template <class T>
OptionModel flag(std::string_view names, T& target, std::string meaning, T given = T{true}) {
  const auto read = [given](const std::string& /*none*/) -> Result<std::optional<T>> { return given; };
  return option(names, ValueKind<T>{.value = "", .read = read}, target, std::move(meaning));
}

// --format; `meaning` explains the names.
OptionModel
format_option(std::string_view& format, std::initializer_list<std::string_view> names = {"json", "table"},
              std::string meaning = "JSON or a table for people (default: a table on a terminal)");
// -o; `endings` as in as_written_file().
OptionModel output_option(std::string& output, std::vector<std::string> endings = {"json"});

// Adds what commands that answer documents have: --format, --stream, -o and the input.
CommandModel answering(Route& route, const std::string& document, CommandModel command,
                       bool draws_pictures = false);

OptionModel
parameter_option(std::vector<documents::Parameter>& parameters); // the last value of a name counts
OptionModel path_scope_option(PathScope& scope);                 // --allow-outside
std::vector<std::string> document_kinds();

} // namespace tidegate::app
