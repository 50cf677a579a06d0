#include "tune/workbench.hpp"

#include "core/interrupt.hpp"
#include "engine/report.hpp"

namespace tidegate::tuning {
namespace {

using Clock = runtime::Monitor::Clock;
using engine::CompiledProgram;

std::atomic<std::size_t> builds_under_way = 0;

// Returns true if two configurations differ only in the number of work-groups.
bool alike(const CompiledProgram& a, const CompiledProgram& b) {
  const bool persistent = a.persistent();
  const bool generated = !a.tables.cases.empty(); // otherwise all stages run the user's own kernels
  const bool plain = !persistent && !b.persistent() && !generated; // launch and plain are then the same
  return (plain || a.strategy.strategy == b.strategy.strategy) && generated == !b.tables.cases.empty() &&
         (!generated ||
          (a.source.source == b.source.source && a.source.groups_per_unit == b.source.groups_per_unit)) &&
         a.schedule.group_size == b.schedule.group_size &&
         std::ranges::equal(a.program.waves, b.program.waves, {}, &engine::ProgramWave::range,
                            &engine::ProgramWave::range) &&
         (!persistent ||
          (a.synchronization.mapping == b.synchronization.mapping && a.tuning.slice_ns == b.tuning.slice_ns));
}

void set_iterations(CompiledProgram& compiled, std::uint32_t iterations) {
  compiled.written.iterations = compiled.program.iterations = iterations;
}

std::shared_ptr<device::Session> opened(const device::DeviceInfo& device, const engine::RunOptions& options) {
  auto session = options.open_session(device, device::Profiling::as_needed);
  if (!session) {
    throw device::Refused{std::move(session.error())};
  }
  return *std::move(session);
}

} // namespace

Result<void> check_finished(runtime::RunStatus status) {
  if (InterruptWatch::interrupted()) {
    return tl::unexpected(interrupted());
  }
  if (status == runtime::RunStatus::done) {
    return {};
  }
  if (status == runtime::RunStatus::queue_failed) {
    return failure(ErrorCode::queue_fault, "an item of a queue failed", "`tidegate run` reports which");
  }
  const bool hang = status == runtime::RunStatus::hang;
  return failure(hang ? ErrorCode::device_hang : ErrorCode::wall_time_exceeded,
                 hang ? "a wait on the device ran out"
                      : "the run takes many times as long as the best so far",
                 "give --max-wall-time more");
}

Error interrupted() {
  return {.code = ErrorCode::interrupted,
          .message = "interrupted while candidates were measured",
          .fix = "nothing was written; run it again"};
}

Bench::Bench(const device::DeviceInfo& device, const engine::RunOptions& options, runtime::Monitor& monitor,
             std::span<const Knob> knobs)
    : device_(device), options_(options), monitor_(monitor), opened_(opened(device, options)),
      session_(*opened_), knobs_(knobs) {}

std::optional<double> Bench::time(std::size_t configuration, std::uint64_t most_ns) try {
  const runtime::DispatchOutcome done = dispatch(configuration, most_ns);
  return done.status == runtime::RunStatus::done
             ? std::optional(static_cast<double>(std::max<std::uint64_t>(done.dispatch_ns, 1)))
             : std::nullopt;
} catch (device::Refused&) {
  return {};
}

Clock::time_point Bench::begin_run(std::uint64_t most_ns) {
  ++runs_;
  const auto deadline = Clock::now() + std::chrono::nanoseconds(most_ns);
  monitor_.deadline = deadline + std::chrono::nanoseconds(most_ns); // includes reading back
  return deadline;
}

void Bench::begin_building(runtime::Activity activity) {
  monitor_.begin(activity);
  monitor_.deadline = Clock::now() + runtime::build_limit;
}

Workbench::Workbench(const engine::Lowering& lowering, const device::DeviceInfo& device,
                     const engine::RunOptions& options, runtime::Monitor& monitor,
                     std::span<const Knob> knobs, std::uint64_t most_plain_ns)
    : Bench(device, options, monitor, knobs), lowering_(lowering), most_plain_ns_(most_plain_ns) {}

Result<CompiledProgram> Workbench::compile(const Settings& settings) {
  engine::CompileOptions options = options_.compile;
  options.tuning = settings.tuning;
  options.why = "a candidate, which has not been measured";
  lowering_.set_policy(settings.policy);
  begin_building(runtime::Activity::compiling);
  TIDEGATE_TRY(const engine::Job* const job, lowering_.job(settings.tuning));
  TIDEGATE_TRY(CompiledProgram compiled, engine::compile(*job, &device_, options));
  if (iterations_ != 0) {
    set_iterations(compiled, std::min(compiled.written.iterations, iterations_));
  }
  return compiled;
}

std::size_t Workbench::outputs() const {
  return static_cast<std::size_t>(std::ranges::count_if(configurations_.front()->compiled.written.buffers,
                                                        &engine::ProgramBuffer::is_result));
}

bool abandoned_builds() {
  return builds_under_way != 0;
}

void EndBench::operator()(Workbench* bench) const {
  std::unique_ptr<Workbench> ended(bench);
  if (abandoned_builds()) {
    ++builds_under_way; // the process does not wait for this either
    std::thread([ended = std::move(ended)]() mutable {
      ended.reset();
      --builds_under_way;
    }).detach();
  }
}

Result<bool> Workbench::begin(const Settings& settings) {
  building_.reset();
  TIDEGATE_TRY(CompiledProgram compiled, compile(settings));
  const auto same = [&](const auto& other) { return alike(other->compiled, compiled); };
  if (!compiled.persistent() && std::ranges::any_of(configurations_, same)) {
    return false;
  }
  building_ = std::make_shared<Configuration>(Configuration{
      .settings = settings,
      .session = configurations_.empty() || !session_.on_host ? opened_ : opened(device_, options_),
      .compiled = std::move(compiled),
      .built = std::nullopt,
      .residency = {},
      .limits = {}});
  // The thread shares all that it uses, because it may outlive this bench.
  std::packaged_task<void()> build([made = building_, device = device_, folder = options_.cache_folder] {
    made->built.emplace(engine::build(*made->session, device, made->compiled, folder));
  });
  build_ = build.get_future();
  ++builds_under_way;
  std::thread([build = std::move(build)]() mutable {
    build();
    --builds_under_way;
  }).detach();
  return true;
}

bool Workbench::built_by(Clock::time_point end) {
  constexpr auto look = std::chrono::milliseconds(20);
  monitor_.begin(runtime::Activity::building);
  monitor_.deadline = std::max(Clock::now() + runtime::build_limit, end);
  while (build_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    const auto now = Clock::now();
    if (now >= end || InterruptWatch::interrupted()) {
      building_.reset();
      return false;
    }
    (void)build_.wait_for(std::min<Clock::duration>(look, end - now));
  }
  return true;
}

Result<std::optional<std::size_t>> Workbench::finish(std::uint64_t most_ns) try {
  const std::shared_ptr<Configuration> made = std::exchange(building_, nullptr);
  if (!made) { // abandoned
    return tl::unexpected(interrupted());
  }
  build_.get();
  made->residency = engine::find_residency(*made->session, device_, made->compiled, *made->built, {});
  if (std::ranges::any_of(configurations_, [&](const auto& other) {
        return alike(other->compiled, made->compiled) && other->residency.workers == made->residency.workers;
      })) {
    return std::nullopt;
  }
  TIDEGATE_CHECK(engine::check_schedule(made->compiled, made->residency, device_));
  engine::RunOptions run_options = options_;
  run_options.slice_ns = made->settings.tuning.slice_ns;
  made->limits = engine::dispatch_limits(made->compiled, device_, run_options, made->residency);
  if (!configurations_.empty()) {
    TIDEGATE_CHECK(prove(*made, most_ns));
  }
  configurations_.push_back(made);
  return std::optional(configurations_.size() - 1);
} catch (device::Refused& refused) {
  return tl::unexpected(std::move(refused.error));
}

Result<void> Workbench::prove(Configuration& configuration, std::uint64_t most_ns) {
  const engine::ArenaRun done = run(configuration, most_ns);
  if (done.outcome.status == runtime::RunStatus::queue_failed) {
    for (const engine::QueueOutcome& queue : done.queues) {
      if (queue.failure) {
        return tl::unexpected(
            engine::queue_error(configuration.compiled.written, queue.wave, *queue.failure));
      }
    }
  }
  TIDEGATE_CHECK(check_finished(done.outcome.status));
  engine::OutputParity parity = reference_->compare(done.outputs);
  if (parity.equal) {
    return {};
  }
  configuration.limits.deadline = begin_run(most_ns);
  reference_->find_cause(parity, done.outputs, context_of(configuration), configuration.limits);
  const engine::Difference& first = *parity.first_difference;
  Error error{.code = ErrorCode::outputs_differ,
              .message = fmt::format("element {} of {} is {}, plain launches make it {}", first.element,
                                     in_quotes(first.buffer), first.found, first.expected),
              .fix = engine::difference_fix(parity, options_.compile.fp_contract_off) +
                     "; only programs with correct outputs can be tuned"};
  if (!different_ ||
      different_->parity.likely_cause == engine::DifferenceCause::rounding) { // the gravest is reported
    const engine::Strategy strategy = configuration.compiled.strategy.strategy;
    different_ = Different{.parity = std::move(parity),
                           .way = engine::strategy_names[static_cast<std::size_t>(strategy)]};
  }
  return tl::unexpected(std::move(error));
}

engine::RunContext Workbench::context_of(Configuration& configuration) {
  return {*configuration.session, device_, configuration.compiled, *configuration.built, monitor_, options_};
}

engine::ArenaRun Workbench::run(Configuration& configuration, std::uint64_t most_ns) {
  configuration.limits.deadline = begin_run(most_ns);
  engine::ArenaRun done = engine::run_in_arena(context_of(configuration), first_, configuration.limits);
  if (done.outcome.status == runtime::RunStatus::done) { // `until` may end the run earlier
    configuration.compiled.load.iterations = static_cast<double>(done.outcome.iterations);
  }
  return done;
}

Result<void> Workbench::add_first(const Settings& settings) {
  constexpr int most_runs = 32; // as in a run
  bool has_room = false;
  for (int runs = 0; runs < most_runs && !has_room; ++runs) {
    TIDEGATE_TRY(has_room, make_in_this_room(settings));
  }
  if (!has_room) {
    return failure(ErrorCode::hits_overflow, "a list of hits needs more room in each run",
                   "give it a larger capacity");
  }
  return {};
}

bool Workbench::give_more_room(std::optional<engine::WaveProgram> larger) {
  if (!larger) {
    return false;
  }
  lowering_.replace(std::move(*larger));
  reference_.reset();
  configurations_.clear();
  iterations_ = 0;
  return true;
}

Result<bool> Workbench::make_in_this_room(const Settings& settings) {
  TIDEGATE_CHECK(add(settings, options_.max_wall_time_ns));
  Configuration& configuration = *configurations_.front();
  TIDEGATE_CHECK(engine::keep_inputs(configuration.compiled.written, options_.files));
  TIDEGATE_TRY(first_, engine::first_contents(session_, configuration.compiled.program,
                                              settings.tuning.most_pinned_bytes));
  engine::check_images(session_, configuration.compiled.program);
  monitor_.deadline = Clock::now() + runtime::build_limit;
  reference_.emplace(session_, configuration.compiled.written, configuration.compiled.schedule.storage,
                     first_);
  reference_->one_by_one(monitor_);
  monitor_.begin(runtime::Activity::running);
  Result<void> proved;
  try {
    TIDEGATE_TRY(engine::PlainRun plain_run, run_plain(configuration));
    reference_->expected = std::move(plain_run.outputs);
    if (give_more_room(engine::grown(
            lowering_.program(), engine::count_hits(configuration.compiled.written, reference_->expected)))) {
      return false;
    }
    if (plain_has_run_ && !plain_has_run_(plain_run)) {
      return true;
    }
    proved = prove(configuration, options_.max_wall_time_ns);
    proved_ = proved.has_value();
  } catch (device::Refused& refused) {
    proved = tl::unexpected(std::move(refused.error));
  }
  if (!proved &&
      give_more_room(engine::grown(lowering_.program(), configuration.compiled.written, proved.error()))) {
    return false;
  }
  return proved.map([] { return true; });
}

// Raises the number of iterations until the next step would exceed `most_plain_ns_`.
Result<engine::PlainRun> Workbench::run_plain(Configuration& configuration) {
  const std::uint32_t all = repeat_ = configuration.compiled.written.iterations;
  const bool bounded = most_plain_ns_ != ~std::uint64_t{0};
  iterations_ = bounded ? 1 : all;
  while (true) {
    set_iterations(configuration.compiled, iterations_);
    const auto now = Clock::now();
    monitor_.deadline = now + std::chrono::nanoseconds(options_.max_wall_time_ns);
    // The run itself needs most of the wall time; a single launch may take all of it.
    const auto most = std::chrono::nanoseconds(
        bounded ? std::min(options_.max_wall_time_ns / 2, device_.type == device::DeviceType::cpu
                                                              ? ~std::uint64_t{0}
                                                              : std::uint64_t{2'000'000'000})
                : options_.max_wall_time_ns);
    engine::PlainRun plain = reference_->run(now + most);
    if (!plain.in_time) {
      return tl::unexpected(check_finished(runtime::RunStatus::deadline).error());
    }
    // The first run may include compilation, so a step is at most 8.
    const double room = static_cast<double>(most_plain_ns_) /
                        static_cast<double>(std::max<std::uint64_t>(plain.dispatch_ns, 1));
    const auto times = static_cast<std::uint32_t>(std::clamp(room, 1.0, 8.0));
    if (iterations_ >= all || times == 1) {
      return plain;
    }
    iterations_ = all / times < iterations_ ? all : iterations_ * times;
  }
}

Result<std::optional<std::size_t>> Workbench::add(const Settings& settings, std::uint64_t most_ns) {
  TIDEGATE_TRY(const bool begun, begin(settings));
  if (!begun) {
    return std::nullopt;
  }
  (void)built_by(Clock::time_point::max());
  return finish(most_ns);
}

runtime::DispatchOutcome Workbench::dispatch(std::size_t configuration, std::uint64_t most_ns) {
  return run(*configurations_[configuration], most_ns).outcome;
}

} // namespace tidegate::tuning
