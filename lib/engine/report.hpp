// Builds the report of a run from the results of the passes, all but its wall time.
#pragma once
#include "engine/compile.hpp"
#include "engine/execute.hpp"
#include "engine/run_report.hpp"
#include "runtime/monitor.hpp"

namespace tidegate::engine {

// Says where to look if outputs differ from those of plain launches: by the likely cause, or without one at what is most
// often the cause, a bug here last. For errors, warnings, and what an earlier run has kept.
std::string difference_fix(const std::optional<OutputParity>& parity, bool fp_contract_off);

// Returns the report of a program that was compiled and not run: --dry-run.
RunReport report_of_plan(const CompiledProgram& compiled);

// Returns the report of a run that ended in any way.
RunReport report_of_run(const CompiledProgram& compiled, const ExecutedProgram& executed,
                        const device::DeviceInfo& device, const RunOptions& options);

// Returns the report of --check bounds.
RunReport report_of_bounds(const CompiledProgram& compiled, const BoundsReport& bounds,
                           const device::DeviceInfo& device, const RunOptions& options);

// Returns what the host knows of a run whose device does not respond.
RunReport report_of_silence(const CompiledProgram& compiled, const Monitor& monitor, bool interrupted,
                            const RunOptions& options);

} // namespace tidegate::engine
