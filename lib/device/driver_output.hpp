// What drivers and kernels print by themselves. Standard output holds the answer and nothing else, and with
// `--errors json` standard error holds one document: a kernel's printf goes to standard error, and what a
// compiler prints while it refuses a program becomes part of its log.
#pragma once
#include <string>

namespace tidegate::device {

// While it lives, what is written to standard output reaches standard error.
class PrintsToStandardError {
public:
  PrintsToStandardError();
  PrintsToStandardError(const PrintsToStandardError&) = delete;
  PrintsToStandardError& operator=(const PrintsToStandardError&) = delete;
  ~PrintsToStandardError();

  // Ends it before its time, for whoever answers from another thread.
  static void end();
};

// While it lives, what is written to standard error is kept.
class CapturedErrors {
public:
  CapturedErrors();
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors(); // what nobody took is told on standard error

  std::string take();
};

// The file in memory that CapturedErrors write to, made before a process is split in two: the other half can
// tell then what a crash has left in it.
void share_captured_errors();
void tell_captured_errors();

} // namespace tidegate::device
