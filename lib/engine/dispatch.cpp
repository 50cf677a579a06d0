// Runs a schedule on a device. A stage is shared (by persistent launches in bounded slices, or one launch), plain (the
// user's kernel), or plain between the exchanges of one of several ranks.
#include "engine/arena_run.hpp"
#include "engine/rank_exchange.hpp"
#include "wave/progress_state.h"

namespace tidegate::engine {

namespace {

template <class T>
device::Buffer upload_rows(const device::Session& session, const std::vector<T>& rows) {
  device::Buffer memory =
      session.allocate(std::max<std::uint64_t>(rows.size() * sizeof(T), sizeof(std::uint64_t)));
  session.write(memory, 0, std::as_bytes(std::span(rows)));
  return memory;
}

// Stages of the tables that a persistent launch runs: up to `stage_end`, of which some may repeat.
struct Rows {
  std::uint32_t stage_end = 0;
  std::uint32_t repeat_begin = 0;
  std::uint32_t repeat_end = 0;
};

// The positions of persistent launches count rows of the tables.
class Dispatcher {
public:
  using Clock = SliceLoop::Clock;

  Dispatcher(const RunContext& run, PlainWaves* plain, const Arena& arena, const DispatchLimits& limits)
      : session_(run.session), compiled_(run.compiled),
        kernel_(run.built.kernel ? &*run.built.kernel : nullptr), plain_(plain), arena_(arena),
        exchange_(run.exchange), limits_(limits), monitor_(run.monitor), budget_(limits.first_turns),
        times_(limits.trace_spans, Clock::now()), loop_(session_, monitor_, outcome_) {
    if (kernel_ == nullptr) {
      return;
    }
    stages_ = upload_rows(session_, tables_.stages);
    entries_ = upload_rows(session_, tables_.entries);
    waits_ = upload_rows(session_, tables_.waits);
    words_ = upload_rows(session_, tables_.words);
    counters_.emplace(session_, limits_.workers, monitor_);
    if (compiled_.persistent() && limits_.clock != runtime::DeviceClock::none) {
      span_room_ = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(limits_.trace_spans / limits_.workers, std::uint32_t{1} << 24U));
    }
    const std::size_t words =
        span_room_ == 0 ? TG_SPAN_COUNTS(std::size_t{limits_.workers}) : first_span(limits_.workers);
    progress_ = session_.allocate(words * sizeof(std::uint32_t));
    session_.clear(progress_, words * sizeof(std::uint32_t));
    session_.fill(progress_, TG_PROGRESS_SPAN_ROOM * sizeof(std::uint32_t), sizeof(std::uint32_t),
                  std::as_bytes(std::span(&span_room_, 1)));
  }

  DispatchOutcome run() {
    if (exchange_ != nullptr) {
      limits_.deadline = exchange_->begin(*plain_, arena_);
    }
    const auto start = Clock::now();
    const device::CallCounts calls_before = session_.calls()->now();
    batch_.settled_at = start;
    outcome_.ended_at = start;
    times_ = LaunchTimes(limits_.trace_spans, start);
    if (compiled_.persistent() && schedule_.is_one_launch()) {
      persistent({}, rows_until(tables_.stages.size()));
    } else {
      stage_by_stage();
    }
    if (monitor_.in_flight != 0 || exchange_ != nullptr) { // given up, or somewhere between other ranks
      outcome_.ended_at = Clock::now();
    }
    if (exchange_ != nullptr) {
      outcome_.traffic = exchange_->traffic();
    }
    outcome_.calls = session_.calls()->since(calls_before);
    completed(outcome_.reached.iteration);
    outcome_.compile_ns = plain_ == nullptr ? 0 : plain_->compile_ns();
    const std::uint64_t elapsed = elapsed_ns(start, outcome_.ended_at);
    outcome_.dispatch_ns = elapsed - std::min(elapsed, outcome_.compile_ns); // by the device's clock
    if (limits_.trace_spans != 0) {
      outcome_.trace = trace();
    }
    return std::move(outcome_);
  }

private:
  // Launches up to this row.
  [[nodiscard]] Rows rows_until(std::size_t end) const {
    return {.stage_end = static_cast<std::uint32_t>(end),
            .repeat_begin = schedule_.rows_before(schedule_.repeat_begin),
            .repeat_end = schedule_.rows_before(schedule_.repeat_end)};
  }

  // Slices from `position` on, until the last stage is done or time is up: false.
  bool persistent(Position position, const Rows& rows) {
    while (position.stage != rows.stage_end) {
      if (loop_.out_of_time(deadline()) || !slice(position, rows)) {
        return false;
      }
      if (position.stage != rows.stage_end && any_queue_failed()) { // at the end all is read anyway
        return false;
      }
    }
    return true;
  }

  void launch(const Position& position, const Rows& rows) {
    const std::array<const device::Buffer*, in_kernels::TG_MEMORY_COUNT> memory{
        &arena_.whole,        &stages_,   &entries_,           &waits_, &words_,
        &counters_->memory(), &progress_, &counters_->memory()};
    in_kernels::tg_numbers numbers = first_numbers(compiled_, limits_);
    numbers.stage_end = rows.stage_end;
    numbers.repeat_begin = rows.repeat_begin;
    numbers.repeat_end = rows.repeat_end;
    numbers.iteration = position.iteration;
    numbers.stage = position.stage;
    numbers.turn = position.turn;
    numbers.budget = static_cast<std::uint32_t>(std::min(budget_, most_budget / limits_.workers));
    numbers.arrivals = arrivals_;
    set_arguments(session_, *kernel_, tables_, memory, numbers_of(numbers));

    if (compiled_.strategy.strategy == Strategy::barrier) {
      counters_->clear_claims();
    }
    session_.launch(kernel_->kernel, device::work_groups(limits_.workers, schedule_.group_size),
                    times_.event({}, position.iteration));
  }

  bool slice(Position& position, const Rows& rows) {
    std::array<std::uint32_t, TG_PROGRESS_GROUPS> head{};
    const std::uint64_t elapsed = loop_.run(
        1, [&] { launch(position, rows); }, progress_, std::as_writable_bytes(std::span(head)));
    forget_batches();
    slices_.push_back({.begin_ticks = two_words(head, TG_PROGRESS_CLOCK_BEGIN),
                       .end_ticks = two_words(head, TG_PROGRESS_CLOCK_END)});
    if (!judge(head, position, rows)) {
      return false;
    }
    // Towards slices of the wanted length, not too fast: the next stages may be slower.
    const double wanted =
        static_cast<double>(limits_.slice_ns) / static_cast<double>(std::max<std::uint64_t>(elapsed, 1));
    constexpr double most_growth = 32;
    budget_ = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(static_cast<double>(budget_) * std::min(wanted, most_growth)), 1,
        most_budget);
    return true;
  }

  // Takes the position that a launch has reached; returns false if going on is useless.
  bool judge(std::span<const std::uint32_t> head, Position& position, const Rows& rows) {
    const Position reached{.iteration = head[TG_PROGRESS_ITERATION],
                           .stage = head[TG_PROGRESS_STAGE],
                           .turn = head[TG_PROGRESS_TURN]};
    const bool moved = reached != position || head[TG_PROGRESS_ARRIVALS] != arrivals_;
    if (!loop_.goes_on(head[TG_PROGRESS_STUCK] != 0, moved, deadline(), [this] { return stuck_groups(); })) {
      return false;
    }
    const bool at_end = reached.stage == rows.stage_end;
    (void)checked_index(reached.iteration, std::uint64_t{program_.iterations} + 1, "an iteration");
    (void)checked_index(reached.stage, std::uint64_t{rows.stage_end} + 1, "a stage");
    outcome_.reached = {.iteration = reached.iteration,
                        .stage = at_end ? schedule_.row_stages[reached.stage - 1] + 1
                                        : schedule_.row_stages[reached.stage],
                        .turn = reached.turn};
    monitor_.reach(outcome_.reached);
    completed(reached.iteration);
    outcome_.until_met |= head[TG_PROGRESS_FINISHED] != 0;
    position = reached;
    arrivals_ = head[TG_PROGRESS_ARRIVALS];
    return true;
  }

  // Returns the word at which the spans of a group begin.
  [[nodiscard]] std::size_t first_span(std::size_t group) const {
    return TG_SPANS(std::size_t{limits_.workers}) +
           group * span_room_ * sizeof(SpanRow) / sizeof(std::uint32_t);
  }

  // Returns the recorded spans in the host's time.
  [[nodiscard]] Trace trace() const {
    session_.finish();
    Trace trace{.launches = times_.spans(session_), .tasks = {}, .left_out = times_.left_out()};
    std::vector<SliceTimes> slices;
    for (const LaunchSpan& launch : trace.launches) {
      if (!launch.stage) {
        slices.push_back(slices_[slices.size()]);
        slices.back().begin_ns = launch.begin_ns;
        slices.back().end_ns = launch.end_ns;
      }
    }
    std::vector<std::uint32_t> counts(span_room_ == 0 ? 0 : limits_.workers);
    session_.read(progress_, TG_SPAN_COUNTS(std::size_t{limits_.workers}) * sizeof(std::uint32_t),
                  std::as_writable_bytes(std::span(counts)));
    std::vector<SpanRow> rows;
    for (std::uint32_t group = 0; group < counts.size(); ++group) {
      rows.resize(std::min<std::size_t>(counts[group], span_room_));
      trace.left_out += counts[group] - rows.size();
      session_.read(progress_, first_span(group) * sizeof(std::uint32_t),
                    std::as_writable_bytes(std::span(rows)));
      for (const SpanRow& row : rows) {
        checked_index(row.stage == TG_SPAN_UNTIL ? 0 : row.stage, tables_.stages.size(), "a stage");
      }
      const auto spans = task_spans(limits_.clock, slices, group, rows);
      trace.tasks.insert(trace.tasks.end(), spans.begin(), spans.end());
    }
    return trace;
  }

  // The groups that gave up waiting, as they report it.
  [[nodiscard]] std::vector<StuckGroup> stuck_groups() const {
    auto groups = read_stuck_groups(session_, progress_, TG_PROGRESS_GROUPS, limits_.workers);
    for (StuckGroup& stuck : groups) {
      if (stuck.stage < schedule_.row_stages.size()) {
        for (const std::uint32_t wave : schedule_.stages[schedule_.row_stages[stuck.stage]].waves) {
          stuck.waves.push_back(program_.wave_text(wave));
        }
      }
    }
    return groups;
  }

  // One launch after another, or persistent launches between the plain ones.
  void stage_by_stage() {
    if (!run_stages(0, schedule_.repeat_begin, 0)) {
      return;
    }
    std::uint32_t iteration = 0;
    if (compiled_.persistent() && schedule_.repeats_in_one_launch()) {
      const Rows repetition = rows_until(schedule_.rows_before(schedule_.repeat_end));
      if (!persistent({.stage = repetition.repeat_begin}, repetition)) {
        return;
      }
      iteration = outcome_.reached.iteration;
    } else if (!run_iterations(iteration)) {
      return;
    }
    if (run_stages(schedule_.repeat_end, schedule_.stages.size(), iteration) && monitor_.in_flight != 0) {
      loop_.finish();
      monitor_.reach(outcome_.reached);
    }
  }

  // Runs the repetition launch by launch; false when time is up.
  bool run_iterations(std::uint32_t& iteration) {
    while (iteration < program_.iterations && !outcome_.until_met) {
      if (!run_stages(schedule_.repeat_begin, schedule_.repeat_end, iteration)) {
        return false;
      }
      completed(++iteration);
      outcome_.until_met = program_.until && until_met(iteration % schedule_.phases());
      if (!outcome_.until_met && program_.until && loop_.out_of_time(deadline())) {
        return false;
      }
    }
    return true;
  }

  // Runs stages [begin, end) once, after this number of iterations; returns false when time is up.
  bool run_stages(std::size_t begin, std::size_t end, std::uint32_t iteration) {
    std::uint32_t row = schedule_.rows_before(begin);
    for (std::size_t i = begin; i < end; ++i) {
      const Stage& stage = schedule_.stages[i];
      if (stage.plain) {
        launch_plain(i, iteration);
        if (outcome_.status != RunStatus::done) {
          return false; // the stage has not ended
        }
        launched(i, iteration);
        monitor_.deadline = deadline();
      } else if (!compiled_.persistent()) {
        launch_stage(row++, iteration, times_.event(static_cast<std::uint32_t>(i), iteration));
        launched(i, iteration);
      } else {
        std::uint32_t row_end = row + 1;
        for (; i + 1 < end && !schedule_.stages[i + 1].plain; ++i) {
          ++row_end;
        }
        if (!persistent({.iteration = iteration, .stage = row, .turn = 0}, {.stage_end = row_end})) {
          return false;
        }
        row = row_end;
        launched(i, iteration);
      }
      if (!settle()) {
        return false;
      }
    }
    return true;
  }

  // Sets the outcome if the wave has not ended as it should.
  void launch_plain(std::size_t stage, std::uint32_t iteration) {
    const std::uint32_t wave = schedule_.stages[stage].waves.front();
    if (exchange_ != nullptr) {
      outcome_.status = exchange_->run(wave, iteration, deadline(), [this] { all_have_ended(); });
      return;
    }
    ++monitor_.in_flight; // before: the first launch on a CPU is waited for
    if (!plain_->launch(wave, iteration, deadline(),
                        [&] { return times_.event(static_cast<std::uint32_t>(stage), iteration); }) &&
        !loop_.out_of_time(deadline())) {
      outcome_.status = RunStatus::queue_failed;
    }
  }

  void launch_stage(std::size_t row, std::uint32_t iteration, device::Event* event) {
    const std::uint64_t first = std::uint64_t{iteration % schedule_.phases()} * tables_.entries_per_phase +
                                tables_.stages[row].first_entry;
    const std::array<const device::Buffer*, 3> memory{&arena_.whole, &entries_, &words_};
    set_arguments(session_, *kernel_, tables_, memory,
                  std::array{static_cast<std::uint32_t>(first), iteration});
    session_.launch(kernel_->kernel, device::work_groups(tables_.stages[row].tiles, schedule_.group_size),
                    event);
    ++monitor_.in_flight;
  }

  // The run has come to the end of a stage, once the launches under way have ended.
  void launched(std::size_t stage, std::uint32_t iteration) {
    const auto next = static_cast<std::uint32_t>(stage + 1);
    const bool last = schedule_.repeats(stage) && next == schedule_.repeat_end;
    outcome_.reached = last ? Position{.iteration = iteration + 1,
                                       .stage = static_cast<std::uint32_t>(schedule_.repeat_begin)}
                            : Position{.iteration = iteration, .stage = next};
  }

  // After a wait for all launches.
  void forget_batches() {
    batch_.launches_before = 0;
    batch_.end = {};
  }

  void all_have_ended() {
    monitor_.in_flight = 0;
    monitor_.reach(outcome_.reached);
    forget_batches();
  }

  // Waits for the device when enough is under way, and says whether there is time for more. It waits for the batch before
  // the last one, so that the device never runs out of launches.
  bool settle() {
    const std::uint64_t in_batch = monitor_.in_flight - batch_.launches_before;
    if (in_batch < batch_.size) {
      return true;
    }
    const device::Event awaited = std::exchange(batch_.end, session_.mark());
    session_.flush();
    const Position reached = std::exchange(batch_.end_at, outcome_.reached);
    batch_.launches_before = in_batch;
    if (!awaited) {
      return true;
    }
    session_.wait(awaited);
    monitor_.reach(reached);
    monitor_.in_flight = in_batch;
    outcome_.ended_at = Clock::now();
    const std::uint64_t elapsed = elapsed_ns(batch_.settled_at, outcome_.ended_at);
    batch_.settled_at = outcome_.ended_at;
    constexpr std::uint64_t most_batch = 8192;
    batch_.size = next_batch(batch_.size, elapsed, limits_.slice_ns, 4, most_batch);
    return !loop_.out_of_time(deadline()) && !any_queue_failed();
  }

  // Returns true if a queue has failed; then the run ends, because later waves would read its results.
  bool any_queue_failed() {
    const bool failed = engine::any_queue_failed(session_, program_, arena_);
    outcome_.status = failed ? RunStatus::queue_failed : outcome_.status;
    return failed;
  }

  // The compile time of first launches does not count as wall time.
  [[nodiscard]] Clock::time_point deadline() const {
    return limits_.deadline + std::chrono::nanoseconds(plain_ == nullptr ? 0 : plain_->compile_ns());
  }

  void completed(std::uint64_t iterations) {
    outcome_.iterations = iterations;
    monitor_.iterations = iterations;
  }

  bool until_met(std::uint32_t phase) {
    std::vector<std::byte> value(program_.until->value.size());
    const DevicePart& part = arena_.parts[schedule_.storage[phase][program_.until->buffer]];
    if (exchange_ != nullptr) {
      exchange_->decide(part, value);
    } else {
      session_.read(part.memory, part.offset, value);
    }
    outcome_.ended_at = Clock::now();
    all_have_ended();
    return same_value(program_, value);
  }

  const device::Session& session_;
  const CompiledProgram& compiled_;
  const Job& program_ = compiled_.program;
  const Schedule& schedule_ = compiled_.schedule;
  const LaunchTables& tables_ = compiled_.tables;
  BuiltKernel* const kernel_; // null when every stage is plain
  PlainWaves* const plain_;
  const Arena& arena_;
  RankExchange* const exchange_; // null: this process runs all of the program
  DispatchLimits limits_;
  Monitor& monitor_;

  // Most turns of a slice, of all work-groups together: counters are compared by their difference.
  static constexpr std::uint64_t most_budget = std::uint64_t{1} << 30U;

  device::Buffer stages_, entries_, waits_, words_; // the tables in device memory
  device::Buffer progress_;
  std::optional<Counters> counters_; // where there is a kernel
  std::uint32_t arrivals_ = 0;       // at the barrier, so far
  std::uint64_t budget_;             // turns of the next slice
  struct {
    // Launches between two waits of the host. The first ones show how long a launch takes: what is queued cannot be
    // stopped at the deadline.
    std::uint64_t size = 1;
    device::Event end; // of the last one, if it was not waited for
    Position end_at;
    std::uint64_t launches_before = 0; // of those under way
    Clock::time_point settled_at;
  } batch_;
  std::uint32_t span_room_ = 0; // spans that are kept of a work-group
  LaunchTimes times_;
  std::vector<SliceTimes> slices_; // by the device's clock alone
  DispatchOutcome outcome_;
  SliceLoop loop_;
};

} // namespace

std::function<DispatchOutcome()> prepare_dispatch(const RunContext& run, PlainWaves* plain,
                                                  const Arena& arena, const DispatchLimits& limits) {
  return [dispatcher = std::make_shared<Dispatcher>(run, plain, arena, limits)] { return dispatcher->run(); };
}

} // namespace tidegate::engine
