#include "app/serve.hpp"
#include "core/interrupt.hpp"
#include "core/table.hpp"
#include "runtime/documents.hpp"
#include <tidegate/core/describe.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace tidegate::app {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool may_colour(int descriptor) {
  const std::string_view forced = environment("CLICOLOR_FORCE");
  return environment("NO_COLOR").empty() && ((!forced.empty() && forced != "0") || is_terminal(descriptor));
}

// The text of an error or a warning.
std::string error_text(const Error& error) {
  if (reporting.json) {
    return documents::encode(error, documents::Style::compact) + '\n';
  }
  std::string text = describe(error);
  if (may_colour(STDERR_FILENO)) {
    const std::string_view word = error.code == ErrorCode::warning ? "warning:" : "error:";
    if (const std::size_t at = text.find(word); at != std::string::npos) {
      text.replace(at, word.size(), fmt::format("\x1b[1;{}m{}\x1b[0m", word == "error:" ? 31 : 33, word));
    }
  }
  return text + '\n';
}

using namespace std::chrono_literals;

constexpr std::string_view clear_line = "\r\x1b[K";

} // namespace

bool use_colour(const std::string& output) {
  return output == standard_stream && may_colour(STDOUT_FILENO);
}

// Under mpirun a rank writes to a terminal that mpirun made, even where the output goes to a pipe or a file.
bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1 && !ranks::launched().by_launcher && environment("TERM") != "dumb" &&
         !environment("TERM").empty();
}

void hint_at_terminal(const std::string& input) {
  if (!reporting.quiet && input == standard_stream && ::isatty(STDIN_FILENO) == 1 &&
      ::isatty(STDERR_FILENO) == 1) {
    std::fputs("tidegate: reading standard input; Ctrl-D ends it\n", stderr);
  }
}

Error interrupt_error() {
  return {.code = ErrorCode::interrupted,
          .message = "interrupted",
          .fix = "run it again; a file that was not complete is removed"};
}

void explain_interrupts(bool json) {
  reporting.json = json;
  Error error = interrupt_error();
  std::string message = error_text(error);
  error.message = "interrupted again";
  const bool alone =
      !ranks::launched().several(); // mpirun ends all ranks after an error that one of them has reported
  handle_interrupts(alone ? std::move(message) : "", alone ? error_text(error) : "");
}

Error as_error(const Warning& warning, std::optional<std::string> source) {
  return {.code = ErrorCode::warning,
          .message = warning.message,
          .fix = warning.fix,
          .source = std::move(source),
          .pointer = warning.pointer.empty() ? std::nullopt : std::optional(warning.pointer)};
}

void print_findings(const std::vector<Error>& findings) {
  std::size_t errors = 0;
  for (const Error& finding : findings) {
    const bool warning = finding.code == ErrorCode::warning;
    errors += warning ? 0 : 1;
    if (!warning || !reporting.quiet) {
      std::fputs(error_text(finding).c_str(), stderr);
    }
  }
  if (errors == ErrorList::most && !reporting.json) {
    std::fputs("tidegate: there may be more errors: these are reported at once\n", stderr);
  }
}

void print_error(const Error& error) {
  std::vector<Error> all{error};
  all.insert(all.end(), error.others.begin(), error.others.end());
  print_findings(all);
}

std::string progress_text(const runtime::Monitor& monitor, std::chrono::nanoseconds elapsed) {
  if (const auto [said, end] = monitor.said(); !said.empty()) {
    const auto left = std::max<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now(), 0ns);
    return end == runtime::Monitor::Clock::time_point::max()
               ? said
               : fmt::format("{}, at most {:.0f} s", said, std::chrono::duration<double>(left).count());
  }
  const runtime::Activity activity = monitor.activity;
  std::string text(runtime::activity_names[static_cast<std::size_t>(activity)]);
  const std::uint64_t most = monitor.most_iterations;
  if (activity == runtime::Activity::running && most > 1) {
    text += fmt::format(", {} {}", monitor.counted.load(), monitor.iterations.load());
    if (most != runtime::Monitor::unlimited) {
      text += fmt::format(" of {}", most);
    }
  }
  return text + fmt::format(", {:.1f} s", std::chrono::duration<double>(elapsed).count());
}

Progress::Progress(runtime::Monitor& monitor, ProgressStyle style)
    : monitor_(monitor), style_(style), error_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (style_ == ProgressStyle::lines) {
    monitor_.began = [this] {
      if (monitor_.said().first.empty()) { // else too many things begin to report each
        const std::lock_guard lock(mutex_);
        report();
      }
    };
  }
  if (style_ != ProgressStyle::none) {
    thread_ = std::jthread([this] {
      std::unique_lock lock(mutex_);
      const std::chrono::milliseconds pace = style_ == ProgressStyle::line ? 200ms : 1000ms;
      for (auto wait = 1000ms; !changed_.wait_for(lock, wait, [this] { return done_; }); wait = pace) {
        report();
      }
    });
  }
}

Progress::~Progress() {
  finish();
  monitor_.began = {};
}

void Progress::write(std::string_view text) const {
  // A terminal that cannot be written to gets no progress.
  [[maybe_unused]] const ssize_t written = ::write(error_.get(), text.data(), text.size());
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  done_ = true;
  if (std::exchange(line_shown_, false)) {
    write(clear_line);
  }
  changed_.notify_all();
}

void Progress::report() {
  if (!done_) {
    const std::string text =
        "tidegate: " + printable(progress_text(monitor_, std::chrono::steady_clock::now() - start_));
    line_shown_ = style_ == ProgressStyle::line;
    write(line_shown_ ? fmt::format("{}{}", clear_line, text.substr(0, text_width(80, STDERR_FILENO) - 1))
                      : text + "\n");
  }
}

} // namespace tidegate::app
