// Isolates drivers in a child process. Drivers run inside the process that calls them, and some abort, fault or call
// exit() in an environment they do not expect; signal handlers do not help, because drivers and their compilers install
// others.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/device/device_list.hpp>

namespace tidegate::device {

// Notes of the working process. They are in memory that it shares with the waiting process, which reads them after a
// crash.
struct WorkNotes {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::atomic<bool> kernels_ran = false;  // kernels of the user may have run
  std::atomic<bool> begins_again = false; // after a crash while `trying`
  std::atomic<bool> trying = false;       // a crash costs a candidate and no more
  std::atomic<bool> listing = false;      // drivers are loaded and asked for their devices
  std::atomic<std::uint32_t> testing =
      none;                            // index of the device whose self-test runs, if a crash costs only that
  std::atomic<bool> exited = false;    // a driver has called exit()
  std::atomic<bool> compiling = false; // a driver compiles a kernel that was launched: no wall time
  std::atomic<bool> goes_on = false;   // the process has ended so that another one goes on with its run
  std::atomic<std::int64_t> began_ns =
      0; // when that run began, by the steady clock; 0: it is the first process of a run
  std::array<char, 512> checked{}; // the wave that --check bounds ran last, for messages

  void set_checked(const std::string& wave);
};
WorkNotes& work_notes();

// Continues in a child process in which drivers run, while this process waits and exits with the child's code. Returns
// to the caller in the parent only if a driver ended the child: driver_crash with what the child printed, or
// out_of_bounds while --check bounds runs. Call before the first use of OpenCL, and before reading, writing or starting
// anything.
//
// Another child takes a crashed one's place and begins again
// - without the drivers that crash when they are listed: crashed_drivers() names them;
// - after a crash in a self-test of `testing`: crashed_tests() names the device;
// - after go_on_in_another_process();
// - after a crash while `trying`, at most twice and only if the caller can begin again. Returns how many children have
//   crashed so, so that the caller tries less.
Result<std::uint32_t> isolate_drivers(bool can_begin_again = false);

const std::vector<BrokenDriver>& crashed_drivers();

struct CrashedTest {
  std::uint32_t device = 0; // its index
  std::string how;          // "Aborted"
};
const std::vector<CrashedTest>& crashed_tests();

// Ends this process, with the builds that run in it, which nothing else can end: another child goes on with the run that
// began then. Only if the caller can begin again.
[[noreturn]] void go_on_in_another_process(std::chrono::steady_clock::time_point began);

// Call at the end of main(): an exit() before it is one of a driver.
void end_in_order();

// Keeps output that drivers and kernels print out of the tool's own output: a kernel's printf goes to
// standard error, because standard output holds only results, and a compiler's output becomes part of its
// build log, because with `--errors json` standard error holds one document.

// Redirects standard output to standard error while it exists.
class PrintsToStandardError : NotCopied {
public:
  PrintsToStandardError();
  ~PrintsToStandardError();

  // Ends the redirection early, for a thread that prints the result while the object still exists.
  static void end();
};

// Captures standard error while it exists.
class CapturedErrors : NotCopied {
public:
  CapturedErrors();
  ~CapturedErrors(); // prints to standard error what was not taken

  std::string take();

  // Ends all captures early: a build in the background may still have one.
  static void end();
};

// Returns the error for a failed build of `text`: build_failure with the location (columns count bytes), the message and the
// fix of the log's first error, else those of the first warning about a call of an undeclared function; without one
// opencl_failure if the compiler has no room on the disk.
Error build_error(std::string_view text, std::string log);

// The fix for build errors in code that tidegate generated.
inline constexpr std::string_view fix_of_own_kernels =
    "this is a bug in tidegate: please report the program with this log; --strategy launch needs fewer "
    "generated kernels";

} // namespace tidegate::device
