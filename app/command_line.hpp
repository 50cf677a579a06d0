// The command line: its subcommands, and a parser made from their descriptions. CLI11 is included only by its
// source, since it takes longer to compile than all the rest of the folder.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::app {

// The command line as plain data: the parser, completion, help texts and the manual page are all made from
// it.

struct OptionModel {
  std::vector<std::string> names; // "-o", "--output"; empty for a positional
  std::string value;              // "FILE"; empty for a flag; of a positional "[FILE]" if it may be left out
  bool repeats = false;           // it may be given several times
  std::vector<std::string> choices; // the names that the value may have, or some of them, for shells to offer
  bool takes_file = false;
  std::vector<std::string> endings; // of the files that shells offer; empty: all
  std::string meaning;              // one line
  std::string needs;                // the option without which this one means nothing
  std::vector<OptionModel>
      settings; // the keys of KEY=VALUE; each is an option --KEY, too, which help does not list
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
  std::vector<OptionModel> positionals;
  std::vector<CommandModel> subcommands;
  std::vector<CommandExample> examples;
  std::function<Result<ExitCode>()> run; // runs after the options were taken; empty with subcommands
};

// Completes the last of the words. Returns a candidate on each line, with a tab and its meaning where it has
// one, and ":files" with endings where file names may follow too.
std::string complete(const CommandModel& root, std::vector<std::string> words);

// Returns the last section of the manual page, as roff.
std::string manual_commands(const CommandModel& root);

// Each returns a subcommand's options and action, without its name. Each call makes separate settings, which
// `take` fills and `run` reads.
CommandModel recommend_command();
CommandModel plan_command();
CommandModel arena_command();
CommandModel init_command();
CommandModel run_command();
CommandModel export_command();
CommandModel compare_command();
CommandModel priority_command();
CommandModel tune_command();
CommandModel tune_measure_command(), tune_choose_command(), tune_step_command(); // of tune
CommandModel devices_command();
CommandModel check_command();
CommandModel schema_command();
CommandModel completion_command();
CommandModel version_command();

// Returns the command line with the subcommand called `only`, or with all if that is empty: describing a
// subcommand takes longer than a recommendation, and a process runs one.
CommandModel command_line(std::string_view only = {});

// Parses the arguments into a command with its values, or a help text. Errors name the nearest command or
// option.
using Action = std::function<Result<ExitCode>()>;
Result<Action> parse(std::vector<std::string> arguments);

// Returns true if the arguments request errors as JSON, also for errors in the arguments themselves.
bool wants_json_errors(const std::vector<std::string>& arguments);

// Fills core's catalogue of document types. Call it before documents are read.
void fill_catalogue();

// The size of the allocation that failed, which std::bad_alloc does not say; set by main.cpp's operator new.
inline std::atomic<std::size_t> refused_bytes{0};

// Returns the error for an exception that nothing below the command line catches: the host's memory ran out,
// or there is a bug, with its fix.
Error uncaught_error(const std::exception& exception, std::string fix_of_bug);

// Runs one command line: all that the tool does between the start of its process and its end, with the
// process's standard streams. Prints the error of a command that fails. A process may call it again.
ExitCode run_tidegate(const std::vector<std::string>& arguments);

} // namespace tidegate::app
