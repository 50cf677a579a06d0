#include "app/speed.hpp"

#include "app/serve.hpp"
#include "engine/documents.hpp"

namespace tidegate::app {
namespace {

std::string factor_text(double ratio) {
  constexpr double without_fraction = 100;
  return fmt::format("{:.{}f}", ratio, ratio < without_fraction ? 2 : 0);
}

std::string range_text(double low, double high) {
  return fmt::format("{} to {}", factor_text(low), factor_text(high));
}

RatioEstimate inverse(const RatioEstimate& estimate) {
  return {.ratio = 1 / estimate.ratio,
          .low = 1 / estimate.high,
          .high = 1 / estimate.low,
          .certain = estimate.certain};
}

} // namespace

static std::optional<Timings> timings_of(const engine::ReportHead& report, std::string strategy,
                                         std::string_view other) {
  if (!report.comparison) {
    return {};
  }
  const engine::Comparison& compared = *report.comparison;
  return Timings{.strategy = std::move(strategy),
                 .workload = {},
                 .other = other,
                 .run_ns = compared.run_rounds_ns,
                 .other_ns = compared.plain_rounds_ns,
                 .times_as_fast = {.ratio = compared.speedup,
                                   .low = compared.speedup_low,
                                   .high = compared.speedup_high},
                 .verdict = compared.verdict};
}

std::optional<Timings> timings_of(const engine::RunReport& report) {
  const std::string_view strategy = engine::strategy_names[static_cast<std::size_t>(report.strategy)];
  const bool same = report.comparison && report.comparison->verdict == SpeedVerdict::same_launches;
  return timings_of(
      report,
      same ? std::string(strategy)
           : fmt::format(
                 "{}, {}", strategy,
                 policy::execution_mode_names[static_cast<std::size_t>(report.telemetry.execution_mode)]),
      "plain launches");
}

std::optional<Timings> timings_of(const traversal::FrontierReport& report) {
  const std::string_view algorithm = graphs::algorithm_names[static_cast<std::size_t>(report.algorithm)];
  return timings_of(
      report,
      fmt::format("{}, {}", algorithm, engine::strategy_names[static_cast<std::size_t>(report.strategy)]),
      "a launch for each step");
}

std::string speed_text(const RatioEstimate& times_as_fast, SpeedVerdict verdict, std::string_view other,
                       std::uint64_t rounds) {
  const std::string counted = plural(rounds, "round");
  const std::string spread = range_text(times_as_fast.low, times_as_fast.high);
  switch (verdict) {
  case SpeedVerdict::faster:
    return fmt::format("{} times as fast as {} ({} with 95 % confidence, {})",
                       factor_text(times_as_fast.ratio), other, spread, counted);
  case SpeedVerdict::slower: {
    const RatioEstimate times_as_long = inverse(times_as_fast);
    return fmt::format("takes {} times as long as {} ({} with 95 % confidence, {})",
                       factor_text(times_as_long.ratio), other,
                       range_text(times_as_long.low, times_as_long.high), counted);
  }
  case SpeedVerdict::no_difference:
    return fmt::format("no difference from {} is shown ({} times as fast with 95 % confidence, {})", other,
                       spread, counted);
  case SpeedVerdict::same_launches:
    return fmt::format("the same launches as {}; the difference is chance ({} times as fast, {})", other,
                       spread, counted);
  case SpeedVerdict::too_few_rounds:
    return fmt::format("{} times as fast as {} ({}; too few rounds for a verdict: {} of 6)",
                       factor_text(times_as_fast.ratio), other, spread, rounds);
  }
  return {};
}

std::optional<documents::Baseline> against_baseline(const Timings& run, const Timings& baseline,
                                                    const std::string& file) {
  const RatioEstimate estimated = unpaired_ratio(run.run_ns, baseline.run_ns);
  if (!estimated.certain) {
    return {};
  }
  return documents::Baseline{.file = file,
                             .rounds = baseline.run_ns.size(),
                             .run_ns = median(baseline.run_ns),
                             .speedup = estimated.ratio,
                             .speedup_low = estimated.low,
                             .speedup_high = estimated.high,
                             .verdict = verdict_of(estimated)};
}

Result<void> refuse_other_work(const Timings& run, const Timings& baseline) {
  if (run.workload == baseline.workload) {
    return {};
  }
  return failure(
      ErrorCode::invalid_usage,
      fmt::format("the baseline timed other work: {}; this run: {}", baseline.workload, run.workload),
      "give the report of this program with the same sizes, on this device");
}

std::optional<Error> slower_than_baseline(const documents::Baseline& baseline, double part) {
  if (baseline.verdict != SpeedVerdict::slower || 1 / baseline.speedup <= 1 + part) {
    return {};
  }
  return Error{.code = ErrorCode::slower_than_baseline,
               .message = fmt::format("the run takes {:.1f} % longer than that of {}, more than {:.1f} %",
                                      100 * (1 / baseline.speedup - 1), in_quotes(baseline.file), 100 * part),
               .fix = "look at what both reports say of `comparison`; the outputs were written"};
}

std::string speed_text(const documents::Baseline& report, std::string_view other) {
  return speed_text({.ratio = report.speedup, .low = report.speedup_low, .high = report.speedup_high},
                    report.verdict, other, report.rounds);
}

std::string markdown_text(const Timings& timings) {
  std::string text = "| launched by | median | least | most | times as fast |\n|:---|---:|---:|---:|---:|\n";
  const auto row = [&text](std::string_view strategy, const std::vector<double>& ns,
                           const std::string& speed) {
    const auto [least, most] = std::ranges::minmax(ns);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", strategy, short_time_text(median(ns)),
                        short_time_text(least), short_time_text(most), speed);
  };
  row(timings.other, timings.other_ns, "1.00");
  row(timings.strategy, timings.run_ns,
      fmt::format("{} ({})", factor_text(timings.times_as_fast.ratio),
                  range_text(timings.times_as_fast.low, timings.times_as_fast.high)));
  return text;
}

std::string csv_text(const Timings& timings) {
  std::string text = "round,run_ns,other_ns\n";
  for (std::size_t i = 0; i < timings.run_ns.size(); ++i) {
    text += fmt::format("{},{:.0f},{:.0f}\n", i + 1, timings.run_ns[i], timings.other_ns[i]);
  }
  return text;
}

} // namespace tidegate::app
