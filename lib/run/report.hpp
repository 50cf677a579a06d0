// The report of a run, put together at its end from what the passes returned.
#pragma once

#include <tidegate/compiler/compile.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/execute.hpp>
#include <tidegate/run/monitor.hpp>
#include <tidegate/run/run_options.hpp>
#include <tidegate/run/run_report.hpp>

#include <cstdint>

namespace tidegate::run {

// Of a program that was compiled and not run: --dry-run.
RunReport report_of_plan(const CompiledProgram& compiled, const RunOptions& options,
                         std::uint64_t wall_time_ns);

// Of a run that came to its end, whichever.
RunReport report_of_run(const CompiledProgram& compiled, const ExecutedProgram& executed,
                        const device::DeviceInfo& device, const RunOptions& options,
                        std::uint64_t wall_time_ns);

// Of a program that was looked at for accesses out of bounds.
RunReport report_of_bounds(const CompiledProgram& compiled, const BoundsReport& bounds,
                           const device::DeviceInfo& device, const RunOptions& options,
                           std::uint64_t wall_time_ns);

// Of a run whose device does not come back: what is known from outside.
RunReport report_of_silence(const CompiledProgram& compiled, const Monitor& monitor, bool interrupted,
                            const RunOptions& options, std::uint64_t wall_time_ns);

} // namespace tidegate::run
