// Builds the report of a run from the results of the passes.
#pragma once
#include "device/monitor.hpp"
#include "engine/compile.hpp"
#include "engine/execute.hpp"
#include "engine/run_options.hpp"
#include "engine/run_report.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tidegate::engine {

// For a program that was compiled and not run: --dry-run.
RunReport report_of_plan(const CompiledProgram& compiled, std::uint64_t wall_time_ns);

// For a run that ended in any way.
RunReport report_of_run(const CompiledProgram& compiled, const ExecutedProgram& executed,
                        const device::DeviceInfo& device, const RunOptions& options,
                        std::uint64_t wall_time_ns);

// For --check-bounds.
RunReport report_of_bounds(const CompiledProgram& compiled, const BoundsReport& bounds,
                           const device::DeviceInfo& device, const RunOptions& options,
                           std::uint64_t wall_time_ns);

// For --check-halos.
RunReport report_of_halos(const CompiledProgram& compiled, const HaloReport& halos,
                          const device::DeviceInfo& device, const RunOptions& options,
                          std::uint64_t wall_time_ns);

// For a run whose device does not respond: what the host knows.
RunReport report_of_silence(const CompiledProgram& compiled, const Monitor& monitor, bool interrupted,
                            const RunOptions& options, std::uint64_t wall_time_ns);

// Errors of runs without outputs, for both kinds of programs. `left` describes the progress ("3 waves done").

// The wall time is exceeded; `waited`: work-groups were still waiting for each other.
Error deadline_error(std::string_view left, std::uint64_t wall_time_ns, bool waited, std::string_view fix);
Error interrupted_error(std::string_view left);
// A wait on the device timed out; `where` names the step of the first work-group that reports it.
Error hang_error(const std::vector<StuckGroup>& stuck_groups, std::string_view where);
// The device did not respond after the run should have ended. `own_kernels`: the kernels are the user's.
Error silence_error(const Monitor& monitor, bool interrupted, std::uint64_t wall_time_ns, bool own_kernels);

// Time that a run may still take after it was asked to stop, before the process ends.
inline constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

// Returns the entry of a written file, with its size.
WrittenFile written_file(const std::string& file, std::string what);

} // namespace tidegate::engine
