// Terminals: colour, width, and lines of progress.
#pragma once
#include "device/monitor.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tidegate::app {

// Returns true if text on this file descriptor may have colour; honours NO_COLOR, CLICOLOR_FORCE and TERM=dumb.
bool use_colour(int descriptor);

// The same for text that is written to `output`, a path or - for standard output.
bool use_colour(const std::string& output);

// Returns true if the descriptor is a terminal that can overwrite a line.
bool is_terminal(int descriptor);

// Says on standard error what the tool is waiting for when it is about to read from a person.
void hint_at_terminal(const std::string& input);

// From now on errors and warnings of this process are JSON objects, each on one line (--errors json), or text.
void print_errors_as_json(bool json);
bool errors_are_json();

// Prints a warning of a program, named by its path, on standard error.
void print_warning(const engine::Warning& warning, const std::string& program);

// The command was ended by a signal before it had an answer.
Error interrupt_error();

// From now on SIGINT, SIGTERM and SIGHUP are handled (core/interrupt.hpp), and print an error. Called once, by main().
void explain_interrupts(bool as_json);

// Prints an error and its others on standard error.
void print_error(const Error& error);

// Progress of a long run, on standard error.

enum class ProgressStyle : std::uint8_t {
  none,
  line, // on a terminal: one line that is written again, once the run has taken a second, and goes at its end
  lines, // one for everything that the run begins with, and one a second while the waves run
};

// "running the waves, iteration 12 of 500, 3.2 s".
std::string progress_text(const engine::Monitor& monitor, std::chrono::nanoseconds elapsed);

// Looks at the monitor of a run from a separate thread: the watchdog of a run has no time for terminals
// that do not take text.
class Progress {
public:
  // `text` says what is going on, for so long; left out, it is progress_text().
  using Text = std::function<std::string(std::chrono::nanoseconds elapsed)>;
  Progress(engine::Monitor& monitor, ProgressStyle style, const Text& text = {});
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
  Text text_;
  int descriptor_; // a copy of standard error: what drivers print to the original is caught while they build
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool line_stands_ = false;
  std::thread thread_;
};

} // namespace tidegate::app
