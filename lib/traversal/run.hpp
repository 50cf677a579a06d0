// A frontier program from start to finish: load → check → memory → build → run → verify → report.
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

// Parts of the report (outcome.cpp): of the plan, of the waves and of the results.

Answer answer_of(const TraversalPlan& plan, const TraversalResults& results);

// Returns the report of a traversal that has not begun.
FrontierReport report_of_plan(const TraversalPlan& plan);

// Adds what was dispatched and what the waves did, of a run that may be under way, and why it did not come to its end.
void report_outcome(const TraversalPlan& plan, const TraversalOutcome& outcome, const RunOptions& options,
                    FrontierReport& report);

} // namespace tidegate::traversal
