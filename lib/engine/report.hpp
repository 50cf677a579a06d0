// The report of a run, put together at its end from what the passes returned.
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

// Of a program that was compiled and not run: --dry-run.
RunReport report_of_plan(const CompiledProgram& compiled, std::uint64_t wall_time_ns);

// Of a run that came to its end, whichever.
RunReport report_of_run(const CompiledProgram& compiled, const ExecutedProgram& executed,
                        const device::DeviceInfo& device, const RunOptions& options,
                        std::uint64_t wall_time_ns);

// Of a program that was looked at for accesses out of bounds.
RunReport report_of_bounds(const CompiledProgram& compiled, const BoundsReport& bounds,
                           const device::DeviceInfo& device, const RunOptions& options,
                           std::uint64_t wall_time_ns);

// Of a program whose accesses were held against the halos that it states.
RunReport report_of_halos(const CompiledProgram& compiled, const HaloReport& halos,
                          const device::DeviceInfo& device, const RunOptions& options,
                          std::uint64_t wall_time_ns);

// Of a run whose device does not come back: what is known from outside.
RunReport report_of_silence(const CompiledProgram& compiled, const Monitor& monitor, bool interrupted,
                            const RunOptions& options, std::uint64_t wall_time_ns);

// Why a run of either kind of program has no outputs. `left` says how far it came ("3 waves done").

// The wall time is over; `waited`: while work-groups waited for each other.
Error deadline_error(std::string_view left, std::uint64_t wall_time_ns, bool waited, std::string_view fix);
Error interrupted_error(std::string_view left);
// A wait on the device reached its bound; `where` names the step of the first work-group that reports it.
Error hang_error(const std::vector<StuckGroup>& stuck_groups, std::string_view where);
// The device has not come back since the run was to end. `own_kernels`: the kernels are the user's.
Error silence_error(const Monitor& monitor, bool interrupted, std::uint64_t wall_time_ns, bool own_kernels);

// How long a watched run that was asked to stop may still take before the process ends.
inline constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

// A file that was written, with its size.
WrittenFile written_file(const std::string& file, std::string what);

} // namespace tidegate::engine
