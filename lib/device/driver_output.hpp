// Keeps output that drivers and kernels print out of the tool's own output: a kernel's printf goes to
// standard error, because standard output holds only results, and a compiler's output becomes part of its
// build log, because with `--errors json` standard error holds one document.
#pragma once
#include <string>

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
};

// Creates the memory file that CapturedErrors writes to. Call it before a fork: the parent can then print
// what a crashed child left in it.
void share_captured_errors();
void tell_captured_errors();

} // namespace tidegate::device
