#include "tune/measure.hpp"

#include "core/interrupt.hpp"
#include "engine/report.hpp"
#include "tune/workbench.hpp"

namespace tidegate::tuning {
namespace {

using Clock = runtime::Monitor::Clock;
using std::chrono::nanoseconds;

constexpr std::uint64_t duel_rounds = 11;
constexpr std::uint64_t more_duel_rounds = 22; // where times scatter, 11 leave gains of a tenth in doubt
constexpr std::uint64_t selection_rounds = 5;
constexpr std::uint64_t fewest_rounds = 7; // with fewer rounds nothing can reach the required confidence

TimeIsUp up_at(Clock::time_point end) {
  return [end] { return InterruptWatch::interrupted() || Clock::now() >= end; };
}

// Upper bound on a run of a candidate, if a run of the program as it is takes `run_ns`.
std::uint64_t most_ns(double run_ns, std::uint64_t max_wall_time_ns) {
  constexpr double times = 10;
  constexpr double least_ns = 1e9;
  return std::min(max_wall_time_ns, static_cast<std::uint64_t>(least_ns + times * run_ns));
}

// Varies one knob after another: the best of its values in a few rounds has to win a duel of fresh ones against the incumbent.
class Search {
public:
  Search(Bench& bench, Clock::time_point end, std::uint64_t max_wall_time_ns, runtime::Monitor& monitor)
      : bench_(bench), max_wall_time_ns_(max_wall_time_ns), monitor_(monitor), end_(end) {}

  // Returns the report with what is `known` of the device, and what the search has found.
  Result<TuningReport> run(const Settings& first, const device::DeviceProfile& known) {
    monitor_.say("measuring: the program as it is", end_);
    const auto start = Clock::now();
    TIDEGATE_CHECK(bench_.add_first(first));
    longest_add_ = Clock::now() - start;
    std::vector<double> times;
    for (int i = 0; i < 3 && !InterruptWatch::interrupted(); ++i) {
      const auto begin = Clock::now();
      if (const auto ns = bench_.time(0, max_wall_time_ns_)) {
        times.push_back(*ns);
      }
      run_ns_ = std::max(run_ns_, static_cast<double>(elapsed_ns(begin)));
    }
    dispatch_ns_ = median(times);
    TuningReport report{.before_ns = dispatch_ns_, .profile = known};
    for (const Knob knob : bench_.knobs()) {
      report.knobs.push_back(turn(knob));
      if (InterruptWatch::interrupted()) {
        return tl::unexpected(interrupted());
      }
    }
    report.after_ns = dispatch_ns_;
    report.runs = bench_.runs();
    const Settings& settings = bench_.settings(incumbent_);
    report.profile.tuning = settings.tuning;
    report.profile.traversal =
        settings.traversal == device::TraversalProfile() ? std::nullopt : std::optional(settings.traversal);
    report.policy = settings.policy;
    return report;
  }

private:
  // A candidate that the device refuses is thrown out.
  Result<std::optional<std::size_t>> add(const Settings& settings) try {
    return bench_.add(settings, most_ns(run_ns_, max_wall_time_ns_));
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }

  KnobReport turn(Knob knob) {
    const auto [value, options] = bench_.values_of(knob, incumbent_, dispatch_ns_);
    KnobReport report{.knob = knob, .before = value};
    const auto duel_begin = Clock::now() + (end_ - Clock::now()) / 4 * 3; // at the latest
    const Timer timer = [this](std::size_t configuration) {
      return bench_.time(configuration, most_ns(run_ns_, max_wall_time_ns_));
    };
    std::optional<std::size_t> best; // with its place in the report
    std::size_t place = 0;
    for (std::size_t i = 0; i < options.size(); ++i) {
      engine::FirstCandidate candidate{.value = options[i].value};
      if (up_at(duel_begin - longest_add_)()) {
        candidate.thrown_out = "the time was up";
        report.candidates.push_back(std::move(candidate));
        continue;
      }
      monitor_.say(fmt::format("measuring: {}, {} of {}", knob_names[static_cast<std::size_t>(knob)], i + 1,
                               options.size()),
                   end_);
      const auto begin = Clock::now();
      const auto added = add(options[i].settings);
      longest_add_ = std::max(longest_add_, Clock::now() - begin);
      if (added && !*added) {
        continue; // runs as another one
      }
      if (!added) {
        candidate.thrown_out = added.error().message;
      } else if (const Duel found = duel(**added, incumbent_, selection_rounds, timer, up_at(duel_begin));
                 found.rounds != 0) {
        candidate.ratio = found.ratio;
        if (!best || found.ratio < *report.candidates[place].ratio) {
          best = **added;
          place = report.candidates.size();
        }
      }
      report.candidates.push_back(std::move(candidate));
    }
    if (best) {
      report.duel = duel(*best, incumbent_, duel_rounds, timer, up_at(end_), more_duel_rounds);
      if (report.duel->won()) {
        report.candidates[place].taken = true;
        incumbent_ = *best;
        dispatch_ns_ *= report.duel->ratio;
      }
    }
    return report;
  }

  Bench& bench_;
  const std::uint64_t max_wall_time_ns_; // per run
  runtime::Monitor& monitor_;
  const Clock::time_point end_;
  Clock::duration longest_add_{};
  std::size_t incumbent_ = 0; // at first the program as it is
  double dispatch_ns_ = 0;    // of the incumbent
  double run_ns_ = 0;         // longest of the first runs, including the time to fill memory
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
                                const MeasureOptions& options, runtime::Monitor& monitor) {
  const auto start = Clock::now();
  const InterruptWatch interrupts;
  const device::PrintsToStandardError prints; // kernel output must not mix with the report
  const runtime::Watchdog watchdog(
      monitor, runtime::grace, [&](bool by_signal) { options.abandon(hang_error(by_signal, fix_of_hang)); });
  try {
    auto bench = make_bench();
    const device::DeviceProfile known = device.profile.value_or(
        device::DeviceProfile{.device = device.name, .driver_version = device.driver_version});
    const Settings first{.tuning = options.run.compile.tuning,
                         .traversal = known.traversal.value_or(device::TraversalProfile()),
                         .policy = policy};
    TIDEGATE_TRY(TuningReport report,
                 Search(bench, start + nanoseconds(options.budget_ns), options.run.max_wall_time_ns, monitor)
                     .run(first, known));
    report.device = device.name;
    report.driver_version = device.driver_version;
    report.budget_ns = options.budget_ns;
    report.elapsed_ns = elapsed_ns(start);
    return report;
  } catch (device::Refused& refused) {
    return tl::unexpected(std::move(refused.error));
  }
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

// The candidates of a program. Each run tries as many as its time allows; once all are tried, the fastest are timed in turns.
// Nothing is timed while a build runs: a driver that compiles holds locks that launches take.
class FirstSearch {
public:
  FirstSearch(Workbench& bench, const device::DeviceInfo& device, const engine::RunOptions& options,
              FirstRunResult& result, Clock::time_point start, runtime::Monitor& monitor)
      : bench_(bench), device_(device), options_(options), result_(result), first_(result.report),
        start_(start), monitor_(monitor) {}

  // Runs plain launches, compares them with themselves in the memory that they share, and tries candidates.
  Result<void> run(const Settings& open) {
    const std::vector<engine::FirstCandidate> earlier = std::exchange(first_.candidates, {});
    bench_.plain_has_run([&](const engine::PlainRun& plain) { return plan(plain, earlier); });
    monitor_.say("first run: plain launches", Clock::time_point::max());
    const auto added = bench_.add_first(plain_launches(open));
    if (planned_at_) { // a candidate's comparison takes as long as that of plain launches with themselves
      run_ns_ = std::max(run_ns_, static_cast<double>(elapsed_ns(*planned_at_)));
    }
    if (!added && (bench_.iterations() == 0 || added.error().code != ErrorCode::wall_time_exceeded)) {
      return tl::unexpected(added.error());
    }
    too_long_ |= !added;
    if (taken() == nullptr) {
      result_.settings = plain_launches(open);
    }
    if (!too_long_ && bench_.outputs() != 0) {
      bool goes_on = true;
      while (goes_on && untried() != first_.candidates.end()) {
        goes_on = try_next(static_cast<std::size_t>(untried() - first_.candidates.begin()));
      }
      if (goes_on) {
        first_.settled = time_leaders() || only_leaders_;
      }
    }
    first_.settled |= too_long_ || first_.candidates.empty();
    first_.measured = !too_long_;
    conclude();
    return {};
  }

private:
  using Candidates = std::vector<engine::FirstCandidate>;

  // Sets when the first run ends, lists the candidates, and begins to build the first that is needed. Returns false if there
  // is no time for another run of plain launches.
  bool plan(const engine::PlainRun& plain, const Candidates& earlier) {
    constexpr double runs = 5; // to compare a candidate, and to see that it is clearly faster
    const auto elapsed = static_cast<double>(elapsed_ns(start_));
    const auto plain_ns = static_cast<double>(plain.dispatch_ns);
    const double all_ns = plain_ns * bench_.repeat() / std::max(bench_.iterations(), 1U);
    const bool cpu = device_.type == device::DeviceType::cpu;
    // Not all of the 2 s: a process also starts, reads, and writes its outputs, and on a CPU it may begin again.
    const double least_ns = cpu ? 1.2e9 : 1.5e9;
    // Where `until` ends the repetition, nobody knows before: what has run is all that counts.
    const double known_ns = bench_.compiled(0).written.until ? plain_ns : all_ns;
    const double times = cpu ? 3 : 1; // what all of a run by plain launches takes
    const double budget = options_.first_run_budget_ns != 0
                              ? static_cast<double>(options_.first_run_budget_ns)
                              : least_ns + times * (elapsed - plain_ns + known_ns);
    first_.budget_ns =
        std::min(static_cast<std::uint64_t>(budget), std::max(options_.max_wall_time_ns, std::uint64_t{1}));
    end_ = start_ + nanoseconds(first_.budget_ns);
    first_.repeat = bench_.repeat();
    run_ns_ = static_cast<double>(plain.elapsed_ns);
    list(earlier, all_ns);
    too_long_ = runs * run_ns_ > static_cast<double>(first_.budget_ns);
    const std::vector<std::size_t> needed =
        only_leaders_ ? leaders()
                      : std::vector{static_cast<std::size_t>(untried() - first_.candidates.begin())};
    if (!too_long_ && !needed.empty()) {
      begin(needed.front());
    }
    planned_at_ = Clock::now();
    return *planned_at_ + nanoseconds(plain.elapsed_ns) < end_;
  }

  // The first run decides by what plain launches take which candidates there are; later ones go on with its list.
  void list(const Candidates& earlier, double plain_ns) {
    const std::vector<Alternative> all = bench_.outputs() == 0
                                             ? std::vector<Alternative>()
                                             : bench_.candidates(earlier.empty() ? plain_ns : 0);
    first_.candidates = earlier;
    if (earlier.empty()) {
      for (const Alternative& each : all) {
        first_.candidates.emplace_back().value = each.value;
      }
    }
    settings_.clear();
    for (engine::FirstCandidate& listed : first_.candidates) {
      const auto found = std::ranges::find(all, listed.value, &Alternative::value);
      settings_.push_back(found == all.end() ? plain_launches({}) : found->settings);
      if (found == all.end() && !listed.tried()) {
        listed.thrown_out = "cannot be launched here any more";
      }
    }
    goes_on_ = !earlier.empty();
    only_leaders_ = untried() == first_.candidates.end();
    configurations_.assign(first_.candidates.size(), std::nullopt);
    begun_.reset();
  }

  [[nodiscard]] Candidates::iterator untried() const {
    return std::ranges::find(first_.candidates, false, &engine::FirstCandidate::tried);
  }

  // A run that has not ended when the first run has is ended.
  [[nodiscard]] std::uint64_t most_run_ns() const {
    const auto left = std::chrono::duration_cast<nanoseconds>(end_ - Clock::now()).count();
    return std::min(most_ns(run_ns_, options_.max_wall_time_ns),
                    static_cast<std::uint64_t>(std::max<std::int64_t>(left, 1)));
  }

  [[nodiscard]] Timer timer() {
    return [this](std::size_t configuration) {
      const auto ns = bench_.time(configuration, most_run_ns());
      if (ns && configuration == 0) {
        plain_times_.push_back(*ns);
      }
      return ns;
    };
  }

  // Runs plain launches without timing them, which finds them as warm as what was compared just now, and the device at its
  // usual clock after a build.
  void warm_up() {
    constexpr std::uint64_t least_ns = 5'000'000;
    const auto start = Clock::now();
    do {
      const auto begin = Clock::now();
      (void)bench_.time(0, most_run_ns());
      run_ns_ = std::max(run_ns_, static_cast<double>(elapsed_ns(begin)));
    } while (elapsed_ns(start) < least_ns && !too_late());
  }

  [[nodiscard]] bool too_late() const {
    return up_at(end_ - nanoseconds(static_cast<std::int64_t>(4 * run_ns_)))();
  }

  void begin(std::size_t which) {
    bench_.begin_candidates();
    begun_ = bench_.begin(settings_[which]);
  }

  // Builds and compares a candidate, which is thrown out if that fails. Returns false if time is up.
  bool build(std::size_t which) {
    engine::FirstCandidate& candidate = first_.candidates[which];
    if (configurations_[which] || !candidate.thrown_out.empty()) {
      return true;
    }
    if (too_late()) {
      return false;
    }
    const bool had_all_time = begun_.has_value();
    if (!begun_) {
      begin(which);
    }
    const Result<bool> begun = *std::exchange(begun_, std::nullopt);
    if (!begun || !*begun) {
      candidate.thrown_out = begun ? "runs as another candidate" : begun.error().message;
      return true;
    }
    if (!bench_.built_by(end_)) {
      if (had_all_time && goes_on_) { // twice now
        candidate.thrown_out = fmt::format("not built in {} of a first run", seconds_text(first_.budget_ns));
      }
      return false;
    }
    if (too_late()) { // but it is in the cache
      return false;
    }
    const auto added = bench_.finish(most_run_ns());
    if (up_at(end_)()) {
      return false;
    }
    if (!added || !*added) {
      candidate.thrown_out = added ? "runs as another candidate" : added.error().message;
    } else {
      configurations_[which] = **added;
    }
    return true;
  }

  // Times a candidate against plain launches. Returns false if time is up.
  bool try_next(std::size_t which) {
    engine::FirstCandidate& candidate = first_.candidates[which];
    monitor_.say(
        fmt::format("first run: timing {}, {} of {}", candidate.value, which + 1, first_.candidates.size()),
        end_);
    if (!build(which)) {
      return false;
    }
    if (candidate.tried()) {
      return true;
    }
    warm_up();
    const auto begin = Clock::now();
    Duel found = duel(*configurations_[which], 0, clear_rounds, timer(), up_at(end_));
    const bool clear = found.clearly_faster() || found.clearly_slower();
    if (found.rounds == clear_rounds && (!clear || elapsed_ns(begin) < short_ns) && !up_at(end_)()) {
      found = duel(*configurations_[which], 0, duel_rounds, timer(), up_at(end_));
    }
    if (found.rounds == 0) {
      if (up_at(end_)()) {
        return false;
      }
      candidate.thrown_out = "takes many times as long as plain launches";
      return true;
    }
    candidate.ratio = found.ratio;
    if ((found.won() || found.clearly_faster()) && found.ratio < best_ratio()) {
      take(which);
    }
    return true;
  }

  // Takes a candidate, or plain launches.
  void take(std::optional<std::size_t> which) {
    for (std::size_t i = 0; i < first_.candidates.size(); ++i) {
      first_.candidates[i].taken = i == which;
    }
    result_.settings = which ? settings_[*which] : plain_launches(result_.settings);
  }

  // The candidates that may be the fastest, the fastest so far first: each was timed at another moment, in few rounds.
  [[nodiscard]] std::vector<std::size_t> leaders() const {
    constexpr double wrong_by = 1.2;
    constexpr std::size_t most = 3;
    std::vector<std::size_t> found;
    double best = 1;
    for (std::size_t i = 0; i < first_.candidates.size(); ++i) {
      if (first_.candidates[i].ratio && first_.candidates[i].thrown_out.empty()) {
        found.push_back(i);
        best = std::min(best, *first_.candidates[i].ratio);
      }
    }
    std::erase_if(found, [&](std::size_t i) { return *first_.candidates[i].ratio > wrong_by * best; });
    std::ranges::sort(found, {}, [&](std::size_t i) { return *first_.candidates[i].ratio; });
    found.resize(std::min(found.size(), most));
    return found.size() == 1 && best < 1 / wrong_by ? std::vector<std::size_t>()
                                                    : found; // plain launches are far behind
  }

  // Runs plain launches and the leaders in turns until the fastest is known, and takes it. Returns false if time is up
  // before.
  bool time_leaders() {
    constexpr std::uint64_t most_rounds = 31;
    std::vector<std::size_t> all = leaders();
    for (const std::size_t leader : all) {
      monitor_.say(fmt::format("first run: timing {} again", first_.candidates[leader].value), end_);
      if (!build(leader)) {
        return false;
      }
    }
    std::erase_if(all, [this](std::size_t leader) { return !configurations_[leader]; });
    if (all.empty()) {
      return true;
    }
    warm_up();
    std::vector<std::size_t> ways{0}; // plain launches
    std::ranges::transform(all, std::back_inserter(ways),
                           [this](std::size_t leader) { return *configurations_[leader]; });
    Rounds times(ways.size());
    const auto ends = [&] {
      return too_late() || (times.front().size() >= duel_rounds && fastest_is_known(times));
    };
    if (!time_in_turns(ways, most_rounds, timer(), ends, times) || times.front().size() < fewest_rounds) {
      return false;
    }
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Duel found = judge(ratios(times[i + 1], times.front()));
      first_.candidates[all[i]].ratio = found.ratio;
      if (found.won() && (!best || found.ratio < *first_.candidates[*best].ratio)) {
        best = all[i];
      }
    }
    take(best);
    return true;
  }

  // Returns true if the interval of every other way's time divided by that of the fastest is above 1, or below 1.02.
  static bool fastest_is_known(const Rounds& times) {
    constexpr double same = 1.02;
    const auto fastest = std::ranges::min_element(times, {}, median);
    return std::ranges::all_of(times, [&](const std::vector<double>& other) {
      const RatioEstimate found = paired_ratio(ratios(other, *fastest));
      return &other == &*fastest || found.low > 1 || found.high < same;
    });
  }

  [[nodiscard]] const engine::FirstCandidate* taken() const {
    const auto found = std::ranges::find(first_.candidates, true, &engine::FirstCandidate::taken);
    return found == first_.candidates.end() ? nullptr : &*found;
  }
  [[nodiscard]] double best_ratio() const { return taken() != nullptr ? *taken()->ratio : 1; }

  void conclude() {
    if (!plain_times_.empty()) {
      first_.plain_ns = median(plain_times_);
      if (device_.type == device::DeviceType::cpu) {
        result_.settings.tuning.plain_iteration_ns =
            static_cast<std::uint64_t>(*first_.plain_ns / std::max(bench_.iterations(), 1U));
      }
    }
    const bool timed =
        std::ranges::any_of(first_.candidates, [](const auto& way) { return way.ratio.has_value(); });
    first_.reason =
        taken() != nullptr ? fmt::format("{} took {:.2f} of the time of plain launches on a first run here",
                                         taken()->value, best_ratio())
        : timed            ? "no candidate that first runs here have timed is faster than plain launches"
        : too_long_
            ? "plain launches: a first run has no time for candidates; `tidegate tune measure` takes it"
        : first_.settled ? "plain launches: there is no candidate that runs here"
                         : "plain launches: the time of the first run was up before a candidate was built";
    first_.next = first_.settled                         ? "takes the same way"
                  : untried() != first_.candidates.end() ? fmt::format("tries {}", untried()->value)
                                                         : "times the fastest ways again, in turns";
  }

  static constexpr std::uint64_t short_ns = 20'000'000; // what few rounds took: more cost nothing

  Workbench& bench_;
  const device::DeviceInfo& device_;
  const engine::RunOptions& options_;
  FirstRunResult& result_;
  engine::FirstRun& first_; // of the result
  const Clock::time_point start_;
  runtime::Monitor& monitor_;
  Clock::time_point end_ = Clock::time_point::max();
  std::vector<Settings> settings_;                         // of first_.candidates
  std::vector<std::optional<std::size_t>> configurations_; // likewise, of those that this run has built
  std::optional<Result<bool>>
      begun_;            // the build that began with plain launches; false: it would run as another candidate
  bool goes_on_ = false; // an earlier run made the list
  bool only_leaders_ = false; // earlier runs have tried all
  bool too_long_ = false;     // no candidate can be timed in any first run
  double run_ns_ = 0; // of plain launches, including the time to fill memory, to read it back and to compare
  std::optional<Clock::time_point> planned_at_;
  std::vector<double> plain_times_;
};

Settings open_settings(const engine::Lowering& lowering, const engine::RunOptions& options) {
  return {.tuning = options.compile.tuning, .traversal = {}, .policy = lowering.program().policy};
}

// Runs `search` on a bench for first runs, and reports what it found.
template <class Run>
Result<FirstRunResult> on_first_bench(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                      const engine::RunOptions& options, FirstRunResult result,
                                      runtime::Monitor& monitor, const Run& run) {
  constexpr std::uint64_t most_plain_ns = 20'000'000;
  const auto start = Clock::now();
  const InterruptWatch interrupts;
  const device::PrintsToStandardError prints;
  engine::RunOptions limited = options;
  limited.compile.trace = false;
  std::unique_ptr<Workbench, EndBench> bench;
  const runtime::Watchdog watchdog(monitor, runtime::grace, [&](bool by_signal) {
    if (!by_signal && device::work_notes().trying) {
      std::abort(); // of a candidate: another process goes on without it
    }
    engine::RunReport known =
        bench && bench->iterations() != 0
            ? engine::report_of_silence(bench->compiled(0), monitor, by_signal, options)
            : engine::RunReport{{.error = hang_error(by_signal, "try another device or driver")}};
    known.wall_time_ns = elapsed_ns(start);
    options.abandon(known);
  });
  engine::FirstRun& report = result.report;
  Result<void> compared;
  try {
    bench.reset(new Workbench(lowering, device, limited, monitor, first_run_knobs, most_plain_ns));
    compared = run(*bench, result, start);
  } catch (device::Refused& refused) {
    compared = tl::unexpected(std::move(refused.error));
  }
  monitor.say("", Clock::time_point::max());
  if (InterruptWatch::interrupted()) {
    return tl::unexpected(interrupted());
  }
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
    report.compared = report.settled = true;
    report.reason =
        report.difference->likely_cause == engine::DifferenceCause::race
            ? "plain launches, whose outputs differ from run to run"
            : fmt::format("outputs of {} differ from those of plain launches", result.different->way);
  } else if (!compared) {
    report.reason = "the first run failed: " + compared.error().message;
  } else if (bench->outputs() == 0) {
    report.reason = "the program has no output to compare";
  } else if (!bench->proved()) {
    report.reason = "plain launches, not compared: a first run has no time for a second run of them";
  } else {
    report.compared = report.equal = true;
  }
  if (!report.equal) {
    result.settings = plain_launches(open_settings(lowering, options));
  }
  return result;
}

} // namespace

Result<TuningReport> measure(const engine::Lowering& lowering, const device::DeviceInfo& device,
                             const MeasureOptions& options, runtime::Monitor& monitor) {
  return measure_on([&] { return Workbench(lowering, device, options.run, monitor, wave_program_knobs); },
                    lowering.program().policy,
                    "look for a loop without an end in the program's kernels; nothing was written", device,
                    options, monitor);
}

Result<TuningReport> measure(const graphs::FrontierProgram& program, const std::string& folder,
                             const device::DeviceInfo& device, const MeasureOptions& options,
                             runtime::Monitor& monitor) {
  return measure_on([&] { return TraversalBench(program, folder, device, options.run, monitor); },
                    program.policy.launch, "give --max-wall-time more; nothing was written", device, options,
                    monitor);
}

Result<FirstRunResult> first_run(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                 const engine::RunOptions& options, FirstRunResult earlier,
                                 runtime::Monitor& monitor) {
  return on_first_bench(lowering, device, options, std::move(earlier), monitor,
                        [&](Workbench& bench, FirstRunResult& result, Clock::time_point start) {
                          return FirstSearch(bench, device, options, result, start, monitor)
                              .run(open_settings(lowering, options));
                        });
}

Result<FirstRunResult> compare_choice(const engine::Lowering& lowering, const device::DeviceInfo& device,
                                      const engine::RunOptions& options, runtime::Monitor& monitor) {
  const Settings open = open_settings(lowering, options);
  const auto compare = [&](Workbench& bench, FirstRunResult& result, Clock::time_point) -> Result<void> {
    monitor.say("first run: comparing with plain launches", Clock::time_point::max());
    TIDEGATE_CHECK(bench.add_first(plain_launches(open)));
    bench.begin_candidates();
    TIDEGATE_TRY(const auto chosen, bench.add(open, options.max_wall_time_ns));
    result.settings = open;
    result.settings.tuning.strategy = bench.compiled(chosen.value_or(0)).strategy.strategy;
    result.report.reason = "by the cost model";
    return {};
  };
  return on_first_bench(lowering, device, options, {.report = {.reason = "", .next = "compares it again"}},
                        monitor, compare);
}

} // namespace tidegate::tuning
