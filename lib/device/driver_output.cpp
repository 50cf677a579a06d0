#include "device/driver_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace tidegate::device {
namespace {

std::atomic<int> true_output{-1}; // the real standard output while it is redirected to standard error
int captured = -1;                // memory file that collects standard error
int true_errors = -1;             // the real standard error while it is redirected to `captured`

int duplicate(int descriptor) {
  constexpr int past_the_standard_streams = 3;
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, past_the_standard_streams);
}

// Returns and clears the captured text.
std::string take_captured() {
  std::string text;
  if (captured < 0 || ::lseek(captured, 0, SEEK_SET) != 0) {
    return text;
  }
  char block[4096];
  for (ssize_t count = 0; (count = ::read(captured, block, sizeof block)) != 0;) {
    if (count < 0 && errno != EINTR) {
      break;
    }
    text.append(block, count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  (void)::ftruncate(captured, 0);
  ::lseek(captured, 0, SEEK_SET);
  return text;
}

void print_error(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

} // namespace

PrintsToStandardError::PrintsToStandardError() {
  std::fflush(stdout);
  true_output = duplicate(STDOUT_FILENO);
  if (true_output >= 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
}

PrintsToStandardError::~PrintsToStandardError() {
  std::fflush(stdout); // drivers print through it
  end();
}

void PrintsToStandardError::end() {
  if (const int descriptor = true_output.exchange(-1); descriptor >= 0) {
    ::dup2(descriptor, STDOUT_FILENO);
    ::close(descriptor);
  }
}

void share_captured_errors() {
  if (captured < 0) {
    captured = ::memfd_create("tidegate", MFD_CLOEXEC);
  }
}

void tell_captured_errors() {
  print_error(take_captured());
}

CapturedErrors::CapturedErrors() {
  share_captured_errors();
  std::fflush(stderr);
  true_errors = captured < 0 ? -1 : duplicate(STDERR_FILENO);
  if (true_errors >= 0) {
    ::dup2(captured, STDERR_FILENO);
  }
}

std::string CapturedErrors::take() {
  std::fflush(stderr);
  return take_captured();
}

CapturedErrors::~CapturedErrors() {
  const std::string not_taken = take();
  if (true_errors >= 0) {
    ::dup2(true_errors, STDERR_FILENO);
    ::close(true_errors);
    true_errors = -1;
  }
  print_error(not_taken);
}

} // namespace tidegate::device
