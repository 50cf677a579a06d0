#include "progress.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace tidegate::app {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 1s; // until somebody who waits wonders
constexpr auto line_pace = 200ms;
constexpr auto lines_pace = 1s;
constexpr std::string_view clear_line = "\r\x1b[K";

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : usual;
}

} // namespace

std::string progress_text(const run::Monitor& monitor, std::chrono::nanoseconds elapsed) {
  const run::Activity activity = monitor.activity;
  std::string text(run::activity_names[static_cast<std::size_t>(activity)]);
  const std::uint64_t most = monitor.most_iterations;
  if (activity == run::Activity::running && most > 1) {
    text += fmt::format(", {} {}", monitor.counted.load(), monitor.iterations.load());
    if (most != run::Monitor::unlimited) {
      text += fmt::format(" of {}", most);
    }
  }
  return text + fmt::format(", {:.1f} s", std::chrono::duration<double>(elapsed).count());
}

Progress::Progress(run::Monitor& monitor, ProgressStyle style, const Text& text)
    : monitor_(monitor), style_(style),
      text_(text ? text
                 : [&monitor](std::chrono::nanoseconds elapsed) { return progress_text(monitor, elapsed); }),
      descriptor_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (style_ == ProgressStyle::lines && !text) { // others begin with too many things to tell each
    monitor_.began = [this] {
      const std::lock_guard lock(mutex_);
      tell();
    };
  }
  if (style_ != ProgressStyle::none) {
    thread_ = std::thread([this] { watch(); });
  }
}

Progress::~Progress() {
  finish();
  monitor_.began = {};
  if (thread_.joinable()) {
    thread_.join();
  }
  ::close(descriptor_);
}

void Progress::write(std::string_view text) const {
  // Whoever cannot be told goes without.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
}

void Progress::finish() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    if (line_stands_) {
      write(clear_line);
      line_stands_ = false;
    }
  }
  changed_.notify_all();
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  const auto pace = style_ == ProgressStyle::line ? std::chrono::milliseconds(line_pace) : lines_pace;
  for (std::chrono::milliseconds wait = patience; !changed_.wait_for(lock, wait, [this] { return done_; });
       wait = pace) {
    tell();
  }
}

void Progress::tell() {
  if (done_) {
    return;
  }
  const std::string text = fmt::format("tidegate: {}", text_(std::chrono::steady_clock::now() - start_));
  line_stands_ = style_ == ProgressStyle::line;
  write(line_stands_ ? fmt::format("{}{}", clear_line, text.substr(0, terminal_width() - 1)) : text + "\n");
}

} // namespace tidegate::app
