#include "device/isolation.hpp"

#include "core/interrupt.hpp"
#include "device/driver_output.hpp"
#include <tidegate/core/text.hpp>

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace tidegate::device {
namespace {

volatile std::sig_atomic_t isolated_child = 0;
bool in_order = false;              // main() has ended
std::vector<BrokenDriver> left_out; // of this process and its children
std::vector<CrashedTest> failed_tests;

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

void WorkNotes::set_checked(const std::string& wave) {
  checked.fill('\0'); // a crash in between leaves a shorter text
  std::ranges::copy_n(wave.begin(), static_cast<std::ptrdiff_t>(std::min(wave.size(), checked.size() - 1)),
                      checked.begin());
}

WorkNotes& work_notes() {
  static WorkNotes alone; // where no memory can be shared
  static WorkNotes* const shared = [] {
    void* const memory =
        ::mmap(nullptr, sizeof(WorkNotes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? &alone : new (memory) WorkNotes;
  }();
  return *shared;
}

const std::vector<BrokenDriver>& crashed_drivers() {
  return left_out;
}

const std::vector<CrashedTest>& crashed_tests() {
  return failed_tests;
}

void go_on_in_another_process(std::chrono::steady_clock::time_point began) {
  WorkNotes& notes = work_notes();
  notes.began_ns = began.time_since_epoch() / std::chrono::nanoseconds(1);
  notes.goes_on = true;
  ::_exit(static_cast<int>(ExitCode::done));
}

void end_in_order() {
  in_order = true;
}

// Names how the child ended: "Aborted", "exit code 1".
static std::string end_of(int status) {
  if (WIFEXITED(status)) {
    return fmt::format("exit code {}", WEXITSTATUS(status));
  }
  const char* const name = ::strsignal(WTERMSIG(status));
  return name != nullptr ? name : "unknown signal";
}

static Error crash(int status) {
  const WorkNotes& notes = work_notes();
  Error error{
      .code = ErrorCode::driver_crash,
      .message = fmt::format("an OpenCL driver has {} ({})",
                             WIFEXITED(status) ? "ended the process" : "crashed", end_of(status)),
      .fix = "see what it prints; OCL_ICD_VENDORS names a folder with the drivers to use instead of all"};
  if (std::string printed = take_captured_errors(); !printed.empty()) {
    error.log = std::move(printed);
  }
  rlimit memory{};
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    error.message = "the process in which OpenCL drivers work was ended from outside (Killed)";
    error.fix =
        "this is what the system does when memory runs out: free memory, or raise the container's limit";
  } else if (notes.checked[0] != '\0') {
    error.code = ErrorCode::out_of_bounds;
    error.message = fmt::format("{} wrote or read far out of bounds: the driver has crashed ({})",
                                notes.checked.data(), end_of(status));
    error.fix =
        "look at the kernel's subscripts, the counts it is given and the sizes of its NDRange; `oclgrind "
        "tidegate run PROGRAM --strategy plain` names the line";
  } else if (const auto full = full_folder()) {
    error.message += fmt::format(", and {}", *full);
    error.fix = fix_full_folder;
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && ::getrlimit(RLIMIT_AS, &memory) == 0 &&
             memory.rlim_cur != RLIM_INFINITY) {
    error.fix = fmt::format("it may have run out of memory: ulimit -v leaves it {}; otherwise {}",
                            bytes_text(memory.rlim_cur), error.fix);
  } else if (notes.kernels_ran) {
    error.fix = "a kernel may have written past the end of a buffer: --check bounds reports it; otherwise " +
                error.fix;
  }
  return error;
}

namespace {

// The drivers that the loader may load, each in a folder of its own first and those that do not crash in another.
class DriverFolders {
public:
  DriverFolders() {
    std::string name = (std::filesystem::temp_directory_path() / "tidegate-XXXXXX").string();
    root_ = ::mkdtemp(name.data()) == nullptr ? std::filesystem::path() : std::filesystem::path(name);
  }
  DriverFolders(const DriverFolders&) = delete;
  DriverFolders& operator=(const DriverFolders&) = delete;
  ~DriverFolders() {
    if (::getpid() == owner_) { // children use them
      std::error_code ignored;
      std::filesystem::remove_all(root_, ignored);
    }
  }

  // Copies a driver's file into a folder of the given name, and returns the folder.
  std::string add(const std::filesystem::path& driver, const std::string& folder) const {
    std::error_code ignored;
    std::filesystem::create_directories(root_ / folder, ignored);
    std::filesystem::copy_file(driver, root_ / folder / driver.filename(), ignored);
    return (root_ / folder / "").string(); // loaders want the slash
  }

private:
  std::filesystem::path root_;
  const pid_t owner_ = ::getpid();
};

void use_drivers_of(const std::string& folder) {
  ::setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
}

// Lists the devices of each driver in a process of its own, and leaves out for all further processes the drivers that end
// it. Returns false if that helps nothing: none ends it, or no other has a device.
bool leave_out_crashing_drivers(const DriverFolders& folders) {
  constexpr int no_device = 2;
  std::string kept;
  bool devices = false;
  for (const std::filesystem::path& driver : driver_files()) {
    const std::string alone = folders.add(driver, fmt::format("driver-{}", driver.stem().string()));
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      (void)std::freopen("/dev/null", "w", stderr); // the crash was printed before
      use_drivers_of(alone);
      const auto list = list_devices();
      ::_exit(list && !list->devices.empty() ? 0 : no_device);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == no_device)) {
      left_out.push_back({driver.string(), fmt::format("it crashes when it is loaded ({})", end_of(status))});
    } else {
      kept = folders.add(driver, "kept");
      devices |= status == 0;
    }
  }
  if (left_out.empty() || !devices) {
    left_out.clear();
    return false;
  }
  use_drivers_of(kept);
  return true;
}

} // namespace

Result<std::uint32_t> isolate_drivers(bool can_begin_again) {
  constexpr std::uint32_t most_crashes = 2;
  constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP};
  ::signal(SIGCHLD, SIG_DFL);   // a parent may have left it ignored, and then the end of a child is lost
  (void)take_captured_errors(); // shares the file with children
  WorkNotes& notes = work_notes();
  notes.begins_again = can_begin_again;
  std::optional<DriverFolders> folders;
  const pid_t parent = ::getpid();
  std::array<struct sigaction, passed_on.size()> before{};
  for (std::size_t i = 0; i < passed_on.size(); ++i) {
    ::sigaction(passed_on[i], nullptr, &before[i]);
  }
  for (std::uint32_t crashes = 0;;) {
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
      std::atexit([] { work_notes().exited = !in_order; });
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
    if (WIFEXITED(status) && notes.goes_on.exchange(false)) {
      continue;
    }
    if (WIFEXITED(status) && !notes.exited) {
      folders.reset();
      ::_exit(WEXITSTATUS(status));
    }
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (is_interrupt(number)) {
      folders.reset();
      end_interrupted();
    }
    notes.exited = false;
    const std::uint32_t tested = notes.testing.exchange(WorkNotes::none);
    if (notes.listing.exchange(false) && !folders) {
      folders.emplace();
      if (leave_out_crashing_drivers(*folders)) {
        (void)take_captured_errors();
        continue;
      }
    } else if (tested != WorkNotes::none) {
      (void)take_captured_errors();
      failed_tests.push_back({tested, end_of(status)});
      continue;
    } else if (notes.trying.exchange(false) && number != SIGKILL && crashes != most_crashes) {
      ++crashes;
      (void)take_captured_errors();
      continue;
    }
    return tl::unexpected(crash(status));
  }
}

} // namespace tidegate::device
