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

// The parts of reports that runs of both kinds of programs have.

DeviceReport device_report(const device::DeviceInfo& device);

// Reports the calls of a run, and those of its dispatch among them.
void report_calls(Telemetry& telemetry, const device::CallCounts& run, const device::CallCounts& dispatch);

// Reports the dispatch.
void report_dispatch(ReportHead& report, const DispatchOutcome& outcome);

// Reports the file that the timeline goes to, if the options name one, and warns if spans had no room.
void report_timeline(ReportHead& report, const RunOptions& options);

// Sets the error of a run that ended at its deadline, by an interrupt or by a hang. `left` describes its progress
// ("3 waves done"), `fix` what gives it the time, `where` the step of the first stuck work-group.
struct Ending {
  std::string left;
  std::string fix;
  std::string where;
};
void report_ending(ReportHead& report, const Ending& ending, const RunOptions& options, bool waited);

// Reports that the device did not respond after the run should have ended. `own_kernels`: the kernels are the
// user's.
void report_silence(ReportHead& report, const Monitor& monitor, bool interrupted, const RunOptions& options,
                    bool own_kernels);

// Time that a run may still take after it was asked to stop, before the process ends.
inline constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

// Returns the entry of a written file, with its size.
WrittenFile written_file(const std::string& file, std::string what);

// Writes the source of the generated kernel if the options name a file for it.
Result<void> write_kernel(const RunOptions& options, std::string_view source,
                          std::vector<WrittenFile>& written);

} // namespace tidegate::engine
