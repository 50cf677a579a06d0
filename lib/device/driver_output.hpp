// Keeps output that drivers and kernels print out of the tool's own output: a kernel's printf goes to
// standard error, because standard output holds only results, and a compiler's output becomes part of its
// build log, because with `--errors json` standard error holds one document.
#pragma once
#include <tidegate/core/error.hpp>

namespace tidegate::device {

// Redirects standard output to standard error while it exists.
class PrintsToStandardError {
public:
  PrintsToStandardError();
  PrintsToStandardError(const PrintsToStandardError&) = delete;
  PrintsToStandardError& operator=(const PrintsToStandardError&) = delete;
  ~PrintsToStandardError();

  // Ends the redirection early, for a thread that prints the result while the object still exists.
  static void end();
};

// Captures standard error while it exists.
class CapturedErrors {
public:
  CapturedErrors();
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors(); // prints to standard error what was not taken

  std::string take();

  // Ends all captures early: a build in the background may still have one.
  static void end();
};

// Takes what CapturedErrors has in its memory file. After a call before a fork, the parent can take what a crashed child
// left there.
std::string take_captured_errors();

// Finds error locations in the build logs of drivers. All of them follow clang's format:
//
//   ops.cl:2:27: error: use of undeclared identifier 'foo'                 clang itself, NVIDIA's, Mesa's
//   error: ops.cl:2:27: use of undeclared identifier 'foo'                 PoCL's
//   error: ops.cl:2:27 <Spelling=ops.h:1:19>: use of undeclared …          within a macro

struct LogError {
  std::string file;
  std::uint64_t line = 0, column = 0; // counted from 1; columns count bytes
  std::string message;
};

// Returns the first error of a log that has a location, else the first warning about a call of an undeclared
// function.
std::optional<LogError> first_error(std::string_view log);

// Returns the function that NVIDIA's assembler reports as unresolved. It names no location, and if the
// compiler's output came from a cache the log holds nothing else.
std::optional<std::string> unresolved_function(std::string_view log);

// Translates a location through the #line directives of `text`: NVIDIA's compiler calls every file "<kernel>"
// and counts lines of the whole text.
LogError follow_line_directives(std::string_view text, LogError error);

// Returns the error for a failed build of `text`: opencl_failure if disk or memory ran out, else
// build_failure. Location, message and fix are set only if the log has them.
Error build_error(std::string_view text, std::string log);

// Returns the first folder to which compilers write that has less than 1 MiB free, with its free space.
std::optional<std::string> full_folder();
inline constexpr std::string_view fix_full_folder =
    "make room where it writes: in POCL_CACHE_DIR, XDG_CACHE_HOME, TMPDIR";

// The fix for build errors in code that tidegate generated.
inline constexpr std::string_view fix_of_own_kernels =
    "this is a bug in tidegate: please report the program with this log; --strategy launch needs fewer "
    "generated kernels";

} // namespace tidegate::device
