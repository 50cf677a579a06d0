#include "app/command_line.hpp"

#include "app/run.hpp"
#include "core/interrupt.hpp"
#include "core/json.hpp"
#include "core/table.hpp"
#include "device/isolation.hpp"

#include <CLI/CLI.hpp>

namespace tidegate::app {
namespace {

struct Subcommand {
  std::string_view group; // what one wants to do
  std::string_view name;
  std::string_view summary; // one line
  CommandModel (*describe)();
};

// In the order of the help text.
constexpr std::string_view first_steps = "First steps", planning = "Plan launches and memory", more = "More";
constexpr std::array subcommands{
    Subcommand{first_steps, "init",
               "Write a first wave program for OpenCL kernels, with a note at each placeholder",
               init_command},
    Subcommand{first_steps, "run",
               "Run a program of OpenCL kernels as one persistent launch, checked and timed", run_command},
    Subcommand{first_steps, "check", "Check documents: report every error that needs no device to find",
               check_command},
    Subcommand{first_steps, "tune", "Measure what is fastest for a program; choose from measured costs",
               tune_command},
    Subcommand{first_steps, "devices", "List the OpenCL devices of this machine with their limits",
               devices_command},
    Subcommand{planning, "recommend",
               "Recommend how to launch: geometry, topology, mode, hit capacity, memory", recommend_command},
    Subcommand{planning, "plan", "Plan a wave DAG: barrier groups under a memory budget, also as a picture",
               plan_command},
    Subcommand{planning, "arena", "Place buffers with lifetimes in one arena, also as a picture",
               arena_command},
    Subcommand{planning, "priority", "Drain requeue counters, diffuse priorities between siblings",
               priority_command},
    Subcommand{more, "compare", "Compare two reports of runs: speed, choices, times by wave",
               compare_command},
    Subcommand{more, "export",
               "Write a program's persistent launch as a C program that needs nothing but OpenCL",
               export_command},
    Subcommand{more, "schema", "Print the JSON Schema or the reference of a document type", schema_command},
    Subcommand{more, "completion", "Print a completion script for a shell", completion_command},
    Subcommand{more, "version", "Print versions, system, drivers and devices, for bug reports",
               version_command},
};

// Spellings of earlier versions, which are refused with what to give in their place.
struct Former {
  std::string_view command, word, now;
};
constexpr std::array former_spellings{
    Former{"tidegate run", "--check-bounds", "--check bounds"},
    Former{"tidegate run", "--no-cache", "--cache no"},
    Former{"tidegate run", "--no-measure", "--measure no"},
    Former{"tidegate run", "--no-verify-first", "--verify-first no"},
    Former{"tidegate run", "--times", "-o REPORT.json: its `comparison` has every round"},
    Former{"tidegate run", "--baseline", "both reports to `tidegate compare`, the earlier one first"},
    Former{"tidegate run", "--fail-slower", "it to `tidegate compare`, with both reports"},
    Former{"tidegate run", "--measure-budget", "--measure-time"},
    Former{"tidegate tune measure", "--budget", "--time"},
    Former{"tidegate tune measure", "--no-cache", "--cache no"},
    Former{"tidegate tune measure", "--no-keep", "--cache no"},
    Former{"tidegate tune measure", "--profile", "--write-profile"},
    Former{"tidegate tune measure", "--policy", "--write-policy"},
};

constexpr std::size_t widest_help = 100, left_column = 34; // in characters

// A value that was refused, on its way through CLI11.
struct RefusedValue : CLI::ValidationError {
  RefusedValue(const std::string& option, const tidegate::Error& why)
      : CLI::ValidationError(option, why.message), refusal(why) {}
  tidegate::Error refusal;
};

// The names that CLI11 gives an option, and a positional in the usage line: "-o,--output"; "FILE" of "[KIND] FILE...".
std::string name_of(const OptionModel& option) {
  if (!option.names.empty()) {
    return fmt::format("{}", fmt::join(option.names, ","));
  }
  const std::string_view word = std::string_view(option.value).substr(option.value.rfind(' ') + 1);
  const std::size_t begin = word.find_first_not_of('[');
  return std::string(word.substr(begin, word.find_first_of("].") - begin));
}

// Adds an option with a value, which `name` names to CLI11. `option` has to live as long as `command`.
CLI::Option* add_value(CLI::App& command, const OptionModel& option, const std::string& name, bool repeats,
                       const std::string& meaning) {
  const auto take_all = [&option, name](const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (const auto taken = option.take(value); !taken) {
        // The name that CLI11 gives it in its own errors; a setting has one without dashes.
        const auto named =
            std::ranges::find_if(option.names, [](const std::string& one) { return one.starts_with("--"); });
        throw RefusedValue(named != option.names.end() ? *named
                           : option.names.empty()      ? name
                                                       : option.names.back(),
                           taken.error());
      }
    }
  };
  return repeats ? command.add_option_function<std::vector<std::string>>(name, take_all, meaning)
                 : command.add_option_function<std::string>(
                       name, [take_all](const std::string& value) { take_all({value}); }, meaning);
}

void add_option(CLI::App& command, const OptionModel& option) {
  const std::string name = name_of(option);
  std::string meaning =
      render_table({{option.meaning}}, std::max(text_width(widest_help), left_column) - left_column);
  meaning.pop_back(); // the end of the line
  if (option.value.empty()) {
    command.add_flag_callback(
        name, [&option] { (void)option.take(""); }, meaning);
    return;
  }
  const bool all_that_follow = option.value.ends_with("...");
  CLI::Option* const added = add_value(command, option, name, all_that_follow || option.repeats, meaning);
  added->allow_extra_args(all_that_follow);
  if (option.names.empty()) {
    added->required(!option.value.starts_with('['))->option_text(" "); // where it would repeat the type
  } else {
    added->type_name(option.value);
  }
  for (const OptionModel& setting : option.settings) {
    const std::string_view key = setting.names.front();
    add_value(command, setting, fmt::format("--{},--{}", key, key.substr(key.rfind('.') + 1)), true, "")
        ->allow_extra_args(false)
        ->group(""); // not in the help
  }
}

void add_command(CLI::App& parser, const CommandModel& command) {
  for (const OptionModel& option : command.options) {
    if (option.take) {
      add_option(parser, option);
    } else if (option.names.back() == "--help") {
      parser.set_help_flag(name_of(option), option.meaning);
    } else {
      parser.set_version_flag(name_of(option), "tidegate " TIDEGATE_VERSION, option.meaning);
    }
  }
  for (const OptionModel& positional : command.positionals) {
    add_option(parser, positional);
  }
  for (const CommandModel& subcommand : command.subcommands) {
    CLI::App* const added = parser.add_subcommand(subcommand.name, subcommand.summary);
    added->group(subcommand.group.empty() ? "COMMANDS" : subcommand.group);
    added->fallthrough(); // --errors may stand after the command too
    add_command(*added, subcommand);
  }
  std::string examples = "Examples:";
  for (const CommandExample& example : command.examples) {
    examples += fmt::format("\n  {}\n      {}", example.purpose, example.line);
  }
  if (!command.examples.empty()) {
    parser.footer(examples);
  }
  parser.require_subcommand(command.subcommands.empty() ? 0 : 1);
}

// The innermost command that was parsed, and its names from the outside.
struct Innermost {
  const CommandModel* command = nullptr;
  std::string path;
  std::vector<std::string> options; // that may stand there, with two dashes
};

Innermost innermost(const CLI::App& parser, const CommandModel& root) {
  Innermost found{.command = &root, .path = root.name, .options = {}};
  for (const CLI::App* at = &parser;; at = at->get_subcommands().front()) {
    for (const OptionModel& option : found.command->options) {
      std::ranges::copy_if(option.names, std::back_inserter(found.options),
                           [](const std::string& name) { return name.starts_with("--"); });
    }
    if (at->get_subcommands().empty()) {
      return found;
    }
    found.command = &*std::ranges::find(found.command->subcommands, at->get_subcommands().front()->get_name(),
                                        &CommandModel::name);
    found.path += ' ' + found.command->name;
  }
}

Error with_nearest(Error error, std::optional<std::string_view> nearest) {
  if (nearest) {
    error.nearest = *nearest;
    error.fix = fmt::format("did you mean \"{}\"?", *nearest);
  }
  return error;
}

Error unknown_command(const std::string& path, const std::string& word, std::string fix,
                      std::span<const std::string_view> known) {
  return with_nearest({.code = ErrorCode::unknown_command,
                       .message = fmt::format("{} has no command {}", path, in_quotes(word)),
                       .fix = std::move(fix)},
                      nearest_name(word, known));
}

// Returns the subcommand that the arguments name: their first word that is not an option, or an empty string. Errors:
// unknown_command; invalid_usage for an option with nothing after its "=", which CLI11 would fill with the next word.
Result<std::string> named_subcommand(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      return misuse(fmt::format("{} has no value", in_quotes(argument)),
                    "give a value after the =, or leave the option out");
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--errors") {
      ++i; // its value
    } else if (!arguments[i].starts_with('-')) {
      std::array<std::string_view, subcommands.size()> known;
      std::ranges::transform(subcommands, known.begin(), &Subcommand::name);
      if (std::ranges::find(known, arguments[i]) != known.end()) {
        return arguments[i];
      }
      return tl::unexpected(
          unknown_command("tidegate", arguments[i], "`tidegate --help` lists the commands", known));
    }
  }
  return std::string();
}

// Returns the error of a command line that CLI11 refused.
Error usage_error(const CLI::App& parser, const CommandModel& root, const CLI::ParseError& refusal) {
  const Innermost at = innermost(parser, root);
  const std::string fix = fmt::format("`{} --help` shows the usage", at.path);
  std::vector<std::string_view> commands;
  std::ranges::transform(at.command->subcommands, std::back_inserter(commands), &CommandModel::name);

  const std::vector<std::string> unexpected = parser.remaining(true);
  const auto option = std::ranges::find_if(
      unexpected, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option != unexpected.end()) {
    const std::string word = option->substr(0, option->find('='));
    const auto* const former = std::ranges::find_if(
        former_spellings, [&](const Former& one) { return one.command == at.path && one.word == word; });
    const bool is_former = former != former_spellings.end();
    const bool of_compiler = (word.starts_with("-D") || word.starts_with("-I")) &&
                             std::ranges::find(at.options, "--options") != at.options.end();
    const std::vector<std::string_view> known(at.options.begin(), at.options.end());
    return with_nearest({.code = ErrorCode::unknown_option,
                         .message = fmt::format("{} has no option {}", at.path, in_quotes(word)),
                         .fix = is_former ? fmt::format("give {}", former->now)
                                : of_compiler
                                    ? fmt::format("give the compiler's: --options={}", in_quotes(*option))
                                    : fix},
                        is_former ? std::nullopt : nearest_name(word, known));
  }
  if (!unexpected.empty() && !commands.empty()) {
    return unknown_command(at.path, unexpected.front(), fix, commands);
  }
  Error error{.code = ErrorCode::invalid_usage, .message = refusal.what(), .fix = fix};
  if (!unexpected.empty()) {
    error.message = fmt::format("{} takes no further argument {}", at.path, in_quotes(unexpected.front()));
  } else if (dynamic_cast<const CLI::RequiredError*>(&refusal) != nullptr && !commands.empty()) {
    error.message = fmt::format("{} needs a command: {}", at.path, fmt::join(commands, ", "));
  } else if (const auto* const refused = dynamic_cast<const RefusedValue*>(&refusal)) {
    error.fix = refused->refusal.fix.empty() ? error.fix : refused->refusal.fix;
    return with_nearest(std::move(error), refused->refusal.nearest);
  }
  return error;
}

} // namespace

bool wants_json_errors(const std::vector<std::string>& arguments) {
  const auto option = std::ranges::find(arguments, "--errors");
  return std::ranges::find(arguments, "--errors=json") != arguments.end() ||
         (arguments.end() - option > 1 && option[1] == "json");
}

CommandModel command_line(std::string_view only) {
  CommandModel root{
      .name = "tidegate",
      .summary = "Runs programs of OpenCL kernels, and graph algorithms, as one persistent launch.",
      .options = {{.names = {"-h", "--help"}, .meaning = "Print this help message and exit"},
                  {.names = {"-V", "--version"}, .meaning = "Display program version information and exit"},
                  choice_option(
                      "--errors", reporting.json, {{"text", false}, {"json", true}},
                      "Errors and warnings on standard error as text, or each as one JSON object on a line"),
                  flag("-q,--quiet", reporting.quiet,
                       "No warnings, hints, summaries or progress on standard error, only errors")}};
  for (const Subcommand& subcommand : subcommands) {
    if (only.empty() || only == subcommand.name) {
      CommandModel& command = root.subcommands.emplace_back(subcommand.describe());
      command.name = subcommand.name;
      command.summary = subcommand.summary;
      command.group = subcommand.group;
    }
  }
  return root;
}

Result<Action> parse(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help") { // help recommend: recommend --help
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (!arguments.empty() && arguments.front() == "__complete") {
    arguments.erase(arguments.begin());
    return [words = std::move(arguments)] { return write_text("-", complete(command_line(), words)); };
  }
  TIDEGATE_TRY(const auto named, named_subcommand(arguments));
  if (ranks::launched().rank != 0 && named != "run" && named != "devices") {
    return [] { return ExitCode::done; }; // rank 0 answers
  }
  const CommandModel root = command_line(named);
  CLI::App parser(root.summary, root.name);
  parser.get_formatter()->column_width(left_column);
  parser.footer(
      "`tidegate COMMAND --help` describes a command; these options may follow any command. TIDEGATE_DEVICE names the device of\n"
      "run, XDG_CACHE_HOME the folder of what is kept, NO_COLOR and CLICOLOR_FORCE decide on colour.");
  add_command(parser, root);
  try {
    // CLI11 takes the arguments last to first.
    parser.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    parser.exit(help_or_version, text, text);
    return [text = text.str()] { return write_text("-", text); };
  } catch (const CLI::ParseError& refusal) {
    return tl::unexpected(usage_error(parser, root, refusal));
  }
  return innermost(parser, root).command->run;
}

Error uncaught_error(const std::exception& exception, std::string fix_of_bug) {
  const auto no_memory = [](const std::string& what, std::string fix) {
    return Error{.code = ErrorCode::host_out_of_memory,
                 .message = "the host has no memory left" + what,
                 .fix = std::move(fix)};
  };
  const std::string more = "give the process more memory, or the program smaller buffers";
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) {
    return no_memory("", more);
  }
  if (dynamic_cast<const std::length_error*>(&exception) != nullptr) { // more than any host has
    return no_memory(fmt::format(": {}", exception.what()), more);
  }
  const auto* const system = dynamic_cast<const std::system_error*>(&exception);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
    return no_memory(" for another thread", "give the process more memory, or allow it more threads");
  }
  return {.code = ErrorCode::internal_error, .message = exception.what(), .fix = std::move(fix_of_bug)};
}

ExitCode run_tidegate(const std::vector<std::string>& arguments) {
  reporting = {.json = wants_json_errors(arguments), .command = arguments};
  reporting.command.insert(reporting.command.begin(), "tidegate");
  fill_catalogue();
  Error error;
  try {
    auto result =
        parse(arguments)
            .map_error([](Error usage) {
              return !ranks::launched().several() ? usage : after_first_rank(std::move(usage), without_mpi);
            })
            .and_then([&](const Action& action) { return action(); });
    if (result) {
      return *result;
    }
    error = std::move(result.error());
    if (InterruptWatch::interrupted() &&
        error.code != ErrorCode::interrupted) { // compilers in drivers remove their files then, and fail
      error = interrupt_error();
    }
  } catch (const std::exception& exception) {
    error = uncaught_error(exception, "this is a bug in tidegate: please report the command and its input");
  }
  if (InterruptWatch::interrupted() && ranks::launched().several()) { // mpirun says why
    return ExitCode::interrupted;
  }
  const InterruptWatch interrupts;
  device::CapturedErrors::end(); // a build in the background may still capture standard error
  print_error(error);
  return exit_code(error);
}

// Kinds of options.

namespace {

// Names of files that end so are of these formats, whatever wrote them. All others may hold anything.
constexpr std::array<std::string_view, 13> telling_endings{"json", "html", "htm", "svg",  "dot", "pdf", "png",
                                                           "jpg",  "jpeg", "gif", "webp", "ps",  "eps"};

std::string in_case(std::string text, int (*change)(int)) {
  std::ranges::transform(text, text.begin(), [change](unsigned char c) { return change(c); });
  return text;
}

} // namespace

std::vector<std::string> words_in(std::string_view list, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(separator, begin), list.size());
    words.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Result<std::uint64_t> read_count(const std::string& text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end || count < least || count > most) {
    return tl::unexpected(
        Error{.message = fmt::format("{} is not a whole number from {} to {}", in_quotes(text), least,
                                     most == ~std::uint64_t{0} ? "2^64 - 1" : std::to_string(most))});
  }
  return count;
}

OptionModel written_file_option(std::string_view names, std::string& target, std::vector<std::string> endings,
                                std::string meaning) {
  const auto read = [endings = std::move(endings)](const std::string& file) -> Result<std::string> {
    const std::string dotted = std::filesystem::path(file).extension().string();
    const std::string ending = in_case(dotted.substr(dotted.empty() ? 0 : 1), std::tolower);
    if (std::ranges::find(telling_endings, ending) == telling_endings.end() ||
        std::ranges::find(endings, ending) != endings.end()) {
      return file;
    }
    return tl::unexpected(
        Error{.message = fmt::format("cannot write {}; use a name ending in .{}",
                                     in_case(ending, std::toupper), fmt::join(endings, " or ."))});
  };
  OptionModel model = option(names, "FILE", target, read, std::move(meaning));
  model.takes_file = true;
  return model;
}

OptionModel number_option(std::string_view names, std::optional<std::uint32_t>& target, std::uint32_t least,
                          std::uint32_t most, std::string meaning) {
  const auto read = [least, most](const std::string& text) {
    return read_count(text, 0, most).map([least](std::uint64_t given) {
      return given < least ? std::nullopt : std::optional(static_cast<std::uint32_t>(given));
    });
  };
  return option(names, "N", target, read, std::move(meaning), least == 0 ? "" : "0");
}

OptionModel path_scope_option(PathScope& scope) {
  const auto read = [](const std::string&) -> Result<PathScope> { return PathScope::anywhere; };
  return option("--allow-outside", "", scope, read,
                "Let the paths of a program, and of #include, leave its folder");
}

OptionModel flag(std::string_view names, bool& given, std::string meaning) {
  const auto read = [](const std::string&) -> Result<bool> { return true; };
  return option(names, "", given, read, std::move(meaning));
}

Error unknown_word(std::string_view word, std::span<const std::string_view> known) {
  Error error{.message = fmt::format("{} is not one of {}", in_quotes(word), one_of(known))};
  error.nearest = nearest_name(word, known);
  return error;
}

OptionModel settings_option(std::vector<OptionModel> settings, std::string meaning) {
  const auto take = [settings](const std::string& text) -> Result<void> {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string key = text.substr(0, equals);
    std::vector<std::string_view> known;
    for (const OptionModel& setting : settings) {
      known.push_back(setting.names.front());
      if (key == known.back()) {
        return equals == text.size()
                   ? tl::unexpected(Error{.message = fmt::format("{} has no value", in_quotes(key)),
                                          .fix = fmt::format("give --set {}={}", key, setting.value)})
                   : setting.take(text.substr(equals + 1)).map_error([&key](Error error) {
                       error.message = key + ": " + error.message;
                       return error;
                     });
      }
    }
    Error error{.message = fmt::format("there is no setting {}", in_quotes(key)),
                .fix = "`tidegate schema run_settings` lists the settings"};
    error.nearest = nearest_name(key, known);
    return tl::unexpected(std::move(error));
  };
  return {.names = {"--set"},
          .value = "KEY=VALUE",
          .repeats = true,
          .meaning = std::move(meaning),
          .settings = std::move(settings),
          .take = take};
}

OptionModel parameter_option(std::vector<documents::Parameter>& parameters) {
  const auto take = [&parameters](const std::string& text) -> Result<void> {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return tl::unexpected(Error{.message = fmt::format("{} has no value", in_quotes(text)),
                                  .fix = fmt::format("give --param {}=1024", text)});
    }
    TIDEGATE_TRY(const Number value, documents::read_number(text.substr(equals + 1)));
    parameters.insert(parameters.begin(), {text.substr(0, equals), value}); // the first of a name is taken
    return {};
  };
  return {.names = {"--param"},
          .value = "NAME=VALUE",
          .repeats = true,
          .meaning = "Set a parameter of the program",
          .take = take};
}

OptionModel positional(std::string value, OptionModel option) {
  option.names.clear();
  option.value = std::move(value);
  return option;
}

OptionModel format_option(std::string_view& format, std::span<const std::string_view> names,
                          std::string meaning) {
  Words<std::string_view> words;
  std::ranges::transform(names, std::back_inserter(words), [](auto name) { return std::pair(name, name); });
  return choice_option("--format", format, words, std::move(meaning));
}

OptionModel output_option(std::string& output, std::vector<std::string> endings) {
  return written_file_option("-o,--output", output, std::move(endings),
                             "Write to a file, which appears complete or not at all");
}

std::string_view picture_format(std::string_view format, const std::string& output) {
  return !format.empty() ? format : output.ends_with(".svg") ? "svg" : "json";
}

OptionModel stream_option(bool& stream) {
  return flag("--stream", stream, "Read newline-delimited JSON, write one line per line, in order");
}

OptionModel input_positional(std::string& input, const std::string& document) {
  return positional("[FILE]", file_option("", input, document + " to read; - or none is standard input"));
}

std::vector<std::string> document_kinds() {
  std::vector<std::string> kinds;
  for (const auto& [document, command] : documents::catalogue()) {
    kinds.emplace_back(document->kind);
  }
  return kinds;
}

} // namespace tidegate::app
