// Drivers run inside this process and some of them abort or fault when their surroundings are not to their
// liking. While a guard lives, such an end is an error like any other: a message, a fix and exit code 4.
#pragma once

namespace tidegate::device {

// One at a time; signals are handled as before once it is gone. A fault of this project's own, in the
// meantime, is blamed on the driver: keep the guard around calls into OpenCL.
class DriverGuard {
public:
  explicit DriverGuard(bool errors_as_json);
  DriverGuard(const DriverGuard&) = delete;
  DriverGuard& operator=(const DriverGuard&) = delete;
  ~DriverGuard();
};

} // namespace tidegate::device
