// The command line: which subcommands there are, and what one needs to describe itself.
#pragma once

#include <tidegate/commands/serve.hpp>
#include <tidegate/core/error.hpp>

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidegate::app {

// What a parsed command line asks for.
struct Invocation {
  bool errors_as_json = false;
  std::function<Result<ExitCode>()> run;
};

// A subcommand: `define` adds its options to an empty CLI11 command and, when parsed, sets Invocation::run.
struct Subcommand {
  std::string_view name;
  std::string_view summary; // one line
  void (*define)(CLI::App& command, Invocation& invocation);
};

// In the order of the help text.
std::span<const Subcommand> subcommands();

// One function per file of this folder.
void define_recommend(CLI::App& command, Invocation& invocation);
void define_plan(CLI::App& command, Invocation& invocation);
void define_arena(CLI::App& command, Invocation& invocation);
void define_run(CLI::App& command, Invocation& invocation);
void define_priority(CLI::App& command, Invocation& invocation);
void define_tune(CLI::App& command, Invocation& invocation);
void define_devices(CLI::App& command, Invocation& invocation);
void define_check(CLI::App& command, Invocation& invocation);
void define_schema(CLI::App& command, Invocation& invocation);
void define_completion(CLI::App& command, Invocation& invocation);
void define_version(CLI::App& command, Invocation& invocation);

// The command line with the subcommand called `only`, or with all of them when that is empty: defining one
// costs more than a recommendation, and a process runs one.
std::unique_ptr<CLI::App> make_command_line(Invocation& invocation, std::string_view only);

// The subcommand that the arguments name: their first word that is no option, or an empty string when there
// is none. unknown_command when there is no such command, invalid_usage for an option with nothing behind its
// "=", which CLI11 would fill with the next word.
Result<std::string> named_subcommand(const std::vector<std::string>& arguments);

// What is wrong with a command line that CLI11 refused, with the nearest command or option.
Error usage_error(const CLI::App& command_line, const CLI::ParseError& refusal);

enum class Format : std::uint8_t { json, table };

// What the help text shows behind the name of a positional: nothing, where CLI11 would repeat its type.
inline constexpr const char* positional_text = " ";

// Options that several commands share; each returns the option for further settings.
CLI::Option* add_input(CLI::App& command, std::string& input, const std::string& document);
CLI::Option* add_output(CLI::App& command, std::string& output);
CLI::Option* add_stream(CLI::App& command, bool& stream);
CLI::Option* add_format(CLI::App& command, Format& format);

// An option that takes one of a few names; the names are its value in help texts and completions.
CLI::Option* add_choice(CLI::App& command, const std::string& option, std::string& value,
                        std::span<const std::string_view> names, const std::string& meaning);

// An option that takes a number of bytes, also as 64MiB or 1.5GB.
CLI::Option* add_bytes(CLI::App& command, const std::string& option, std::optional<std::uint64_t>& value,
                       const std::string& meaning);

// An option that takes a whole number: CLI11 would read -1 as 2^64 - 1.
CLI::Option* add_count(CLI::App& command, const std::string& option, std::uint64_t& value,
                       const std::string& meaning);

// A table or a picture is one answer, not a stream: invalid_usage.
Result<void> refuse_stream(bool stream, std::string_view format);

// A subcommand of a subcommand that turns one document into another: FILE, -o and --stream.
void add_document_command(CLI::App& parent, Invocation& invocation, const std::string& name,
                          const std::string& summary, const std::string& document,
                          const commands::Answer& answer);

} // namespace tidegate::app
