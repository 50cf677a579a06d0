// A job from start to finish: compile (without a device), execute (on it), report.
#pragma once
#include "device/monitor.hpp"
#include "engine/job.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <chrono>

namespace tidegate::engine {

// Runs a job on a device whose profile is filled in, or plans it for one (null: for none in particular), and reports
// its progress to the monitor; `start` is when its wall time began. A negative answer on the device is in the report's
// status and error; everything else that fails is an error: of kernels, the plan, memory, files, building and OpenCL.
Result<RunReport> run_job(Job job, const device::DeviceInfo* device, const RunOptions& options,
                          Monitor& monitor, std::chrono::steady_clock::time_point start);

} // namespace tidegate::engine
