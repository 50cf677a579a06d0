#include <tidegate/core/elapsed.hpp>
#include <tidegate/core/interrupt.hpp>
#include <tidegate/run/execute.hpp>
#include <tidegate/run/prepare.hpp>
#include <tidegate/run/run.hpp>
#include <tidegate/run/watchdog.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace tidegate::run {
namespace {

using Clock = std::chrono::steady_clock;

// What a kernel that is past the wall time still gets to come back.
constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

void finish(const PreparedRun& made, Clock::time_point start, RunReport& report) {
  Telemetry& telemetry = report.telemetry;
  const policy::LaunchRecommendation& recommendation = report.recommendation;
  telemetry.bytes_moved = telemetry.bytes_uploaded + telemetry.bytes_read_back;
  telemetry.topology = recommendation.topology;
  telemetry.pressure = recommendation.pressure;
  telemetry.execution_mode = report.mode;
  telemetry.hit_capacity = recommendation.hit_capacity;
  telemetry.estimated_peak_device_bytes = recommendation.estimated_peak_device_bytes;
  telemetry.device_memory_budget_bytes = recommendation.device_memory_budget_bytes;
  report.plan = made.plan;
  report.wall_time_ns = elapsed_ns(start);
}

// What is told of a run whose kernel does not return.
RunReport abandoned(const PreparedRun& made, RunReport report, bool interrupted,
                    std::uint64_t max_wall_time_ns) {
  const std::string when = interrupted ? "interrupted,"
                                       : fmt::format("the wall time of {:.3g} s is over,",
                                                     static_cast<double>(max_wall_time_ns) / 1e9);
  report.status = interrupted ? RunStatus::interrupted : RunStatus::deadline;
  report.items_remaining = made.schedule.tiles_per_iteration() * made.program.iterations;
  report.error =
      Error{.code = interrupted ? ErrorCode::interrupted : ErrorCode::wall_time_exceeded,
            .message = when + " and the device has not come back since: a kernel does not return",
            .fix = "look for a loop without an end in the program's kernels; no output was written"};
  return report;
}

} // namespace

Result<RunReport> run_program(const WaveProgram& program, const std::string& folder,
                              const device::DeviceInfo* device, const RunOptions& options) {
  const auto start = Clock::now();
  const InterruptWatch interrupts;
  RunReport report;
  const auto made = prepare(program, folder, device, options, report);
  if (!made) {
    return tl::unexpected(made.error());
  }
  if (options.dry_run) {
    report.status = RunStatus::planned;
    report.items_remaining = made->schedule.tiles_per_iteration() * made->program.iterations;
    report.published_items = made->schedule.tiles_per_iteration();
    finish(*made, start, report);
    return report;
  }
  const auto deadline = start + std::chrono::nanoseconds(options.max_wall_time_ns);
  {
    const RunReport so_far = report; // the other thread must not look at what this one writes to
    const Watchdog watchdog(deadline, grace, [&](bool interrupted) {
      RunReport last = abandoned(*made, so_far, interrupted, options.max_wall_time_ns);
      finish(*made, start, last);
      options.abandon(last);
    });
    if (auto done = execute(*made, *device, options, deadline, report); !done) {
      return tl::unexpected(std::move(done.error()));
    }
  }
  finish(*made, start, report);
  return report;
}

} // namespace tidegate::run
