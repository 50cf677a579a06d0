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
    Subcommand{more, "version", "Print the versions of the tool and its libraries, for bug reports",
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
    Former{"tidegate run", "--report", "--html"},
    Former{"tidegate plan", "--strategy", "--planner"},
    Former{"tidegate tune measure", "--budget", "--time"},
    Former{"tidegate tune measure", "--no-cache", "--cache no"},
    Former{"tidegate tune measure", "--no-keep", "--cache no"},
    Former{"tidegate tune measure", "--profile", "--write-profile"},
    Former{"tidegate tune measure", "--policy", "--write-policy"},
};

constexpr std::size_t widest_help = 100, left_column = 34; // in characters

// A value that was refused, on its way through CLI11, which would take the text alone from a CLI::ValidationError.
struct RefusedValue : CLI::ParseError {
  explicit RefusedValue(tidegate::Error why)
      : CLI::ParseError(why.message, CLI::ExitCodes::ValidationError), refusal(std::move(why)) {}
  tidegate::Error refusal;
};

// Adds an option with a value, or a positional. `option` has to live as long as `command`.
CLI::Option& add_value(CLI::App& command, const OptionModel& option, const std::string& names,
                       const std::string& meaning) {
  CLI::Option& added = *command.add_option(names, meaning);
  added.check([&added, &option](const std::string& value) {
    if (auto taken = option.take(value); !taken) {
      const auto& longs = added.get_lnames();
      taken.error().message = fmt::format(
          "{}: {}", longs.empty() ? added.get_name(true) : "--" + longs.front(), taken.error().message);
      throw RefusedValue(std::move(taken.error()));
    }
    return std::string();
  });
  if (option.repeats) {
    added.take_all()
        ->expected(CLI::detail::expected_max_vector_size)
        ->allow_extra_args(option.value.ends_with("..."));
  }
  return added;
}

void add_option(CLI::App& command, const OptionModel& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ","));
  std::string meaning =
      render_table({{option.meaning}}, std::max(text_width(widest_help), left_column) - left_column);
  meaning.pop_back(); // the end of the line
  if (!option.take) {
    return; // CLI11 adds --help itself
  }
  if (option.value.empty()) {
    command.add_flag_callback(
        names, [&option] { (void)option.take(""); }, meaning);
  } else if (!names.empty()) {
    add_value(command, option, names, meaning).type_name(option.value);
  } else { // FILE of "[KIND] FILE..."
    const std::string_view word = std::string_view(option.value).substr(option.value.rfind(' ') + 1);
    const std::size_t begin = word.find_first_not_of('[');
    add_value(command, option, std::string(word.substr(begin, word.find_first_of("].") - begin)), meaning)
        .required(!option.value.starts_with('['))
        ->option_text(" "); // where it would repeat the type
  }
}

// Adds the options and subcommands of a command. `run` becomes what the command that was named runs.
void add_command(CLI::App& parser, const CommandModel& command, Action& run) {
  for (const auto* const options : {&command.options, &command.positionals}) {
    for (const OptionModel& option : *options) {
      add_option(parser, option);
    }
  }
  for (const OptionModel& setting : command.settings) {
    const std::string& key = setting.names.front();
    add_value(parser, setting, fmt::format("--{},--{}", key, key.substr(key.rfind('.') + 1)), "")
        .group(""); // not in the help
  }
  for (const CommandModel& subcommand : command.subcommands) {
    CLI::App* const added = parser.add_subcommand(subcommand.name, subcommand.summary);
    added->group(subcommand.group.empty() ? "COMMANDS" : subcommand.group);
    added->fallthrough(); // --errors may stand after the command too
    add_command(*added, subcommand, run);
  }
  std::string examples = "Examples:";
  for (const auto& [purpose, line] : command.examples) {
    examples += fmt::format("\n  {}\n      {}", purpose, line);
  }
  if (!command.examples.empty()) {
    parser.footer(examples);
  }
  if (command.run) {
    parser.callback([&command, &run] { run = command.run; });
  }
  parser.require_subcommand(command.subcommands.empty() ? 0 : 1);
}

Error with_nearest(Error error, std::optional<std::string_view> nearest) {
  if (nearest) {
    error.nearest = *nearest;
    error.fix = fmt::format("did you mean \"{}\"?", *nearest);
  }
  return error;
}

// Returns the error of a command line that CLI11 refused.
Error usage_error(const CLI::App& parser, const std::vector<std::string>& arguments,
                  const CLI::ParseError& refusal) {
  const std::vector<std::string> unexpected = parser.remaining(true);
  const auto first = unexpected.empty() ? arguments.end() : std::ranges::find(arguments, unexpected.front());
  const CLI::App* at = nullptr; // the innermost command
  std::string path;
  std::vector<std::string> options; // that may stand there
  for (const CLI::App* next = &parser; next != at;) {
    at = next;
    path += (path.empty() ? "" : " ") + at->get_name();
    for (const CLI::Option* const option : at->get_options()) {
      std::ranges::transform(option->get_lnames(), std::back_inserter(options),
                             [](const std::string& name) { return "--" + name; });
    }
    const auto below = at->get_subcommands();
    next =
        below.empty() || first < std::ranges::find(arguments, below.front()->get_name()) ? at : below.front();
  }
  const std::string fix = fmt::format("`{} --help` shows the usage", path);
  std::vector<std::string_view> commands;
  for (const CLI::App* const command : at->get_subcommands(nullptr)) {
    commands.emplace_back(command->get_name());
  }
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); };
  if (!unexpected.empty() && !commands.empty() && !is_option(unexpected.front())) {
    return with_nearest({.code = ErrorCode::unknown_command,
                         .message = fmt::format("{} has no command {}", path, in_quotes(unexpected.front())),
                         .fix = fix},
                        nearest_name(unexpected.front(), commands));
  }
  if (const auto option = std::ranges::find_if(unexpected, is_option); option != unexpected.end()) {
    const std::string word = option->substr(0, option->find('='));
    const auto* const former = std::ranges::find_if(
        former_spellings, [&](const Former& one) { return one.command == path && one.word == word; });
    const bool is_former = former != former_spellings.end();
    const std::vector<std::string_view> known(options.begin(), options.end());
    return with_nearest({.code = ErrorCode::unknown_option,
                         .message = fmt::format("{} has no option {}", path, in_quotes(word)),
                         .fix = is_former ? fmt::format("give {}", former->now) : fix},
                        is_former ? std::nullopt : nearest_name(word, known));
  }
  Error error{.code = ErrorCode::invalid_usage, .message = refusal.what(), .fix = fix};
  if (!unexpected.empty()) {
    error.message = fmt::format("{} takes no further argument {}", path, in_quotes(unexpected.front()));
  } else if (dynamic_cast<const CLI::RequiredError*>(&refusal) != nullptr && !commands.empty()) {
    error.message = fmt::format("{} needs a command: {}", path, fmt::join(commands, ", "));
  } else if (const auto* const refused = dynamic_cast<const RefusedValue*>(&refusal)) {
    error.message = refused->refusal.message;
    error.fix = refused->refusal.fix.empty() ? error.fix : refused->refusal.fix;
    return with_nearest(std::move(error), refused->refusal.nearest);
  }
  return error;
}

// Names of files that end so are of these formats, whatever wrote them. All others may hold anything.
constexpr std::array<std::string_view, 13> telling_endings{"json", "html", "htm", "svg",  "dot", "pdf", "png",
                                                           "jpg",  "jpeg", "gif", "webp", "ps",  "eps"};

} // namespace

bool wants_json_errors(const std::vector<std::string>& arguments) {
  const auto option = std::ranges::find(arguments, "--errors");
  return std::ranges::find(arguments, "--errors=json") != arguments.end() ||
         (arguments.end() - option > 1 && option[1] == "json");
}

CommandModel command_line(std::span<const std::string> words) {
  CommandModel root{
      .name = "tidegate",
      .summary = "Runs programs of OpenCL kernels, and graph algorithms, as one persistent launch.",
      .options = {
          {.names = {"-h", "--help"}, .meaning = "Print this help message and exit"},
          {.names = {"-V", "--version"}, .meaning = "Display program version information and exit"},
          option("--errors", as_choice<bool>({{"text", false}, {"json", true}}), reporting.json,
                 "Errors and warnings on standard error as text, or each as one JSON object on a line"),
          flag("-q,--quiet", reporting.quiet,
               "No warnings, hints, summaries or progress on standard error, only errors")}};
  for (const Subcommand& subcommand : subcommands) {
    CommandModel& command = root.subcommands.emplace_back();
    if (words.empty() || std::ranges::find(words, subcommand.name) != words.end()) {
      command = subcommand.describe();
    }
    command.name = subcommand.name;
    command.summary = subcommand.summary;
    command.group = subcommand.group;
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
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    const bool joined = word->starts_with("--set=");
    const bool sets = joined || (*word == "--set" && word + 1 != arguments.end());
    if (sets) { // --set KEY=VALUE and --set=KEY=VALUE are --KEY=VALUE
      word = joined ? word : arguments.erase(word);
      word->replace(0, joined ? 6 : 0, "--");
    }
    const std::size_t equals = word->find('=');
    if (word->starts_with("--") && (sets ? equals >= word->size() - 1 : equals == word->size() - 1)) {
      return misuse(fmt::format("{} has no value", in_quotes(*word)), // CLI11 would take the next word
                    "give a value after the =, or leave the option out");
    }
  }
  const CommandModel root = command_line(arguments);
  CLI::App parser(root.summary, root.name);
  parser.get_formatter()->column_width(left_column);
  parser.set_version_flag("-V,--version", "tidegate " TIDEGATE_VERSION);
  parser.footer(
      "`tidegate COMMAND --help` describes a command; these options may follow any command. TIDEGATE_DEVICE names the device of\n"
      "run, XDG_CACHE_HOME the folder of what is kept, NO_COLOR and CLICOLOR_FORCE decide on colour.");
  Action run;
  add_command(parser, root, run);
  try {
    // CLI11 takes the arguments last to first.
    parser.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help_or_version) {
    std::ostringstream text;
    parser.exit(help_or_version, text, text);
    return [text = text.str()] { return write_text("-", text); };
  } catch (const CLI::ParseError& refusal) {
    return tl::unexpected(usage_error(parser, arguments, refusal));
  }
  if (ranks::launched().rank != 0 && parser.get_subcommands().front()->get_name() != "run") {
    return [] { return ExitCode::done; }; // rank 0 answers
  }
  return run;
}

Error uncaught_error(const std::exception& exception, std::string fix_of_bug) {
  const auto* const system = dynamic_cast<const std::system_error*>(&exception);
  const bool no_thread = system != nullptr && system->code() == std::errc::resource_unavailable_try_again;
  const bool too_long = dynamic_cast<const std::length_error*>(&exception) != nullptr; // for any host
  if (no_thread || too_long || dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) {
    const std::string what = no_thread  ? " for another thread"
                             : too_long ? fmt::format(": {}", exception.what())
                                        : "";
    return {.code = ErrorCode::host_out_of_memory,
            .message = "the host has no memory left" + what,
            .fix = fmt::format("give the process more memory, or {}",
                               no_thread ? "allow it more threads" : "the program smaller buffers")};
  }
  return {.code = ErrorCode::internal_error, .message = exception.what(), .fix = std::move(fix_of_bug)};
}

ExitCode run_tidegate(const std::vector<std::string>& arguments) {
  reporting = {.json = wants_json_errors(arguments), .command = arguments};
  reporting.command.insert(reporting.command.begin(), "tidegate");
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

std::vector<std::string> words_in(std::string_view list, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0, end = 0; begin <= list.size(); begin = end + 1) {
    end = std::min(list.find(separator, begin), list.size());
    words.emplace_back(list.substr(begin, end - begin));
  }
  return words;
}

ValueKind<std::string> as_text(std::string value) {
  return {.value = std::move(value),
          .read = [](const std::string& text) -> Result<std::string> { return text; }};
}

ValueKind<std::string> as_file(std::string value) {
  ValueKind<std::string> file = as_text(std::move(value));
  file.takes_file = true;
  return file;
}

ValueKind<std::string> as_written_file(std::vector<std::string> endings) {
  ValueKind<std::string> written = as_file();
  written.read = [endings = std::move(endings)](const std::string& file) -> Result<std::string> {
    const std::string dotted = std::filesystem::path(file).extension().string();
    std::string ending = lower_case(dotted.substr(dotted.empty() ? 0 : 1));
    if (std::ranges::find(telling_endings, ending) == telling_endings.end() ||
        std::ranges::find(endings, ending) != endings.end()) {
      return file;
    }
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::toupper(c); });
    return tl::unexpected(Error{.message = fmt::format("cannot write {}; use a name ending in .{}", ending,
                                                       fmt::join(endings, " or ."))});
  };
  return written;
}

ValueKind<std::uint64_t> as_bytes() {
  return {.value = "BYTES", .read = parse_bytes};
}

ValueKind<std::uint64_t> as_duration(std::uint64_t unit_ns) {
  return {.value = "TIME",
          .read =
              [unit_ns](const std::string& text) {
                return parse_duration(text, unit_ns).map([](std::uint64_t ns) {
                  return ns == 0 ? std::nullopt : std::optional(ns);
                });
              },
          .no_value = "0"};
}

ValueKind<std::string> as_device() {
  ValueKind<std::string> device = as_text("SEL");
  device.choices = {"cpu", "gpu"};
  return device;
}

Result<std::uint64_t> read_count(const std::string& text, std::uint64_t most) {
  const auto count = number_in<std::uint64_t>(text);
  if (!count || *count > most) {
    return tl::unexpected(
        Error{.message = fmt::format("{} is not a whole number from 0 to {}", in_quotes(text),
                                     most == ~std::uint64_t{0} ? "2^64 - 1" : std::to_string(most))});
  }
  return *count;
}

Error unknown_word(std::string_view word, std::span<const std::string_view> known) {
  Error error{.message = fmt::format("{} is not one of {}", in_quotes(word), one_of(known))};
  error.nearest = nearest_name(word, known);
  return error;
}

OptionModel path_scope_option(PathScope& scope) {
  return flag("--allow-outside", scope, "Let the paths of a program, and of #include, leave its folder",
              PathScope::anywhere);
}

OptionModel parameter_option(std::vector<documents::Parameter>& parameters) {
  const auto take = [&parameters](const std::string& text) -> Result<void> {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return tl::unexpected(Error{.message = fmt::format("{} has no value", in_quotes(text)),
                                  .fix = fmt::format("give --param {}=1024", text)});
    }
    const std::string number = text.substr(equals + 1);
    const auto value = documents::evaluate(number, {});
    if (!value) {
      return misuse(fmt::format("{} is not a number", in_quotes(number)), "give one such as 1024 or 0.5");
    }
    parameters.insert(parameters.begin(), {text.substr(0, equals), *value}); // the first of a name is taken
    return {};
  };
  return {.names = {"--param"},
          .value = "NAME=VALUE",
          .repeats = true,
          .meaning = "Set a parameter of the program",
          .take = take};
}

OptionModel format_option(std::string_view& format, std::initializer_list<std::string_view> names,
                          std::string meaning) {
  Words<std::string_view> words;
  std::ranges::transform(names, std::back_inserter(words), [](auto name) { return std::pair(name, name); });
  return option("--format", as_choice(std::move(words)), format, std::move(meaning));
}

OptionModel output_option(std::string& output, std::vector<std::string> endings) {
  return option("-o,--output", as_written_file(std::move(endings)), output,
                "Write to a file, which appears complete or not at all");
}

CommandModel answering(Route& route, const std::string& document, CommandModel command, bool draws_pictures) {
  const std::vector<OptionModel> common{
      draws_pictures ? format_option(route.format, {"json", "table", "svg"},
                                     "JSON (default), a table for people, or a picture; -o x.svg means that")
                     : format_option(route.format, {"json", "table"}, "JSON (default) or a table for people"),
      flag("--stream", route.stream, "Read newline-delimited JSON, write one line per line, in order"),
      draws_pictures ? output_option(route.output, {"json", "svg"}) : output_option(route.output)};
  command.options.insert(command.options.end(), common.begin(), common.end());
  command.positionals = {
      option("", as_file("[FILE]"), route.input, document + " to read; - or none is standard input")};
  return command;
}

std::vector<std::string> document_kinds() {
  std::vector<std::string> kinds;
  for (const auto& [document, command] : catalogue()) {
    kinds.emplace_back(document->kind);
  }
  return kinds;
}

} // namespace tidegate::app
