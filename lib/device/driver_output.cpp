#include <tidegate/device/driver_output.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace tidegate::device {
namespace {

std::atomic<int> answers{-1}; // the true standard output, while the other one leads to standard error
int memory = -1;              // of what is captured
int errors = -1;              // the true standard error, while the other one leads there

int duplicate(int descriptor) {
  constexpr int past_the_standard_streams = 3;
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, past_the_standard_streams);
}

// All that was captured, which is forgotten then.
std::string take_captured() {
  std::string text;
  if (memory < 0 || ::lseek(memory, 0, SEEK_SET) != 0) {
    return text;
  }
  char block[4096];
  for (ssize_t count = 0; (count = ::read(memory, block, sizeof block)) != 0;) {
    if (count < 0 && errno != EINTR) {
      break;
    }
    text.append(block, count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  (void)::ftruncate(memory, 0);
  ::lseek(memory, 0, SEEK_SET);
  return text;
}

void tell(std::string_view text) {
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
  answers = duplicate(STDOUT_FILENO);
  if (answers >= 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
}

PrintsToStandardError::~PrintsToStandardError() {
  std::fflush(stdout); // drivers print through it
  end();
}

void PrintsToStandardError::end() {
  if (const int descriptor = answers.exchange(-1); descriptor >= 0) {
    ::dup2(descriptor, STDOUT_FILENO);
    ::close(descriptor);
  }
}

void share_captured_errors() {
  if (memory < 0) {
    memory = ::memfd_create("tidegate", MFD_CLOEXEC);
  }
}

void tell_captured_errors() {
  tell(take_captured());
}

CapturedErrors::CapturedErrors() {
  share_captured_errors();
  std::fflush(stderr);
  errors = memory < 0 ? -1 : duplicate(STDERR_FILENO);
  if (errors >= 0) {
    ::dup2(memory, STDERR_FILENO);
  }
}

std::string CapturedErrors::take() {
  std::fflush(stderr);
  return take_captured();
}

CapturedErrors::~CapturedErrors() {
  const std::string untold = take();
  if (errors >= 0) {
    ::dup2(errors, STDERR_FILENO);
    ::close(errors);
    errors = -1;
  }
  tell(untold);
}

} // namespace tidegate::device
