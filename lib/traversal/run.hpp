// A frontier program from start to finish: load → check → memory → build → run → verify → report. Its preparation serves
// each candidate of `tidegate tune measure`, too.
#pragma once
#include "traversal/dispatch.hpp"
#include "traversal/report.hpp"

namespace tidegate::traversal {

// Runs a program of `folder` on a device whose profile is set; with dry_run it plans the memory for a device
// (null: one without limits). Updates the monitor. A failure on the device is in the report's status and
// error.
Result<FrontierReport> run_traversal(const graphs::FrontierProgram& program, const std::string& folder,
                                     const device::DeviceInfo* device, const RunOptions& options,
                                     runtime::Monitor& monitor);

// Checks that paths stay in the program's folder and that no input is overwritten.
Result<void> check_files(const graphs::FrontierProgram& program, const std::string& folder,
                         const RunOptions& options);

// Loads the graph: components use edges in both directions; pulls use incoming edges.
Result<graphs::LoadedGraph> load(const graphs::FrontierProgram& program, const std::string& folder,
                                 const RunOptions& options);

} // namespace tidegate::traversal
