// A wave program from start to finish: lower it to a job, and run that.
#pragma once
#include "device/monitor.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"
#include "work/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <memory>
#include <string>

namespace tidegate::engine {

struct Prepared;

// Runs a program of `folder` on a device whose profile is filled in, or plans it for one (null: for none in
// particular), and reports its progress to the monitor. What goes wrong in the run itself (a hang, a deadline, outputs that
// differ) is in the report's status and error. All other failures are returned as errors.
Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options, Monitor& monitor);

// Returns a key of all that decides what a program compiles to, except the files of its kernels; contents of
// inputs and files of outputs do not count. Empty if a part of it is unknown.
std::string stream_key(const WaveProgram& program, const std::string& folder);

// Returns the program that an earlier run of the stream left under RunOptions::kept_key; null if there is none, or if
// sources of its kernels have changed.
std::shared_ptr<Prepared> find_prepared(const RunOptions& options);

// Runs what find_prepared() returned, with the inputs and outputs of `program`; otherwise like run_program().
Result<RunReport> run_again(std::shared_ptr<Prepared> prepared, const WaveProgram& program,
                            const std::string& folder, const device::DeviceInfo& device,
                            const RunOptions& options, Monitor& monitor);

} // namespace tidegate::engine
