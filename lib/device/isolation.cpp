#include "device/isolation.hpp"

#include "core/interrupt.hpp"
#include "device/driver_output.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

namespace tidegate::device {
namespace {

volatile std::sig_atomic_t isolated_child = 0;

// The child ends in order, with its report; this process waits for it. A terminal signals both: the child
// takes two signals within half a second for one (core/interrupt.hpp).
void pass_on(int number) {
  ::kill(isolated_child, number);
}

// Each thread of PoCL stays on a core: on a scheduler that had two share one core while another was idle, launches took
// up to 1.6 times as long and waits between work-groups milliseconds. Not if the user has restricted the cores.
void keep_threads_on_cores() {
  cpu_set_t allowed;
  const bool all = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
                   CPU_COUNT(&allowed) == ::sysconf(_SC_NPROCESSORS_CONF);
  if (all) {
    ::setenv("POCL_AFFINITY", "1", 0);
  }
}

} // namespace

SharedFlag::SharedFlag() {
  void* const memory =
      ::mmap(nullptr, sizeof *flag_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    flag_ = new (memory) std::atomic<bool>(false);
  }
}

SharedFlag::~SharedFlag() {
  if (flag_ != nullptr) {
    ::munmap(flag_, sizeof *flag_);
  }
}

void SharedFlag::set(bool value) {
  if (flag_ != nullptr) {
    flag_->store(value);
  }
}

bool SharedFlag::is_set() const {
  return flag_ != nullptr && flag_->load();
}

static Error crash(int signal, bool kernels_ran) {
  const char* const name = ::strsignal(signal);
  Error error{
      .code = ErrorCode::driver_crash,
      .message = fmt::format("an OpenCL driver has crashed ({})", name != nullptr ? name : "unknown signal"),
      .fix = "see what it says above; OCL_ICD_VENDORS names a folder with the drivers to use instead of all"};
  rlimit memory{};
  if (signal == SIGKILL) {
    error.message = "the process in which OpenCL drivers work was ended from outside (Killed)";
    error.fix =
        "this is what the system does when memory runs out: free memory, or raise the container's limit";
  } else if (signal == SIGABRT && ::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
    error.fix = fmt::format("it may have run out of memory: ulimit -v leaves it {}; otherwise {}",
                            bytes_text(memory.rlim_cur), error.fix);
  } else if (kernels_ran) {
    error.fix =
        "a kernel may have written past the end of a buffer: --check-bounds reports it, with Oclgrind "
        "installed also of what crashes the driver; otherwise " +
        error.fix;
  }
  return error;
}

Result<std::uint32_t> isolate_drivers(const SharedFlag* kernels_ran, SharedFlag* trying) {
  constexpr std::uint32_t most_crashes = 2;
  constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP};
  ::signal(SIGCHLD, SIG_DFL); // a parent may have left it ignored, and then the end of a child is lost
  share_captured_errors();
  const pid_t parent = ::getpid();
  std::array<struct sigaction, passed_on.size()> before{};
  for (std::size_t i = 0; i < passed_on.size(); ++i) {
    ::sigaction(passed_on[i], nullptr, &before[i]);
  }
  for (std::uint32_t crashes = 0;; ++crashes) {
    std::optional<InterruptsBlocked> blocked(
        std::in_place); // until both processes know what to do with signals
    const pid_t child = ::fork();
    if (child < 0) {
      return crashes; // then without the protection
    }
    if (child == 0) {
      for (std::size_t i = 0; i < passed_on.size(); ++i) {
        ::sigaction(passed_on[i], &before[i], nullptr);
      }
      // A signal that ends the parent ends the work.
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) {
        ::_exit(static_cast<int>(ExitCode::interrupted));
      }
      keep_threads_on_cores();
      return crashes;
    }
    isolated_child = child;
    for (std::size_t i = 0; i < passed_on.size(); ++i) {
      if (before[i].sa_handler != SIG_IGN) {
        struct sigaction action {};
        action.sa_handler = pass_on;
        ::sigaction(passed_on[i], &action, nullptr);
      }
    }
    blocked.reset();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFSIGNALED(status)) {
      ::_exit(WEXITSTATUS(status));
    }
    const int number = WTERMSIG(status);
    if (is_interrupt(number)) {
      end_interrupted();
    }
    if (trying == nullptr || !trying->is_set() || number == SIGKILL || crashes == most_crashes) {
      tell_captured_errors();
      return tl::unexpected(crash(number, kernels_ran != nullptr && kernels_ran->is_set()));
    }
    trying->set(false);
    forget_captured_errors();
  }
}

} // namespace tidegate::device
