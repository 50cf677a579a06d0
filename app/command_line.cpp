#include "command_line.hpp"

#include "terminal.hpp"
#include <tidegate/core/bytes.hpp>
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

namespace tidegate::app {
namespace {

constexpr std::array all_subcommands{
    Subcommand{"recommend", "Recommend how to launch: geometry, topology, mode, hit capacity, memory",
               define_recommend},
    Subcommand{"plan", "Plan a wave DAG: barrier groups under a memory budget, also as a picture",
               define_plan},
    Subcommand{"arena", "Place buffers with lifetimes in one arena", define_arena},
    Subcommand{"run",
               "Run a program of OpenCL kernels as one persistent launch, with proof and measured speed",
               define_run},
    Subcommand{"priority", "Drain requeue counters, diffuse priorities between siblings", define_priority},
    Subcommand{"tune", "Choose from measured costs, take a natural-gradient step", define_tune},
    Subcommand{"devices", "List the OpenCL devices of this machine with their limits", define_devices},
    Subcommand{"check", "Check documents: schema, kind, completeness of evidence, plans against their input",
               define_check},
    Subcommand{"schema", "Print the JSON Schema or the reference of a document type", define_schema},
    Subcommand{"completion", "Print a completion script for a shell", define_completion},
    Subcommand{"version", "Print the versions of the tool and of what it is built on", define_version},
};

constexpr std::array<std::string_view, 2> format_names{"json", "table"};
constexpr std::array<std::string_view, 2> error_format_names{"text", "json"};

// Divides what a check says from the nearest name, on its way through CLI11's exception to usage_error().
constexpr std::string_view nearest_mark = "\n nearest: ";

// Says which names there are and which one was probably meant. CLI11's own check would repeat the names in
// the help text, where the type name lists them already.
CLI::Validator member_of(std::span<const std::string_view> names) {
  return CLI::Validator(
      [names](const std::string& word) -> std::string {
        if (std::ranges::find(names, word) != names.end()) {
          return {};
        }
        const auto nearest = nearest_name(word, names);
        return fmt::format("{} is not one of {}{}", in_quotes(word), one_of(names),
                           nearest ? fmt::format("{}{}", nearest_mark, *nearest) : "");
      },
      "");
}

// The innermost command that was parsed.
const CLI::App& innermost(const CLI::App& command) {
  const auto parsed = command.get_subcommands();
  return parsed.empty() ? command : innermost(*parsed.front());
}

Error with_nearest(Error error, std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  if (const auto nearest = nearest_name(word, names)) {
    error.nearest = *nearest;
    error.fix = fmt::format("did you mean \"{}\"?", *nearest);
  }
  return error;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : command.get_subcommands({})) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

} // namespace

std::span<const Subcommand> subcommands() {
  return all_subcommands;
}

Result<std::string> named_subcommand(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                                  .message = fmt::format("{} has no value", in_quotes(argument)),
                                  .fix = "give a value behind the =, or leave the option out"});
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--errors") {
      ++i; // its value
    } else if (!arguments[i].starts_with('-')) {
      if (std::ranges::find(all_subcommands, arguments[i], &Subcommand::name) != all_subcommands.end()) {
        return arguments[i];
      }
      std::vector<std::string> known(all_subcommands.size());
      std::ranges::transform(all_subcommands, known.begin(),
                             [](const Subcommand& subcommand) { return std::string(subcommand.name); });
      return tl::unexpected(
          with_nearest({.code = ErrorCode::unknown_command,
                        .message = fmt::format("tidegate has no command {}", in_quotes(arguments[i])),
                        .fix = "`tidegate --help` lists the commands"},
                       arguments[i], known));
    }
  }
  return std::string();
}

std::unique_ptr<CLI::App> make_command_line(Invocation& invocation, std::string_view only) {
  auto command_line = std::make_unique<CLI::App>("Plans and runs persistent GPU megakernels.", "tidegate");
  command_line->require_subcommand(1);
  command_line->set_version_flag("--version", "tidegate " TIDEGATE_VERSION);
  command_line->get_formatter()->column_width(34);
  command_line
      ->add_option_function<std::string>(
          "--errors",
          [&invocation](const std::string& format) { invocation.errors_as_json = format == "json"; },
          "Errors on standard error as text or as one JSON object")
      ->check(member_of(error_format_names))
      ->type_name("text|json");
  command_line->footer("`tidegate COMMAND --help` describes a command, `man tidegate` all of them.");
  for (const Subcommand& subcommand : all_subcommands) {
    if (only.empty() || only == subcommand.name) {
      CLI::App* command =
          command_line->add_subcommand(std::string(subcommand.name), std::string(subcommand.summary));
      command->fallthrough(); // --errors may stand behind the command too
      subcommand.define(*command, invocation);
    }
  }
  return command_line;
}

Error usage_error(const CLI::App& command_line, const CLI::ParseError& refusal) {
  const CLI::App& command = innermost(command_line);
  std::string name = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent != nullptr; parent = parent->get_parent()) {
    name = parent->get_name() + " " + name;
  }
  Error error{.code = ErrorCode::invalid_usage,
              .message = refusal.what(),
              .fix = fmt::format("`{} --help` shows the usage", name)};
  if (const std::size_t mark = error.message.find(nearest_mark); mark != std::string::npos) {
    error.nearest = error.message.substr(mark + nearest_mark.size());
    error.fix = fmt::format("did you mean \"{}\"?", *error.nearest);
  }
  error.message = error.message.substr(0, error.message.find('\n'));
  if (dynamic_cast<const CLI::RequiredError*>(&refusal) != nullptr && !subcommand_names(command).empty()) {
    error.message = fmt::format("{} needs a command: {}", name, fmt::join(subcommand_names(command), ", "));
  }

  const std::vector<std::string> unexpected = command_line.remaining(true);
  if (unexpected.empty()) {
    return error;
  }
  const auto option = std::ranges::find_if(
      unexpected, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option != unexpected.end()) {
    const std::string word = option->substr(0, option->find('='));
    error.code = ErrorCode::unknown_option;
    error.message = fmt::format("{} has no option {}", name, in_quotes(word));
    return with_nearest(std::move(error), word, option_names(command));
  }
  const std::vector<std::string> known = subcommand_names(command);
  if (!known.empty()) {
    error.code = ErrorCode::unknown_command;
    error.message = fmt::format("{} has no command {}", name, in_quotes(unexpected.front()));
    return with_nearest(std::move(error), unexpected.front(), known);
  }
  error.message = fmt::format("{} takes no further argument {}", name, in_quotes(unexpected.front()));
  return error;
}

CLI::Option* add_input(CLI::App& command, std::string& input, const std::string& document) {
  return command.add_option("FILE", input, document + " to read; - or none is standard input")
      ->type_name("FILE")
      ->option_text(positional_text);
}

CLI::Option* add_output(CLI::App& command, std::string& output) {
  return command.add_option("-o,--output", output, "Write to a file, which appears complete or not at all")
      ->type_name("FILE");
}

CLI::Option* add_stream(CLI::App& command, bool& stream) {
  return command.add_flag("--stream", stream,
                          "Read newline-delimited JSON, write one line per line, in order");
}

CLI::Option* add_format(CLI::App& command, Format& format) {
  return command
      .add_option_function<std::string>(
          "--format",
          [&format](const std::string& name) { format = name == "table" ? Format::table : Format::json; },
          "JSON for programs (default) or a table for people")
      ->check(member_of(format_names))
      ->type_name("json|table");
}

CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& value,
                        std::span<const std::string_view> names, const std::string& meaning) {
  return command.add_option(option, value, meaning)
      ->check(member_of(names))
      ->type_name(fmt::format("{}", fmt::join(names, "|")));
}

CLI::Option* add_bytes(CLI::App& command, const std::string& option, std::optional<std::uint64_t>& value,
                       const std::string& meaning) {
  return command
      .add_option_function<std::string>(
          option, [&value](const std::string& text) { value = parse_bytes(text).value(); }, meaning)
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto bytes = parse_bytes(text);
            return bytes ? std::string() : fmt::format("{}; {}", bytes.error().message, bytes.error().fix);
          },
          ""))
      ->type_name("BYTES");
}

CLI::Option* add_count(CLI::App& command, const std::string& option, std::uint64_t& value,
                       const std::string& meaning) {
  const auto parsed = [](const std::string& text, std::uint64_t& count) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    return error == std::errc() && stop == end;
  };
  return command
      .add_option_function<std::string>(
          option, [parsed, &value](const std::string& text) { parsed(text, value); }, meaning)
      ->check(CLI::Validator(
          [parsed](const std::string& text) {
            std::uint64_t count = 0;
            return parsed(text, count)
                       ? std::string()
                       : fmt::format("{} is no whole number from 0 to 2^64 - 1", in_quotes(text));
          },
          ""))
      ->type_name("N");
}

Result<void> refuse_stream(bool stream, std::string_view format) {
  if (!stream || format == "json") {
    return {};
  }
  return tl::unexpected(Error{.code = ErrorCode::invalid_usage,
                              .message = fmt::format("--format {} shows one answer, not a stream", format),
                              .fix = "leave --stream or --format out"});
}

void add_document_command(CLI::App& parent, Invocation& invocation, const std::string& name,
                          const std::string& summary, const std::string& document,
                          const commands::Answer& answer) {
  const auto route = std::make_shared<commands::Route>();
  CLI::App* command = parent.add_subcommand(name, summary);
  command->fallthrough();
  add_input(*command, route->input, document);
  add_stream(*command, route->stream);
  add_output(*command, route->output);
  command->callback([&invocation, route, answer] {
    invocation.run = [route, answer] {
      hint_at_terminal(route->input);
      return commands::serve(*route, [&answer] { return answer; });
    };
  });
}

} // namespace tidegate::app
