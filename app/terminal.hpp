// Standard error and terminals: colour, errors, warnings, interrupts and progress.
#pragma once
#include "device/monitor.hpp"
#include "engine/job.hpp"

namespace tidegate::app {

// Returns true if text on this file descriptor may have colour; honours NO_COLOR, CLICOLOR_FORCE and TERM=dumb.
bool use_colour(int descriptor);

// Returns the same for text that is written to `output`, a path or - for standard output.
bool use_colour(const std::string& output);

// Returns true if the descriptor is a terminal that can overwrite a line: false for TERM=dumb and under mpirun.
bool is_terminal(int descriptor);

// Prints a hint on standard error if the tool is about to read `input` from a terminal.
void hint_at_terminal(const std::string& input);

// How this process writes to standard error from now on.
struct Reporting {
  bool json = false;  // --errors json: each error or warning is a JSON object on one line
  bool quiet = false; // --quiet: nothing but errors
};
inline Reporting reporting;

// Prints a warning of a program, named by its path, on standard error: as an error of the code `warning`.
void print_warning(const engine::Warning& warning, const std::string& program);

// Returns the error of a command that a signal ended before it had an answer.
Error interrupt_error();

// Handles SIGINT, SIGTERM and SIGHUP from now on (core/interrupt.hpp), and prints an error for them. main()
// calls it once.
void explain_interrupts(bool json);

// Prints an error, and those that came with it, on standard error.
void print_error(const Error& error);

// Prints the errors of a document on standard error; those of the code `warning` not with --quiet.
void print_findings(const std::vector<Error>& findings);

// Progress of a long run, on standard error.

enum class ProgressStyle : std::uint8_t {
  none,
  line,  // on a terminal: one line, rewritten from the first second on and removed at the end
  lines, // one for each activity, and one a second while the waves run or candidates are timed
};

// Returns "running the waves, iteration 12 of 500, 3.2 s", or "first run: timing barrier, 2 of 3, at most 2 s".
std::string progress_text(const engine::Monitor& monitor, std::chrono::nanoseconds elapsed);

// Watches the monitor of a run from a separate thread: writing to a blocked terminal would stall the run's watchdog.
class Progress {
public:
  Progress(engine::Monitor& monitor, ProgressStyle style);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Ends the progress and removes its line. Any thread may call it.
  void finish();

private:
  void watch();
  void write(std::string_view text) const;
  void report(); // under the lock

  engine::Monitor& monitor_;
  ProgressStyle style_;
  int descriptor_; // a copy of standard error: what drivers print to the original is caught while they build
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool line_shown_ = false;
  std::thread thread_;
};

} // namespace tidegate::app
