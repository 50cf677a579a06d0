#include "tune/measure.hpp"

#include "core/duration.hpp"
#include "core/interrupt.hpp"
#include "core/statistics.hpp"
#include "device/driver_output.hpp"
#include "device/monitor.hpp"
#include "engine/report.hpp"
#include "tune/statistics.hpp"
#include "tune/workbench.hpp"
#include <tidegate/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace tidegate::tuning {
namespace {

using Clock = engine::Monitor::Clock;
using std::chrono::nanoseconds;

constexpr std::uint64_t duel_rounds = 11;
constexpr std::uint64_t more_duel_rounds = 22; // where times scatter, 11 leave gains of a tenth in doubt
constexpr std::uint64_t first_run_budget_parts = 200; // plain launches may take one part

constexpr std::uint64_t fewest_rounds =
    7; // with fewer rounds no configuration can reach the required confidence

class Search {
public:
  Search(Bench& bench, std::uint64_t budget_ns, std::uint64_t max_wall_time_ns, Clock::time_point start,
         MeasureProgress& progress)
      : bench_(bench), max_wall_time_ns_(max_wall_time_ns), progress_(progress),
        // The rest of the budget pays for the final comparison with the first settings.
        search_end_(start + nanoseconds(budget_ns / 10 * 9)), end_(start + nanoseconds(budget_ns)),
        least_timing_(budget_ns / 5) {}

  // Returns true if each alternative of a knob was built, or refused; otherwise time was up.
  [[nodiscard]] bool complete() const { return complete_; }

  Result<TuningReport> run(const Settings& first) {
    TIDEGATE_TRY(const std::size_t beginning, bench_.add_first(first));
    std::vector<double> times;
    for (int i = 0; i < 3 && !InterruptWatch::interrupted(); ++i) {
      const auto begin = Clock::now();
      if (const auto ns = bench_.time(beginning, max_wall_time_ns_)) {
        times.push_back(*ns);
        times_[beginning].push_back(*ns);
      }
      run_ns_ = std::max(run_ns_, static_cast<double>(elapsed_ns(begin)));
    }
    incumbent_ = beginning;
    dispatch_ns_ = median(times);
    bench_.begin_candidates();
    TuningReport report{.runs = 0, .before_ns = dispatch_ns_};
    for (const Knob knob : bench_.knobs()) {
      report.knobs.push_back(turn(knob));
      if (InterruptWatch::interrupted()) {
        return tl::unexpected(interrupted());
      }
    }
    conclude(beginning, report);
    report.runs = bench_.runs();
    const Settings settings = bench_.concluded(incumbent_, times_);
    report.profile.tuning = settings.tuning;
    if (settings.traversal != device::TraversalProfile()) {
      report.profile.traversal = settings.traversal;
    }
    report.policy = settings.policy;
    return InterruptWatch::interrupted() ? tl::unexpected(interrupted())
                                         : Result<TuningReport>(std::move(report));
  }

private:
  [[nodiscard]] TimeIsUp up_at(Clock::time_point end) const {
    return [end] { return InterruptWatch::interrupted() || Clock::now() >= end; };
  }
  [[nodiscard]] Timer timer() {
    return [this](std::size_t configuration) {
      const auto ns = bench_.time(configuration, most_ns());
      if (ns) {
        times_[configuration].push_back(*ns);
      }
      return ns;
    };
  }
  // Upper bound on a timed run: one second plus ten times the first run, including the time to fill memory.
  [[nodiscard]] std::uint64_t most_ns() const {
    constexpr double times = 10;
    constexpr double least_ns = 1e9;
    return std::min(max_wall_time_ns_, static_cast<std::uint64_t>(least_ns + times * run_ns_));
  }

  // Builds an option and checks its outputs; returns nullopt if it is rejected or equal to another
  // configuration.
  std::optional<std::size_t> add(const Alternative& option, KnobReport& report) {
    const auto begin = Clock::now();
    auto added = bench_.add(option.settings, most_ns());
    longest_add_ = std::max(longest_add_, Clock::now() - begin);
    if (!added) {
      report.thrown_out.push_back({.value = option.value, .reason = added.error().message});
      return {};
    }
    return *added;
  }

  KnobReport turn(Knob knob) {
    KnobReport report{
        .knob = knob, .before = bench_.value_of(knob, incumbent_), .best = {}, .duel = {}, .thrown_out = {}};
    const std::vector<Alternative> options = bench_.alternatives_of(knob, incumbent_, dispatch_ns_);
    progress_.knob = knob;
    progress_.configurations = static_cast<std::uint32_t>(options.size());
    progress_.started = true;
    std::map<std::size_t, std::string> values;
    std::vector<std::size_t> added;
    bool in_time = true;
    const auto building_end = Clock::now() + (search_end_ - Clock::now()) / 4 * 3; // the rest is for timing
    for (std::size_t i = 0; i < options.size() && in_time; ++i) {
      in_time = Clock::now() + longest_add_ < building_end && !InterruptWatch::interrupted();
      if (in_time) {
        progress_.configuration = static_cast<std::uint32_t>(i + 1);
        if (const auto configuration = add(options[i], report)) {
          values[*configuration] = options[i].value;
          added.push_back(*configuration);
        }
      }
    }
    complete_ &= in_time;
    progress_.configuration = 0;
    report.configurations = added.size();
    if (!added.empty() &&
        std::exchange(first_turn_, false)) { // the first knob may overrun: otherwise nothing would be timed
      search_end_ = std::max(search_end_, Clock::now() + least_timing_);
      end_ = std::max(end_, search_end_);
    }
    if (options.empty()) {
      return report;
    }
    const TimeIsUp time_is_up = up_at(search_end_);
    if (time_is_up() || (!in_time && added.empty())) {
      report.verdict = KnobVerdict::out_of_time;
      return report;
    }
    if (added.empty()) {
      report.verdict = report.thrown_out.empty() ? KnobVerdict::nothing_to_try : KnobVerdict::unchanged;
      return report;
    }
    const auto halving_end = Clock::now() + (search_end_ - Clock::now()) / 3 * 2; // the rest is for the duel
    const Halving halving = halve(incumbent_, added, timer(), up_at(halving_end));
    for (const Contender& contender : halving.contenders) {
      if (!contender.ratios.empty()) {
        report.timed.push_back({values[contender.configuration], median(contender.ratios)});
      }
    }
    std::size_t best = halving.best;
    if (knob == Knob::workers && best != incumbent_) {
      best = refine(best, halving, values, report);
    }
    judge_best(best, values[best], time_is_up, report);
    return report;
  }

  // Compares the best configuration with the incumbent in fresh rounds, which did not take part in the
  // selection.
  void judge_best(std::size_t best, const std::string& value, const TimeIsUp& time_is_up,
                  KnobReport& report) {
    report.verdict = time_is_up() ? KnobVerdict::out_of_time : KnobVerdict::unchanged;
    if (best == incumbent_) {
      return;
    }
    report.best = value;
    report.duel = duel(best, incumbent_, duel_rounds, timer(), time_is_up, more_duel_rounds);
    if (report.duel->won()) {
      report.verdict = KnobVerdict::adopted;
      incumbent_ = best;
      first_adopted_ = first_adopted_ == 0 ? best : first_adopted_;
      dispatch_ns_ *= report.duel->ratio;
    } else if (report.duel->rounds < fewest_rounds && time_is_up()) {
      report.verdict = KnobVerdict::out_of_time;
    }
  }

  // Tries a number of work-groups between the measured powers of two.
  std::size_t refine(std::size_t best, const Halving& halving, std::map<std::size_t, std::string>& values,
                     KnobReport& report) {
    std::map<std::uint32_t, double> costs{{bench_.workers(incumbent_), 1.0}};
    for (const Contender& contender : halving.contenders) {
      if (!contender.failed && !contender.ratios.empty()) {
        costs[bench_.workers(contender.configuration)] = median(contender.ratios);
      }
    }
    const std::uint32_t workers = bench_.workers(best);
    const auto half = costs.find(workers / 2);
    const auto twice = costs.find(workers * 2);
    if (half == costs.end() || twice == costs.end() || !costs.contains(workers)) {
      return best;
    }
    const auto refined = refined_workers(workers, half->second, costs[workers], twice->second);
    if (!refined || Clock::now() + longest_add_ >= search_end_) {
      return best;
    }
    const Alternative option{.value = std::to_string(*refined),
                             .settings = bench_.with_workers(bench_.settings(best), *refined)};
    const auto configuration = add(option, report);
    if (!configuration) {
      return best;
    }
    values[*configuration] = option.value;
    ++report.configurations;
    return halve(incumbent_, {best, *configuration}, timer(), up_at(search_end_)).best;
  }

  // Compares all adopted settings with the first ones; together they must win too, or the first adopted ones stay.
  void conclude(std::size_t beginning, TuningReport& report) {
    const auto adopted = std::ranges::count(report.knobs, KnobVerdict::adopted, &KnobReport::verdict);
    if (adopted == 1) {
      report.overall = std::ranges::find(report.knobs, KnobVerdict::adopted, &KnobReport::verdict)->duel;
    } else if (adopted > 1) {
      report.overall = duel(incumbent_, beginning, duel_rounds, timer(), up_at(end_), more_duel_rounds);
      if (!report.overall->won()) { // the first of them has won against the first settings by itself
        incumbent_ = first_adopted_;
        bool later = false;
        for (KnobReport& knob : report.knobs) {
          if (knob.verdict == KnobVerdict::adopted && std::exchange(later, true)) {
            knob.verdict = KnobVerdict::unchanged;
          } else if (knob.verdict == KnobVerdict::adopted) {
            report.overall = knob.duel;
          }
        }
      }
    }
    report.after_ns = report.before_ns * (incumbent_ == beginning ? 1 : report.overall->ratio);
  }

  Bench& bench_;
  const std::uint64_t max_wall_time_ns_; // per run
  MeasureProgress& progress_;
  Clock::time_point search_end_;
  Clock::time_point end_;
  const nanoseconds least_timing_; // of the first knob
  bool first_turn_ = true;
  Clock::duration longest_add_{};
  bool complete_ = true;
  Times times_;
  std::size_t incumbent_ = 0;
  std::size_t first_adopted_ = 0; // 0: none
  double dispatch_ns_ = 0;
  double run_ns_ = 0; // longest of the first runs, including the time to fill memory
};

Error hang_error(bool by_signal, const std::string& fix) {
  return by_signal ? interrupted()
                   : Error{.code = ErrorCode::wall_time_exceeded,
                           .message = "a kernel does not return, or takes many times as long as before",
                           .fix = fix};
}

// Runs the search on the bench that `make_bench` returns, with kernel output redirected and a watchdog
// running.
template <class MakeBench>
Result<TuningReport> measure_on(const MakeBench& make_bench, const policy::LaunchPolicy& policy,
                                const std::string& fix_of_hang, const device::DeviceInfo& device,
                                const MeasureOptions& options, engine::Monitor& monitor,
                                MeasureProgress& progress) {
  const auto start = Clock::now();
  const InterruptWatch interrupts;
  const device::PrintsToStandardError prints; // kernel output must not mix with the report
  const engine::Watchdog watchdog(
      monitor, engine::grace, [&](bool by_signal) { options.abandon(hang_error(by_signal, fix_of_hang)); });
  try {
    auto bench = make_bench();
    const device::DeviceProfile known = device.profile.value_or(
        device::DeviceProfile{.device = device.name, .driver_version = device.driver_version});
    const Settings first{.tuning = options.run.compile.tuning,
                         .traversal = known.traversal.value_or(device::TraversalProfile()),
                         .policy = policy};
    Search search(bench, options.budget_ns, options.run.max_wall_time_ns, start, progress);
    TIDEGATE_TRY(TuningReport report, search.run(first));
    const device::DeviceProfile measured = std::move(report.profile);
    report.profile = known;
    report.profile.tuning = measured.tuning;
    report.profile.traversal = measured.traversal;
    report.device = device.name;
    report.driver_version = device.driver_version;
    report.budget_ns = options.budget_ns;
    report.elapsed_ns = elapsed_ns(start);
    return report;
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
}

// Lists every value that was tried, knob by knob.
std::vector<engine::TriedWay> tried_ways(const std::vector<KnobReport>& knobs) {
  std::vector<engine::TriedWay> ways;
  for (const KnobReport& knob : knobs) {
    const std::string name(knob_names[static_cast<std::size_t>(knob.knob)]);
    const auto is_taken = [&](const std::string& value) {
      return knob.verdict == KnobVerdict::adopted && value == knob.best;
    };
    for (const TimedValue& timed : knob.timed) {
      ways.push_back({.knob = name,
                      .value = timed.value,
                      .ratio = timed.ratio,
                      .taken = is_taken(timed.value),
                      .thrown_out = {}});
    }
    if (knob.timed.empty() && knob.duel && knob.duel->rounds != 0) {
      ways.push_back({.knob = name,
                      .value = knob.best,
                      .ratio = knob.duel->ratio,
                      .taken = is_taken(knob.best),
                      .thrown_out = {}});
    }
    for (const ThrownOut& out : knob.thrown_out) {
      ways.push_back({.knob = name, .value = out.value, .ratio = {}, .thrown_out = out.reason});
    }
  }
  return ways;
}

Settings plain_launches(Settings settings) {
  settings.tuning.strategy = engine::Strategy::plain;
  return settings;
}

// Returns the location of the last wave that writes a buffer, as a JSON pointer.
std::string last_writer(const engine::Job& program, const std::string& buffer) {
  for (std::size_t wave = program.waves.size(); wave-- != 0;) {
    for (const engine::ProgramArgument& argument : program.waves[wave].arguments) {
      if (argument.is_memory() && argument.access != engine::Access::read &&
          program.buffers[argument.buffer].name == buffer) {
        return program.wave_pointer(wave);
      }
    }
  }
  return "/buffers";
}

// Compares the cost model's choice with plain launches, without timing it.
Result<Settings> compare_choice(Workbench& bench, const Settings& open, std::uint64_t most_ns) {
  TIDEGATE_TRY(const std::size_t plain, bench.add_first(plain_launches(open)));
  bench.begin_candidates();
  TIDEGATE_TRY(const std::optional<std::size_t> chosen, bench.add(open, most_ns));
  if (!chosen) {
    return bench.settings(plain);
  }
  Settings settings = open;
  settings.tuning.strategy = bench.compiled(*chosen).strategy.strategy;
  return settings;
}

} // namespace

Result<TuningReport> measure(const engine::Lowering& lowering, const device::DeviceInfo& device,
                             const MeasureOptions& options, engine::Monitor& monitor,
                             MeasureProgress& progress) {
  return measure_on([&] { return Workbench(lowering, device, options.run, monitor, wave_program_knobs); },
                    lowering.program().policy,
                    "look for a loop without an end in the program's kernels; nothing was written", device,
                    options, monitor, progress);
}

Result<TuningReport> measure(const graphs::FrontierProgram& program, const std::string& folder,
                             const device::DeviceInfo& device, const MeasureOptions& options,
                             engine::Monitor& monitor, MeasureProgress& progress) {
  return measure_on([&] { return TraversalBench(program, folder, device, options.run, monitor); },
                    program.policy.launch, "give --max-wall-time more; nothing was written", device, options,
                    monitor, progress);
}

Result<FirstRunResult> first_run(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                 const engine::RunOptions& options, std::uint64_t budget_ns,
                                 bool time_configurations, engine::Monitor& monitor,
                                 MeasureProgress& progress) {
  const auto start = Clock::now();
  const InterruptWatch interrupts;
  const device::PrintsToStandardError prints;
  engine::RunOptions limited = options;
  limited.compile.trace = false;
  limited.max_wall_time_ns = std::min(options.max_wall_time_ns, budget_ns);
  const Settings open{.tuning = options.compile.tuning, .traversal = {}, .policy = lowering.program().policy};
  FirstRunResult result{.report = {.measured = time_configurations, .budget_ns = budget_ns},
                        .settings = plain_launches(open)};
  std::optional<Workbench> bench;
  const engine::Watchdog watchdog(monitor, engine::grace, [&](bool by_signal) {
    options.abandon(
        bench && bench->iterations() != 0
            ? engine::report_of_silence(bench->compiled(0), monitor, by_signal, options, elapsed_ns(start))
            : engine::RunReport{{.error = hang_error(by_signal, "try another device or driver")}});
  });
  Result<void> compared;
  try {
    bench.emplace(lowering, device, limited, monitor, first_run_knobs, budget_ns / first_run_budget_parts);
    if (time_configurations) {
      Search search(*bench, budget_ns, limited.max_wall_time_ns, start, progress);
      const auto report = search.run(plain_launches(open));
      result.complete = search.complete();
      compared = report.map([&](const TuningReport& found) {
        result.settings = {.tuning = found.profile.tuning, .traversal = {}, .policy = found.policy};
        if (device.type == device::DeviceType::cpu) {
          result.settings.tuning.plain_iteration_ns =
              static_cast<std::uint64_t>(found.before_ns / std::max(bench->iterations(), 1U));
        }
        result.report.plain_ns = found.before_ns;
        result.report.taken_ns = found.after_ns;
        result.report.tried = tried_ways(found.knobs);
      });
    } else {
      const auto chosen = compare_choice(*bench, open, limited.max_wall_time_ns);
      compared = chosen.map([&](const Settings& settings) { result.settings = settings; });
    }
  } catch (device::Refused& refused) {
    compared = tl::unexpected(std::move(refused.error));
  }
  if (InterruptWatch::interrupted()) {
    return tl::unexpected(interrupted());
  }
  engine::FirstRun& report = result.report;
  report.elapsed_ns = elapsed_ns(start);
  report.runs = bench ? bench->runs() : 0;
  report.iterations = bench ? bench->iterations() : 0;
  if (bench && bench->different()) {
    result.different = bench->different();
    result.fault_at =
        last_writer(bench->compiled(0).written, result.different->parity.first_difference->buffer);
    report.difference = result.different->parity;
  }
  // A candidate that rounds differently is left out, and says nothing of the others, which are equal.
  const bool rounds =
      report.difference && report.difference->likely_cause == engine::DifferenceCause::rounding;
  if (report.difference && !(rounds && compared)) {
    result.settings = plain_launches(open);
    report.compared = true;
    report.reason = fmt::format("outputs of {} differ from those of plain launches", result.different->way);
  } else if (!compared) {
    report.reason = "the first run failed: " + compared.error().message;
  } else if (bench->outputs() == 0) {
    result.settings = plain_launches(open);
    report.reason = "the program has no output to compare";
  } else {
    report.compared = true;
    report.equal = true;
    report.reason = !time_configurations ? "by the cost model"
                    : !result.complete && report.tried.empty()
                        ? "the time for the first run was up before other candidates were built"
                    : rounds ? "the fastest on the first run on this device of those equal to plain launches"
                             : "the fastest on the first run on this device";
  }
  return result;
}

} // namespace tidegate::tuning
