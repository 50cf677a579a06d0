// A frontier program from start to finish: load → check → memory → build → run → replay → verify → report.
#pragma once
#include "device/monitor.hpp"
#include "engine/run_options.hpp"
#include "engine/traversal/report.hpp"
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <string>

namespace tidegate::traversal {

// Runs a program of `folder` on a device whose profile is set; with dry_run it plans the memory for a device
// (null: one without limits). Updates the monitor. A failure on the device is in the report's status and
// error.
Result<FrontierReport> run_traversal(const graphs::FrontierProgram& program, const std::string& folder,
                                     const device::DeviceInfo* device, const engine::RunOptions& options,
                                     engine::Monitor& monitor);

} // namespace tidegate::traversal
