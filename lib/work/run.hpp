// A wave program from start to finish: lower it to a job, and run that.
#pragma once
#include "device/monitor.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <string>

namespace tidegate::engine {

// Runs a program of `folder` on a device whose profile is filled in, or plans it for one (null: for none in
// particular), and reports its progress to the monitor. A negative answer on the device is in the report's status and
// error; everything else that fails is an error: of the program, its kernels, its plan, its memory, of building and of
// OpenCL.
Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
