// A job from start to finish: compile (without a device), execute (on it), report.
#pragma once
#include "device/monitor.hpp"
#include "engine/execute.hpp"
#include "engine/job.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

namespace tidegate::engine {

// Compiles a job for a device whose profile is filled in, or for none in particular (null). Errors: of kernels, the
// plan and memory.
Result<std::shared_ptr<Prepared>> prepare(Job job, const device::DeviceInfo* device,
                                          const RunOptions& options, Monitor& monitor);

// Runs a program on the device that it is compiled for, or plans it, and reports its progress to the monitor; `start`
// is when its wall time began. Another way to launch replaces `prepared` if its own does not hold. A negative answer on
// the device is in the report's status and error; everything else that fails is an error: of files, building and
// OpenCL.
Result<RunReport> run_prepared(std::shared_ptr<Prepared>& prepared, const device::DeviceInfo* device,
                               const RunOptions& options, Monitor& monitor,
                               std::chrono::steady_clock::time_point start);

} // namespace tidegate::engine
