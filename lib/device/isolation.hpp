// Isolates drivers in a child process. Drivers run inside the process that calls them, and some abort or
// fault in an environment they do not expect; signal handlers do not help, because drivers and their
// compilers install others.
#pragma once
#include <tidegate/core/error.hpp>

#include <atomic>
#include <cstdint>

namespace tidegate::device {

// A flag that the working process sets and the waiting process can still read after a crash.
class SharedFlag {
public:
  SharedFlag(); // call before isolate_drivers; stays false where no memory can be shared
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;
  ~SharedFlag();

  void set(bool value = true);
  [[nodiscard]] bool is_set() const;

private:
  std::atomic<bool>* flag_ = nullptr;
};

// Continues in a child process in which drivers run, while this process waits and exits with the child's
// code. Returns to the caller in the parent only if a signal ended the child, with driver_crash; its fix
// depends on whether kernels of the user had started. Call before the first use of OpenCL, and before
// reading, writing or starting anything.
//
// If a driver crashes while `trying` is set, another child takes the crashed one's place, at most twice, and begins
// again. There the function returns how many children have crashed, so that the caller tries less.
Result<std::uint32_t> isolate_drivers(const SharedFlag* kernels_ran = nullptr, SharedFlag* trying = nullptr);

} // namespace tidegate::device
