#include <tidegate/core/text.hpp>
#include <tidegate/run/run_errors.hpp>

#include <fmt/format.h>

#include <string>

namespace tidegate::run {
namespace {

std::string seconds(std::uint64_t ns) {
  return fmt::format("{:.3g} s", static_cast<double>(ns) / 1e9);
}

std::string until_not_reached(const RunReport& report) {
  return fmt::format("until was not reached after {}: {} is {}, waiting for {}",
                     plural(report.iterations, "iteration"), in_quotes(report.until->buffer),
                     report.until->value, report.until->waiting_for);
}

// What is left to do, and why it was not done in time.
std::string what_is_left(const RunReport& report) {
  if (report.until && !report.until->reached) {
    return until_not_reached(report);
  }
  std::uint64_t items = 0; // of queues, that count beside the tiles
  for (std::size_t i = 0; report.priority && i < report.queues.size(); ++i) { // once they have run
    items += report.queues[i].items_remaining;
  }
  const std::uint64_t tiles = report.items_remaining - items;
  const std::string of_queues = items == 0 ? "" : plural(items, "item") + " of queues";
  std::string left = fmt::format("{} of {} tiles", tiles, tiles + report.items_processed);
  if (!of_queues.empty()) {
    left = tiles == 0 ? of_queues : left + " and " + of_queues;
  }
  return fmt::format("{} {} left, after {}", left, tiles == 0 && items == 1 ? "is" : "are",
                     plural(report.iterations, "iteration"));
}

std::string difference_fix(const OutputParity& parity, const RunOptions& options) {
  switch (parity.likely_cause.value_or(DifferenceCause::unknown)) {
  case DifferenceCause::race:
    return "plain launches do not repeat themselves either: work-items of one wave race for an element, or "
           "add floats "
           "up in any order with atomics; no schedule makes that equal";
  case DifferenceCause::order:
    return "this run does not repeat itself while plain launches do: waves that touch the same buffer need a "
           "dependency, or work-items of one wave race for an element and plain launches happened to repeat "
           "it; without either it is a bug: please report the program";
  case DifferenceCause::rounding:
    if (!options.compile.fp_contract_off) {
      return "the compiler rounds differently in the two kernels, such as a * b + c once or twice: "
             "--fp-contract off "
             "compiles both without joining the two";
    }
    return "the compiler rounds differently in the two kernels, though a * b + c is not joined: look for "
           "options such "
           "as -cl-fast-relaxed-math, and for built-in functions that it may replace";
  case DifferenceCause::unknown: break;
  }
  return "both ways repeat themselves: a read of what nobody wrote, a write past the end of a buffer "
         "(--check-bounds finds it), work-items of one wave that race and happened to repeat, or a bug: then "
         "please report the program";
}

} // namespace

Warning convergence_warning(const RunReport& report) {
  return {.message = until_not_reached(report),
          .fix = "raise repeat, or leave it out to repeat for as long as it takes",
          .pointer = "/until"};
}

Error deadline_error(const RunReport& report, const RunOptions& options, bool waited) {
  const bool endless = report.until && !report.until->reached;
  return {.code = ErrorCode::wall_time_exceeded,
          .message = fmt::format("the wall time of {} is over: {}{}", seconds(options.max_wall_time_ns),
                                 what_is_left(report),
                                 waited ? "; work-groups were waiting for others whose core is busy, or that "
                                          "do not arrive"
                                        : ""),
          .fix = waited ? "--strategy launch does without waits on the device; no output was written"
                 : endless
                     ? "look at what makes the value, give \"repeat\" a bound, or --max-wall-time more; no "
                       "output was written"
                     : "give --max-wall-time more, or the program less to do; no output was written"};
}

Error interrupt_error(const RunReport& report) {
  return {.code = ErrorCode::interrupted,
          .message = "interrupted: " + what_is_left(report),
          .fix = "no output was written; run it again"};
}

Error hang_error(const std::vector<StuckGroup>& stuck_groups) {
  if (stuck_groups.empty()) {
    return {.code = ErrorCode::device_hang,
            .message = "a persistent launch came back without having done anything",
            .fix = "see stuck_groups in the report; --strategy launch runs without waits"};
  }
  const StuckGroup& stuck = stuck_groups.front();
  return {.code = ErrorCode::device_hang,
          .message =
              fmt::format("a wait on the device ran out: in front of stage {} ({}), tile {}, iteration {}, "
                          "work-group {} waits for {} to be {} and saw {}",
                          stuck.stage, fmt::join(stuck.waves, ", "), stuck.tile, stuck.iteration, stuck.group,
                          stuck.counter, stuck.expected, stuck.seen),
          .fix = "see stuck_groups in the report; --strategy launch runs without waits"};
}

Error difference_error(const OutputParity& parity, const RunOptions& options) {
  const Difference& difference = *parity.first_difference;
  return {.code = ErrorCode::outputs_differ,
          .message = fmt::format("element {} of {} is {}, plain launches make it {}; {} in all{}",
                                 difference.element, in_quotes(difference.buffer), difference.found,
                                 difference.expected, plural(parity.differing_elements, "element"),
                                 parity.largest_difference_ulp
                                     ? fmt::format(", by at most {} in the last place",
                                                   plural(*parity.largest_difference_ulp, "unit"))
                                     : ""),
          .fix = difference_fix(parity, options)};
}

Error bounds_error(const BoundsReport& bounds) {
  Error error{.code = ErrorCode::out_of_bounds,
              .message = {},
              .fix = "look at the kernel's subscripts, the counts it is given and the sizes of its NDRange; "
                     "the report's bounds have all that was found"};
  if (!bounds.violations.empty()) {
    const BoundsViolation& violation = bounds.violations.front();
    const std::string where =
        violation.side == Side::behind
            ? fmt::format("{} past the end of", plural(violation.distance_bytes + 1, "byte"))
            : fmt::format("{} before the start of", plural(violation.distance_bytes, "byte"));
    error.message = fmt::format("{} writes {} {}, in iteration {}", violation.wave, where,
                                in_quotes(violation.buffer), violation.iteration);
  }
  if (!bounds.findings.empty()) {
    const SimulatorFinding& finding = bounds.findings.front();
    error.message +=
        fmt::format("{}Oclgrind: {} in the kernel {}, at {}:{}", error.message.empty() ? "" : "; ",
                    finding.message, in_quotes(finding.kernel), finding.file, finding.line);
  }
  return error;
}

std::optional<Error> halo_error(const HaloReport& halos) {
  if (halos.violation) {
    const HaloViolation& violation = *halos.violation;
    return Error{.code = ErrorCode::out_of_bounds,
                 .message =
                     fmt::format("{} (op {}) {} {}[{}], argument {} of its wave, in tile ({}) of iteration "
                                 "{}; {} touches that in tile {} "
                                 "of dimension {}, its halo allows tiles {} to {}",
                                 violation.wave, in_quotes(violation.op),
                                 violation.writes ? "writes" : "reads", printable(violation.parameter),
                                 violation.subscript, violation.argument, fmt::join(violation.tiles, ", "),
                                 violation.iteration, violation.before, violation.before_tile,
                                 violation.dimension, violation.first_allowed, violation.last_allowed),
                 .fix = "state a wider halo, or none; or look at the kernel's subscripts"};
  }
  if (halos.stated_halos == 0) {
    return Error{.code = ErrorCode::incomplete_evidence,
                 .message = "nothing was checked: the program states no halo for memory that two waves touch",
                 .fix =
                     "leave --check-halos out, or state a halo for the arguments of both waves or for their "
                     "dependency"};
  }
  if (!halos.unwatched.empty()) {
    const UnwatchedAccess& use = halos.unwatched.front();
    return Error{
        .code = ErrorCode::incomplete_evidence,
        .message = fmt::format("not all was checked: {}:{} uses {} of {} in a way that cannot be watched{}",
                               printable(use.file), use.line, in_quotes(use.parameter), in_quotes(use.kernel),
                               halos.unwatched.size() == 1
                                   ? ""
                                   : fmt::format(", and there are {} more", halos.unwatched.size() - 1)),
        .fix =
            "use the parameter with a subscript in the kernel itself, as in a[i]; or state no halo, and all "
            "tiles wait for all"};
  }
  if (halos.looked_at == 0) {
    return Error{.code = ErrorCode::incomplete_evidence,
                 .message = "nothing was checked: no access met what an earlier wave had touched",
                 .fix = "run the program with data and sizes as it usually has"};
  }
  return {};
}

Error silence_error(const Monitor& monitor, bool interrupted, const RunOptions& options) {
  const Activity activity = monitor.activity;
  const std::uint64_t launches = monitor.in_flight;
  const std::string when =
      interrupted ? "interrupted,"
                  : fmt::format("the wall time of {} is over,", seconds(options.max_wall_time_ns));
  const bool waits = activity == Activity::running && launches != 0;
  const std::string what =
      !waits ? fmt::format("the host is {}", activity_names[static_cast<std::size_t>(activity)])
      : launches == 1
          ? "a kernel does not return"
          : fmt::format("{} launches are under way: a kernel does not return, or they take that long",
                        launches);
  return {.code = interrupted ? ErrorCode::interrupted : ErrorCode::wall_time_exceeded,
          .message = fmt::format("{} and the device has not come back since: {}", when, what),
          .fix = fmt::format("{}; no output was written",
                             waits ? "look for a loop without an end in the program's kernels"
                                   : "give --max-wall-time more")};
}

} // namespace tidegate::run
