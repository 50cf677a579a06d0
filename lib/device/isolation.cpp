#include "device/isolation.hpp"

#include "core/files.hpp"
#include "core/interrupt.hpp"
#include <tidegate/core/text.hpp>

#include <fcntl.h>
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
class DriverFolders : NotCopied {
public:
  DriverFolders() {
    std::string name = (std::filesystem::temp_directory_path() / "tidegate-XXXXXX").string();
    root_ = ::mkdtemp(name.data()) == nullptr ? std::filesystem::path() : std::filesystem::path(name);
  }
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

// What drivers print.

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

// The memory file that collects standard error.
int captured_errors() {
  static const int file = ::memfd_create("tidegate", MFD_CLOEXEC);
  return file;
}

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

std::string take_captured_errors() {
  const int captured = captured_errors();
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

// Parses "FILE:LINE:COLUMN", optionally followed by " <Spelling=…>".
std::optional<LogError> place(std::string_view text) {
  text = text.substr(0, text.find(" <Spelling="));
  LogError error;
  for (std::uint64_t* const number : {&error.column, &error.line}) {
    const std::size_t colon = text.rfind(':');
    const auto parsed = number_in<std::uint64_t>(text.substr(colon == text.npos ? text.size() : colon + 1));
    if (!parsed || colon == 0) {
      return {};
    }
    *number = *parsed;
    text = text.substr(0, colon);
  }
  error.file = text;
  return error;
}

// Finds `mark` in a line; returns the message after it and its location.
std::optional<LogError> error_in(std::string_view line, std::string_view mark) {
  const std::size_t found = line.find(mark);
  if (found == std::string_view::npos) {
    return {};
  }
  const std::string_view after = line.substr(found + mark.size());
  const std::string_view before =
      line.substr(0, line.substr(0, found).ends_with("fatal ") ? found - 6 : found);
  if (before.ends_with(": ")) {
    auto error = place(before.substr(0, before.size() - 2));
    if (error) {
      error->message = after;
    }
    return error;
  }
  // The message begins after the first ": " that follows a location.
  for (std::size_t colon = after.find(": "); colon != std::string_view::npos;
       colon = after.find(": ", colon + 1)) {
    if (auto error = place(after.substr(0, colon))) {
      error->message = after.substr(colon + 2);
      return error;
    }
  }
  return {};
}

// A shortage of disk or memory, recognized by its words in a compiler's log.
struct Lack {
  std::string_view words; // in lower case
  std::string_view message;
  std::string_view fix;
};
constexpr std::string_view no_disk = "the compiler of the device has no room on the disk for its files";
constexpr std::string_view no_memory = "the compiler of the device has run out of memory";
constexpr std::string_view fix_memory =
    "free memory, or raise the limit: ulimit -v, or that of the container";
constexpr std::array lacks{Lack{"no space left on device", no_disk, fix_full_folder},
                           Lack{"disk quota exceeded", no_disk, fix_full_folder},
                           Lack{"cannot allocate memory", no_memory, fix_memory},
                           Lack{"memory allocation failure", no_memory, fix_memory},
                           Lack{"out of memory", no_memory, fix_memory},
                           Lack{"bad_alloc", no_memory, fix_memory}};

std::optional<Lack> find_lack(std::string_view log) {
  const auto found = std::ranges::find_if(lacks, [text = lower_case(log)](const Lack& lack) {
    return text.find(lack.words) != std::string::npos;
  });
  return found == lacks.end() ? std::nullopt : std::optional(*found);
}

} // namespace

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

std::optional<LogError> first_error(std::string_view log) {
  // Some compilers only warn about a call of an undeclared function; the linker's error later has no line.
  constexpr std::array<std::array<std::string_view, 2>, 2> marks{
      {{"error: ", ""}, {"warning: ", "implicit declaration of function "}}};
  for (const auto& [mark, message] : marks) {
    for (std::string_view rest = log; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      auto error = error_in(rest.substr(0, end), mark);
      if (error && error->message.starts_with(message)) {
        return error;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

std::optional<std::string> unresolved_function(std::string_view log) {
  constexpr std::string_view mark = "Unresolved extern function '";
  const std::size_t found = log.find(mark);
  if (found == std::string_view::npos) {
    return {};
  }
  const std::string_view after = log.substr(found + mark.size());
  return std::string(after.substr(0, after.find('\'')));
}

Error build_error(std::string_view text, std::string log) {
  Error error{.code = ErrorCode::build_failure};
  auto found = first_error(log);
  if (const auto lack = find_lack(found ? found->message : log)) {
    error.code = ErrorCode::opencl_failure;
    error.message = lack->message;
    error.fix = lack->fix;
  } else if (found) {
    if (found->file.starts_with('<')) {
      found = follow_line_directives(text, std::move(*found));
    }
    error.fix = found->file.starts_with("tidegate/") ? fix_of_own_kernels : "correct the kernel";
    error.source = std::move(found->file);
    error.line = found->line;
    error.column = found->column;
    error.message = std::move(found->message);
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

LogError follow_line_directives(std::string_view text, LogError error) {
  constexpr std::string_view directive = "#line ";
  std::uint64_t named = 0; // line number given by the last #line directive; 0 before the first one
  std::string file;
  for (std::uint64_t line = 1; line < error.line && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = text.substr(0, end);
    const std::size_t quote = words.find('"');
    if (words.starts_with(directive) && quote != std::string_view::npos) {
      std::from_chars(words.data() + directive.size(), words.data() + words.size(), named);
      file = words.substr(quote + 1, words.rfind('"') - quote - 1);
    } else if (named != 0) {
      ++named;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (named != 0) {
    error.file = file;
    error.line = named;
  }
  return error;
}

} // namespace tidegate::device
