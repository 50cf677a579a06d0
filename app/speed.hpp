// Times of a run and of what it is compared with: as text, against an earlier report, and as files for other tools.
#pragma once
#include "app/documents.hpp"
#include "core/statistics.hpp"
#include "engine/run_report.hpp"
#include "engine/traversal/report.hpp"

namespace tidegate::app {

// Rounds of a run, each paired with one of plain launches.
struct Timings {
  std::string strategy;
  std::string workload;       // of a stored report: only equal work is comparable
  std::string_view other;     // "plain launches", or "a launch for each step"
  std::vector<double> run_ns; // every round
  std::vector<double> other_ns;
  RatioEstimate times_as_fast;
  SpeedVerdict verdict = SpeedVerdict::too_few_rounds;
};

// Return the timings; nullopt without --compare.
std::optional<Timings> timings_of(const engine::RunReport& report);
std::optional<Timings> timings_of(const traversal::FrontierReport& report);

// Return "1.38 times as fast as plain launches (1.31 to 1.44 with 95 % confidence, 9 rounds)".
std::string speed_text(const RatioEstimate& times_as_fast, SpeedVerdict verdict, std::string_view other,
                       std::uint64_t rounds);
std::string speed_text(const documents::Baseline& report, std::string_view other);

// Compares this run with an earlier one; returns nothing if there are too few rounds for an interval.
std::optional<documents::Baseline> against_baseline(const Timings& run, const Timings& baseline,
                                                    const std::string& file);

// Refuses a baseline that timed another program, other sizes or another device. Error: invalid_usage.
Result<void> refuse_other_work(const Timings& run, const Timings& baseline);

// Returns the error of --fail-slower: the run is slower by more than `part`, and not by chance.
std::optional<Error> slower_than_baseline(const documents::Baseline& baseline, double part);

// Return a table of both times in Markdown, and every round in comma-separated values.
std::string markdown_text(const Timings& timings);
std::string csv_text(const Timings& timings);

} // namespace tidegate::app
