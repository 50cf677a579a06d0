#include "device/isolation.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <regex>

namespace tidegate::device {
namespace {

bool in_order = false;              // main() has ended
std::vector<BrokenDriver> left_out; // of this process and its children
std::vector<CrashedTest> failed_tests;

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

// The memory file that collects standard error.
int captured_errors() {
  static const int file = ::memfd_create("tidegate", MFD_CLOEXEC);
  return file;
}

// Takes what the file holds. After a call before a fork, the parent can take what a crashed child left there.
std::string take_captured_errors() {
  const int captured = captured_errors();
  struct stat status {};
  std::string text(::fstat(captured, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::pread(captured, text.data(), text.size(), 0), 0)));
  (void)::ftruncate(captured, 0);
  ::lseek(captured, 0, SEEK_SET);
  return text;
}

constexpr std::string_view fix_full_folder =
    "make room where it writes: in POCL_CACHE_DIR, XDG_CACHE_HOME, TMPDIR";

// Returns the first folder to which compilers write that has less than 1 MiB free, with its free space.
std::optional<std::string> full_folder() {
  constexpr std::uintmax_t little = std::uintmax_t{1} << 20U;
  std::error_code unknown;
  std::vector<std::filesystem::path> folders{std::filesystem::temp_directory_path(unknown), cache_folder()};
  for (const char* const name : {"POCL_CACHE_DIR", "CUDA_CACHE_PATH"}) {
    if (const char* const given = std::getenv(name); given != nullptr) {
      folders.emplace_back(given);
    }
  }
  for (std::filesystem::path folder : folders) {
    while (!folder.empty() && !std::filesystem::exists(folder, unknown) && folder.has_relative_path()) {
      folder = folder.parent_path();
    }
    const auto space = std::filesystem::space(folder, unknown);
    if (!unknown && space.available < little) {
      return fmt::format("{} has {} left", folder.string(), bytes_text(space.available));
    }
  }
  return {};
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

// Makes a folder of the drivers that can be listed, in place of the one in which the loader looks for them: adds one after
// the other, and lists the devices in a process of its own each time. A driver that ends it is left out, for all further
// processes. Returns false if that helps nothing: none ends it, or no other has a device.
bool leave_out_crashing_drivers(std::filesystem::path& folder) {
  constexpr int no_device = 2;
  std::error_code ignored;
  std::string name = (std::filesystem::temp_directory_path(ignored) / "tidegate-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return false;
  }
  const std::vector<std::filesystem::path> drivers = driver_files(); // of the loader's folder
  folder = name;
  bool devices = false;
  for (const std::filesystem::path& driver : drivers) {
    const std::filesystem::path copy = folder / driver.filename();
    if (!std::filesystem::copy_file(driver, copy, ignored)) {
      continue;
    }
    ::setenv("OCL_ICD_VENDORS", (folder / "").c_str(), 1); // loaders want the slash
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      (void)std::freopen("/dev/null", "w", stderr); // the crash was printed before
      const auto list = list_devices();
      ::_exit(list && !list->devices.empty() ? 0 : no_device);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == no_device)) {
      left_out.push_back({driver.string(), fmt::format("it crashes when it is loaded ({})", end_of(status))});
      std::filesystem::remove(copy, ignored);
    } else {
      devices |= status == 0;
    }
  }
  if (!devices) {
    left_out.clear();
  }
  return !left_out.empty();
}

} // namespace

Result<std::uint32_t> isolate_drivers(bool can_begin_again) {
  constexpr std::uint32_t most_crashes = 2;
  ::signal(SIGCHLD, SIG_DFL);   // a parent may have left it ignored, and then the end of a child is lost
  (void)take_captured_errors(); // shares the file with children
  WorkNotes& notes = work_notes();
  notes.begins_again = can_begin_again;
  std::filesystem::path folder; // of the drivers that can be listed, once one cannot
  const pid_t parent = ::getpid();
  sigset_t waited_for, before;
  ::sigemptyset(&waited_for);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&waited_for, number);
  }
  ::pthread_sigmask(SIG_BLOCK, &waited_for, &before);
  for (std::uint32_t crashes = 0;;) {
    const pid_t child = ::fork();
    if (child < 0) {
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      return crashes; // then without the protection
    }
    if (child == 0) {
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      // A signal that ends the parent ends the work.
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (::getppid() != parent) {
        ::_exit(static_cast<int>(ExitCode::interrupted));
      }
      std::atexit([] { work_notes().exited = !in_order; });
      keep_threads_on_cores();
      return crashes;
    }
    // The child ends in order, with its report. A terminal signals both processes: the child takes two signals within half a
    // second for one (core/interrupt.hpp).
    int status = 0;
    for (int number = 0; ::waitpid(child, &status, WNOHANG) == 0;) {
      if (::sigwait(&waited_for, &number) == 0 && number != SIGCHLD) {
        ::kill(child, number);
      }
    }
    if (WIFEXITED(status) && notes.goes_on.exchange(false)) {
      continue;
    }
    const bool ended = WIFEXITED(status) && !notes.exited.exchange(false);
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool over = ended || is_interrupt(number);
    const std::uint32_t tested = notes.testing.exchange(WorkNotes::none);
    bool again = false;
    if (!over && notes.listing.exchange(false) && folder.empty()) {
      again = leave_out_crashing_drivers(folder);
    } else if (!over && tested != WorkNotes::none) {
      failed_tests.push_back({tested, end_of(status)});
      again = true;
    } else if (!over && notes.trying.exchange(false) && number != SIGKILL && crashes != most_crashes) {
      ++crashes;
      again = true;
    }
    if (again) {
      (void)take_captured_errors();
      continue;
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (ended) {
      ::_exit(WEXITSTATUS(status));
    }
    if (over) {
      end_interrupted();
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return tl::unexpected(crash(status));
  }
}

// Output of drivers.

namespace {

// A standard stream that goes elsewhere while there are users, of any thread.
struct Redirection {
  int stream;
  int real = -1; // where the stream goes otherwise
  int users = 0;

  void begin(int to) {
    const std::scoped_lock lock(redirecting);
    constexpr int past_the_standard_streams = 3;
    if (users++ == 0 && to >= 0) {
      real = ::fcntl(stream, F_DUPFD_CLOEXEC, past_the_standard_streams);
      if (real >= 0) {
        ::dup2(to, stream);
      }
    }
  }
  void end(bool with_all_users = false) {
    const std::scoped_lock lock(redirecting);
    users -= with_all_users ? 0 : 1;
    if (real >= 0 && (users == 0 || with_all_users)) {
      ::dup2(real, stream);
      ::close(std::exchange(real, -1));
    }
  }

  std::mutex redirecting{};
};
Redirection redirected_output{.stream = STDOUT_FILENO};
Redirection redirected_errors{.stream = STDERR_FILENO};

} // namespace

PrintsToStandardError::PrintsToStandardError() {
  std::fflush(stdout);
  redirected_output.begin(STDERR_FILENO);
}

PrintsToStandardError::~PrintsToStandardError() {
  std::fflush(stdout); // drivers print through it
  redirected_output.end();
}

void PrintsToStandardError::end() {
  redirected_output.end(true);
}

CapturedErrors::CapturedErrors() {
  std::fflush(stderr);
  redirected_errors.begin(captured_errors());
}

std::string CapturedErrors::take() {
  std::fflush(stderr);
  return take_captured_errors();
}

CapturedErrors::~CapturedErrors() {
  const std::string not_taken = take();
  redirected_errors.end();
  (void)std::fwrite(not_taken.data(), 1, not_taken.size(), stderr);
}

void CapturedErrors::end() {
  redirected_errors.end(true);
}

namespace {

// Returns the first error of a log that has a location. All drivers follow clang's format:
//
//   ops.cl:2:27: error: use of undeclared identifier 'foo'                 clang itself, NVIDIA's, Mesa's
//   error: ops.cl:2:27: use of undeclared identifier 'foo'                 PoCL's
//   error: ops.cl:2:27 <Spelling=ops.h:1:19>: use of undeclared …          within a macro
std::optional<Error> first_error(std::string_view log) {
  // The place and the word, or by PoCL the word and the place, then the message. Some compilers only warn about a call of an
  // undeclared function; the linker's error later has no line.
  static const std::array<std::array<std::regex, 2>, 2> forms{
      {{std::regex(R"(^(.+?):(\d{1,18}):(\d{1,18}): (?:fatal )?error: (.*))"),
        std::regex(R"(error: (.+?):(\d{1,18}):(\d{1,18})(?: <Spelling=[^>]*>)?: (.*))")},
       {std::regex(R"(^(.+?):(\d{1,18}):(\d{1,18}): warning: (implicit declaration of function .*))"),
        std::regex(R"(warning: (.+?):(\d{1,18}):(\d{1,18}): (implicit declaration of function .*))")}}};
  constexpr std::size_t longest = 4096; // the library's expressions recurse
  for (const auto& [place_first, word_first] : forms) {
    for (const std::string_view line : lines_of(log)) {
      const auto found = [line](std::cmatch& parts, const std::regex& form) {
        return line.size() <= longest && std::regex_search(line.begin(), line.end(), parts, form);
      };
      if (std::cmatch parts; found(parts, place_first) || found(parts, word_first)) {
        return Error{.code = ErrorCode::build_failure,
                     .message = parts[4],
                     .source = parts[1],
                     .line = std::stoull(parts[2]),
                     .column = std::stoull(parts[3])};
      }
    }
  }
  return {};
}

// Translates a location through the #line directives of `text`: NVIDIA's compiler calls every file "<kernel>"
// and counts lines of the whole text.
void follow_line_directives(std::string_view text, Error& error) {
  constexpr std::string_view directive = "#line ";
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::size_t at = std::min<std::size_t>(lines.size(), *error.line - 1); at-- > 0;) {
    const std::size_t quote = lines[at].find('"');
    if (lines[at].starts_with(directive) && quote != std::string_view::npos) {
      std::uint64_t next = 0; // number of the line after the directive
      std::from_chars(lines[at].data() + directive.size(), lines[at].data() + quote, next);
      error.source = lines[at].substr(quote + 1, lines[at].rfind('"') - quote - 1);
      error.line = next + (*error.line - at - 2);
      return;
    }
  }
}

} // namespace

Error build_error(std::string_view text, std::string log) {
  Error error{.code = ErrorCode::build_failure};
  if (auto found = first_error(log)) {
    error = *std::move(found);
    if (error.source->starts_with('<')) {
      follow_line_directives(text, error);
    }
    error.fix = error.source->starts_with("tidegate/") ? fix_of_own_kernels : "correct the kernel";
  } else if (const auto full = full_folder()) {
    error.code = ErrorCode::opencl_failure;
    error.message = fmt::format("the compiler of the device failed, and {}", *full);
    error.fix = fix_full_folder;
  }
  if (!log.empty()) {
    error.log = std::move(log);
  }
  return error;
}

} // namespace tidegate::device
