// Runs a program with posix_spawn: its input is an anonymous file, its output a pipe.
#include "core/program.hpp"

#include "core/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

namespace tidegate {
namespace {

Error failure(const std::string& program, std::string_view why) {
  return {.code = ErrorCode::program_failed,
          .message = fmt::format("{} {}", program, why),
          .fix = "see what it says on standard error"};
}

// Stores the input in an anonymous file; unlike with pipes, the two programs cannot block each other.
Result<Descriptor> as_file(const std::string& program, std::string_view input) {
  Descriptor file(::memfd_create("tidegate-input", MFD_CLOEXEC));
  while (file.get() >= 0 && !input.empty()) {
    const ssize_t written = ::write(file.get(), input.data(), input.size());
    if (written < 0 && errno != EINTR) {
      return tl::unexpected(failure(program, "got no input: " + system_message(errno)));
    }
    input.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  if (file.get() < 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return tl::unexpected(failure(program, "got no input: " + system_message(errno)));
  }
  return file;
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

} // namespace

Result<std::string> filter(const std::vector<std::string>& command, std::string_view input,
                           const std::string& errors) {
  const std::string& program = command.front();
  ::signal(SIGCHLD, SIG_DFL); // if a parent left it ignored, waitpid() could not return the status
  TIDEGATE_TRY(auto file, as_file(program, input));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(failure(program, "cannot be started: " + system_message(errno)));
  }
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);

  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str())); // posix_spawn does not modify them
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, file.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  if (!errors.empty()) {
    constexpr mode_t read_and_write_for_owner = 0600;
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       read_and_write_for_owner);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults; // this process may ignore SIGPIPE, the child should not
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int refused =
      ::posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (refused == ENOENT) {
    return failure(ErrorCode::missing_program, fmt::format("there is no program {} on PATH", program),
                   "install it");
  }
  if (refused != 0) {
    return tl::unexpected(failure(program, "cannot be started: " + system_message(refused)));
  }
  write_end = Descriptor(-1);
  std::string output = read_to_end(read_end.get());
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited < 0) {
    return tl::unexpected(failure(program, "ended with an unknown status: " + system_message(errno)));
  }
  if (WIFSIGNALED(status)) {
    return tl::unexpected(failure(program, fmt::format("was ended by signal {}", WTERMSIG(status))));
  }
  if (WEXITSTATUS(status) != 0) {
    return tl::unexpected(failure(program, fmt::format("ended with exit code {}", WEXITSTATUS(status))));
  }
  return output;
}

} // namespace tidegate
