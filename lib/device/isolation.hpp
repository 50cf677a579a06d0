// Drivers run inside the process that calls them, and some abort or fault when their surroundings are not to
// their liking; handlers for signals do not help, because drivers and their compilers install their own.
#pragma once
#include <tidegate/core/error.hpp>

#include <atomic>

namespace tidegate::device {

// What the process that does the work sets, and the one that waits for it still sees once it has crashed.
class SharedFlag {
public:
  SharedFlag(); // before isolate_drivers; where no memory can be shared it stays false
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  ~SharedFlag();

  void set();
  [[nodiscard]] bool is_set() const;

private:
  std::atomic<bool>* flag_ = nullptr;
};

// Goes on in a child process, in which drivers may do what they want, while this one waits for it and ends
// with its exit code. Only where the child was ended by a signal does this process come back, with
// driver_crash; its fix depends on whether kernels of the user's had begun to run. Call before the first use
// of OpenCL, and before anything is read, written or started.
Result<void> isolate_drivers(const SharedFlag* kernels_ran = nullptr);

} // namespace tidegate::device
