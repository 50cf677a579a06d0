#include "runtime/report.hpp"

namespace tidegate::runtime {

void report_calls(Telemetry& telemetry, const device::CallCounts& run, const device::CallCounts& dispatch) {
  telemetry.bytes_uploaded = run.bytes_written;
  telemetry.bytes_read_back = run.bytes_read;
  telemetry.bytes_moved = run.bytes_written + run.bytes_read;
  telemetry.resident_allocations = dispatch.blocks;
  telemetry.kernel_launches = dispatch.launches;
  telemetry.filling_launches = run.launches - dispatch.launches;
  telemetry.sync_points = run.waits;
}

void report_dispatch(ReportHead& report, const DispatchOutcome& outcome) {
  report.status = outcome.status;
  report.build_ns += outcome.compile_ns;
  report.dispatch_ns = outcome.dispatch_ns;
  report.slices_ns = outcome.slices_ns;
  report.stuck_groups = outcome.stuck_groups;
}

void report_ending(ReportHead& report, const Ending& ending, const Options& options, bool waited) {
  if (report.status == RunStatus::deadline) {
    report.error =
        Error{.code = ErrorCode::wall_time_exceeded,
              .message = fmt::format("the wall time of {} is over: {}{}",
                                     seconds_text(options.max_wall_time_ns), ending.left,
                                     waited ? "; work-groups were waiting for others whose core is busy, or "
                                              "that do not arrive"
                                            : ""),
              .fix = fmt::format("{}; no output was written",
                                 waited ? "--strategy launch does without waits on the device" : ending.fix)};
  } else if (report.status == RunStatus::interrupted) {
    report.error = Error{.code = ErrorCode::interrupted,
                         .message = fmt::format("interrupted: {}", ending.left),
                         .fix = "no output was written; run it again"};
  } else if (report.status == RunStatus::hang) {
    std::string message = "a persistent launch came back without having done anything";
    if (!report.stuck_groups.empty()) {
      const StuckGroup& stuck = report.stuck_groups.front();
      message =
          fmt::format("a wait on the device ran out: {}, work-group {} waits for {} to be {} and saw {}",
                      ending.where, stuck.group, stuck.counter, stuck.expected, stuck.seen);
    }
    report.error = Error{.code = ErrorCode::device_hang,
                         .message = std::move(message),
                         .fix = "see stuck_groups in the report; --strategy launch runs without waits"};
  }
}

void report_silence(ReportHead& report, const Monitor& monitor, bool interrupted, const Options& options,
                    bool own_kernels) {
  report.status = interrupted ? RunStatus::interrupted : RunStatus::deadline;
  const device::CallCounts calls = monitor.calls();
  report_calls(report.telemetry, calls, calls);
  const Activity activity = device::work_notes().compiling ? Activity::building : monitor.activity.load();
  const std::uint64_t launches = monitor.in_flight;
  const bool builds = activity <= Activity::building;
  const std::string when =
      interrupted ? "interrupted,"
      : builds    ? fmt::format("the limit of {} for building is over,",
                                seconds_text(std::chrono::nanoseconds(build_limit).count()))
                  : fmt::format("the wall time of {} is over,", seconds_text(options.max_wall_time_ns));
  const bool waits = activity == Activity::running && launches != 0;
  const std::string what =
      !waits ? fmt::format("the host is {}", activity_names[static_cast<std::size_t>(activity)])
      : launches == 1
          ? "a kernel does not return"
          : fmt::format("{} launches are under way: a kernel does not return, or they take that long",
                        launches);
  report.error = Error{.code = interrupted ? ErrorCode::interrupted : ErrorCode::wall_time_exceeded,
                       .message = fmt::format("{} and the device has not come back since: {}", when, what),
                       .fix = fmt::format("{}; no output was written",
                                          waits && own_kernels
                                              ? "look for a loop without an end in the program's kernels"
                                          : interrupted ? "run it again"
                                          : builds      ? "make the kernels smaller, or give another device"
                                                        : "give --max-wall-time more")};
}

void report_timeline(ReportHead& report, const Options& options) {
  const std::uint64_t kept = report.timeline->span_count();
  if (const std::uint64_t left_out = report.timeline->left_out) {
    report.warnings.push_back(
        {.message = fmt::format(
             "the timeline keeps the first {} spans, {} had no room; times by wave need all", kept, left_out),
         .fix = fmt::format("give --set tuning.trace-spans={}", 2 * (kept + left_out)),
         .pointer = {}});
  }
  report.trace = options.trace;
}

WrittenFile written_file(const std::string& file, std::string what) {
  std::error_code unknown; // devices and pipes have no size
  const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
  return {.file = file, .what = std::move(what), .bytes = unknown ? 0 : bytes};
}

Result<WrittenFile> write_file(const std::string& file, std::string_view text, std::string what) {
  TIDEGATE_TRY(Output output, Output::open(file));
  TIDEGATE_CHECK(output.write(text));
  TIDEGATE_CHECK(output.commit());
  return written_file(file, std::move(what));
}

std::optional<Comparison> compare_ways(std::uint64_t rounds, bool same_launches,
                                       const std::function<std::optional<std::uint64_t>()>& plain,
                                       const std::function<std::optional<std::uint64_t>()>& run) {
  Comparison made;
  std::vector<double> ratios;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const bool plain_first =
        round % 2 == 0; // a side that always came second would find other caches and clocks
    std::optional<std::uint64_t> of_plain = plain_first ? plain() : std::nullopt;
    const std::optional<std::uint64_t> of_run = run();
    of_plain = plain_first ? of_plain : plain();
    if (!of_plain || !of_run) {
      break;
    }
    made.plain_rounds_ns.push_back(static_cast<double>(*of_plain));
    made.run_rounds_ns.push_back(static_cast<double>(*of_run));
    ratios.push_back(made.plain_rounds_ns.back() / std::max(made.run_rounds_ns.back(), 1.0));
  }
  made.rounds = ratios.size();
  if (ratios.empty()) {
    return {};
  }
  made.plain_ns = median(made.plain_rounds_ns);
  made.run_ns = median(made.run_rounds_ns);
  const RatioEstimate estimated = paired_ratio(std::move(ratios));
  made.speedup = estimated.ratio;
  made.speedup_low = estimated.low;
  made.speedup_high = estimated.high;
  made.verdict = same_launches ? SpeedVerdict::same_launches : verdict_of(estimated);
  return made;
}

} // namespace tidegate::runtime
