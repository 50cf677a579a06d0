// Drivers run inside the process that calls them, and some abort or fault when their surroundings are not to
// their liking; handlers for signals do not help, because drivers and their compilers install their own.
#pragma once

#include <tidegate/core/error.hpp>

namespace tidegate::device {

// Goes on in a child process, in which drivers may do what they want, while this one waits for it and ends
// with its exit code. Only where the child was ended by a signal does this process come back, with
// driver_crash. Call before the first use of OpenCL, and before anything is read, written or started.
Result<void> isolate_drivers();

} // namespace tidegate::device
