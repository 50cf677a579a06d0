#include "engine/queue_rounds.hpp"

#include "core/interrupt.hpp"
#include "engine/device_memory.hpp"
#include <tidegate/core/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace tidegate::engine {

#include "wave/queue_state.h"

namespace {

using device::require;

// The reference has more room than the queue, because its items run in another order.
constexpr std::uint32_t reference_room = 4;
constexpr std::uint32_t most_reference_items = 1U << 26U;
constexpr std::uint32_t reference_items_per_launch = 65536;

std::uint64_t long_word(std::span<const std::uint32_t> state, std::size_t at) {
  return state[at] | std::uint64_t{state[at + 1]} << 32U;
}

std::uint32_t read_word(const device::Session& session, const device::Buffer& memory, std::uint64_t offset,
                        std::size_t word) {
  std::uint32_t value = 0;
  download(session, memory, offset + word * sizeof value, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

// Adds what only a queue has whose ops publish.
void add_publishing(QueueOutcome& outcome, std::span<const std::uint32_t> state) {
  const auto waiting = state.subspan(TG_QUEUE_WAITING, TG_QUEUE_PRIORITIES);
  outcome.items_remaining = state[TG_QUEUE_REMAINING];
  if (state[TG_QUEUE_MORE] != 0) {
    outcome.items_remaining += std::accumulate(waiting.begin(), waiting.end(), std::uint64_t{0});
  }
  outcome.counts = {.given = long_word(state, TG_QUEUE_GIVEN),
                    .published = long_word(state, TG_QUEUE_PUBLISHED),
                    .executed = long_word(state, TG_QUEUE_EXECUTED),
                    .deduped = long_word(state, TG_QUEUE_DEDUPED),
                    .needed_capacity = std::max(state[TG_QUEUE_DEEPEST], state[TG_QUEUE_MOST_KEPT])};
  if (state[TG_QUEUE_FAULT] != 0) {
    outcome.failure =
        QueueFailure{.code = ErrorCode::queue_fault,
                     .published = unpacked_item(state[TG_QUEUE_FAULT_PLACE], state[TG_QUEUE_FAULT_PARAM]),
                     .result = state[TG_QUEUE_FAULT_RESULT]};
  } else if (state[TG_QUEUE_END] != TG_QUEUE_DRAINED) {
    outcome.failure =
        QueueFailure{.code = state[TG_QUEUE_END] == TG_QUEUE_FULL ? ErrorCode::publish_queue_full
                                                                  : ErrorCode::queue_stalled,
                     .published = unpacked_item(state[TG_QUEUE_LAST_REQUEUED], state[TG_QUEUE_LAST_PARAM]),
                     .needed_capacity = outcome.counts->needed_capacity};
  }
}

} // namespace

bool Job::publishes() const {
  return std::ranges::any_of(waves,
                             [](const ProgramWave& wave) { return wave.queue && wave.queue->publishes; });
}

QueueOutcome queue_outcome(const Job& program, std::uint32_t wave, std::span<const std::uint32_t> state) {
  const ProgramQueue& queue = *program.waves[wave].queue;
  QueueOutcome outcome{.wave = wave,
                       .items_remaining = state[TG_QUEUE_FAULTS],
                       .under_way = state[TG_QUEUE_MORE] != 0,
                       .rounds = state[TG_QUEUE_ROUNDS],
                       .accounting = {.requeue_count = long_word(state, TG_QUEUE_REQUEUES),
                                      .aged_promotions = long_word(state, TG_QUEUE_AGED),
                                      .max_priority_age = state[TG_QUEUE_MAX_AGE]},
                       .failure = {}};
  if (queue.requeues) {
    const auto waiting = state.subspan(TG_QUEUE_WAITING, TG_QUEUE_PRIORITIES);
    outcome.items_remaining = state[TG_QUEUE_MORE] != 0
                                  ? std::accumulate(waiting.begin(), waiting.end(), std::uint64_t{0})
                                  : state[TG_QUEUE_REMAINING];
  }
  if (queue.publishes) {
    add_publishing(outcome, state);
    return outcome;
  }
  const auto item = [&](std::size_t word) {
    return queue.item_at(static_cast<std::uint32_t>(
        checked_index(state[word], queue.published.empty() ? queue.items.size() : queue.published.size(),
                      "an item of a queue")));
  };
  if (state[TG_QUEUE_FAULT] != 0) {
    outcome.failure = QueueFailure{.code = ErrorCode::queue_fault,
                                   .item = item(TG_QUEUE_FAULT_PLACE),
                                   .result = state[TG_QUEUE_FAULT_RESULT]};
  } else if (state[TG_QUEUE_END] != TG_QUEUE_DRAINED) {
    outcome.failure =
        QueueFailure{.code = state[TG_QUEUE_END] == TG_QUEUE_FULL ? ErrorCode::requeue_queue_full
                                                                  : ErrorCode::queue_stalled,
                     .item = item(TG_QUEUE_LAST_REQUEUED)};
  }
  return outcome;
}

Error queue_error(const Job& program, std::uint32_t wave, const QueueFailure& failure) {
  const ProgramQueue& queue = *program.waves[wave].queue;
  const QueueItem& item =
      failure.published ? *failure.published
                        : queue.items[checked_index(failure.item, queue.items.size(), "an item of a queue")];
  const std::string what = fmt::format(
      "{} of {}, op {} from buffer {} to {} with param {},",
      failure.published ? "an item" : fmt::format("item {}", failure.item), program.wave_text(wave),
      in_quotes(queue.op_names[checked_index(item.op_handle, queue.op_names.size(), "an op")]),
      item.input_handle, item.output_handle, item.param);
  Error error{.code = failure.code, .pointer = program.wave_pointer(wave) + "/queue", .wave = wave};
  switch (failure.code) {
  case ErrorCode::queue_stalled:
    error.message = fmt::format("{} waits for what does not come: no item was done in {}", what,
                                plural(program.waves[wave].rounds->most_stalled_rounds, "round"));
    error.fix =
        "look at what the op waits for, or give the queue more most_stalled_rounds; no output was written";
    break;
  case ErrorCode::requeue_queue_full:
    error.message = fmt::format("{} is one of more than {} that wait requeued", what,
                                plural(program.waves[wave].rounds->capacity, "item"));
    error.fix = "give the queue more capacity, or leave it out; no output was written";
    break;
  case ErrorCode::publish_queue_full:
    error.message = fmt::format("the queue of {} has a capacity of {} and needed {} when it ended",
                                program.wave_text(wave), plural(program.waves[wave].rounds->capacity, "item"),
                                failure.needed_capacity);
    error.fix =
        failure.needed_capacity <= most_queue_capacity
            ? fmt::format(R"(give it a capacity of {} or more, or "on_full": "grow"; no output was written)",
                          failure.needed_capacity)
            : fmt::format("a queue holds {} at most: let ops publish fewer at a time; no output was written",
                          most_queue_capacity);
    break;
  default:
    if ((failure.result & TG_QUEUE_FAULT_BIT) != 0) {
      error.message = fmt::format("{} failed with code {}", what, failure.result & ~TG_QUEUE_FAULT_BIT);
      error.fix = "look at where the op returns that TIDEGATE_FAULT; no output was written";
    } else {
      error.message = fmt::format("{} returned {}, which is {}", what, failure.result,
                                  failure.result == TIDEGATE_REQUEUE ? "TIDEGATE_REQUEUE without its name"
                                                                     : "not a result of a queue op");
      error.fix = "return TIDEGATE_DONE, TIDEGATE_REQUEUE or TIDEGATE_FAULT(code); no output was written";
    }
  }
  return error;
}

std::vector<QueueReport> queues_before(const Job& program) {
  std::vector<QueueReport> reports;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    if (const auto& queue = program.waves[wave].queue) {
      reports.push_back({.wave = program.wave_text(wave),
                         .items = queue->items.size(),
                         .deduped_items = queue->deduped_items,
                         .published_items = *program.waves[wave].listed_items,
                         .requeues = queue->requeues,
                         .publishing = {}});
    }
  }
  return reports;
}

void report_queue(const Job& program, const QueueOutcome& outcome, QueueReport& report) {
  report.rounds = outcome.rounds;
  report.requeue_count = outcome.accounting.requeue_count;
  report.aged_promotions = outcome.accounting.aged_promotions;
  report.max_priority_age = outcome.accounting.max_priority_age;
  if (outcome.counts) {
    report.publishing = PublishingReport{.given_items = outcome.counts->given,
                                         .published_items = outcome.counts->published,
                                         .executed_items = outcome.counts->executed,
                                         .deduped_items = outcome.counts->deduped,
                                         .capacity = program.waves[outcome.wave].rounds->capacity,
                                         .needed_capacity = outcome.counts->needed_capacity,
                                         .grown_from = {}};
  }
}

QueueStates::QueueStates(const device::Session& session, const Job& program, const Arena& arena)
    : session_(session), program_(program), arena_(arena) {
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    if (program.waves[wave].state) {
      waves_.push_back(wave);
    }
  }
}

bool QueueStates::any_failed() const {
  return std::ranges::any_of(waves_, [this](std::uint32_t wave) {
    const Arena::Part& state = arena_.parts[*program_.waves[wave].state];
    return read_word(session_, state.memory, state.offset, TG_QUEUE_FAULT) != 0 ||
           read_word(session_, state.memory, state.offset, TG_QUEUE_END) != TG_QUEUE_DRAINED;
  });
}

std::vector<QueueOutcome> QueueStates::read() const {
  std::vector<QueueOutcome> outcomes;
  for (const std::uint32_t wave : waves_) {
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    const Arena::Part& part = arena_.parts[*program_.waves[wave].state];
    download(session_, part.memory, part.offset, std::as_writable_bytes(std::span(state)));
    outcomes.push_back(queue_outcome(program_, wave, state));
  }
  return outcomes;
}

QueueRounds::QueueRounds(const device::Session& session, const PlainPrograms& programs, const Job& program,
                         std::uint32_t wave, const std::vector<device::Buffer>& memory, QueueWay way)
    : session_(session), program_(program), wave_(wave), way_(way) {
  const ProgramWave& spec = program.waves[wave];
  const ProgramQueue& queue = *spec.queue;
  if (checks()) {
    check_ = programs.kernel(check_op(spec));
    require(session.set_value(check_, 2, way == QueueWay::reversed ? 1U : 0U), "setting the order of items");
    if (queue.publishes) {
      const std::uint32_t room =
          std::bit_ceil(std::min(spec.rounds->capacity, most_reference_items) * reference_room);
      items_ = allocate(session, std::uint64_t{room} * 2 * sizeof(std::uint32_t));
      seen_ = allocate(session, queue.seen_bytes);
      state_ = allocate(session, TG_QUEUE_WORDS * sizeof(std::uint32_t));
      set(check_, 0, items_);
      require(session.set_value(check_, 1, room), "setting the room for items");
      set(check_, 3, state_);
      set(check_, 4, seen_);
      require(session.set_value(check_, 5, reference_items_per_launch), "setting the number of items");
      for (std::uint32_t i = spec.own_arguments; i < spec.arguments.size(); ++i) {
        set(check_, 6 + i - spec.own_arguments, memory[spec.arguments[i].buffer]);
      }
      return;
    }
    items_ = allocate(session, queue.items.size() * sizeof(QueueItem));
    if (!queue.items.empty()) {
      upload(session, items_, 0, std::as_bytes(std::span(queue.items)));
    }
    closed_ = allocate(session, queue.items.size() * sizeof(std::uint32_t));
    state_ = allocate(session, TG_QUEUE_WORDS * sizeof(std::uint32_t));
    set(check_, 0, items_);
    require(session.set_value(check_, 1, static_cast<std::uint32_t>(queue.items.size())),
            "setting the number of items");
    set(check_, 3, closed_);
    set(check_, 4, state_);
    for (std::uint32_t i = spec.own_arguments; i < spec.arguments.size(); ++i) {
      set(check_, 5 + i - spec.own_arguments, memory[spec.arguments[i].buffer]);
    }
    return;
  }
  state_ = memory[*spec.state];
  drain_ = programs.kernel(spec.op);
  for (std::uint32_t i = 0; i < spec.arguments.size(); ++i) {
    set(drain_, i, memory[spec.arguments[i].buffer]);
  }
  if (spec.in_rounds()) {
    turn_ = programs.kernel(turn_op(spec));
    set(turn_, 0, state_);
    require(session.set_value(turn_, 1, spec.rounds->age_threshold), "setting the age threshold");
    require(session.set_value(turn_, 2, spec.rounds->most_stalled_rounds),
            "setting the rounds without progress");
    require(session.set_value(turn_, 3, spec.rounds->capacity), "setting the capacity");
  }
}

void QueueRounds::set(const device::Kernel& kernel, std::uint32_t index, const device::Buffer& memory) {
  require(session_.set_object(kernel, index, memory),
          fmt::format("setting argument {} of {}", index, program_.wave_text(wave_)));
}

void QueueRounds::launch(const device::Kernel& kernel, std::size_t items, std::size_t lanes,
                         device::Event* event) {
  const bool first = session_.on_host && compiled_.insert(kernel.of.get()).second;
  device::Event launched;
  event = first && event == nullptr ? &launched : event;
  if (first) {
    require(session_.finish(), "running the waves before " + program_.wave_text(wave_));
  }
  require(session_.launch(kernel, {.global = {items}, .local = {lanes}}, event),
          "launching " + program_.wave_text(wave_));
  compile_ns_ += first ? device::time_before_start(session_, *event) : 0;
}

// Compilation in first launches does not count as wall time.
bool QueueRounds::out_of_time(Clock::time_point deadline) const {
  return InterruptWatch::interrupted() ||
         Clock::now() >= deadline + std::chrono::nanoseconds(compile_ns_ - compile_ns_before_);
}

bool QueueRounds::run(Clock::time_point deadline, device::Event* event) {
  compile_ns_before_ = compile_ns_;
  return !checks()                                ? drain(deadline, event)
         : program_.waves[wave_].queue->publishes ? check_publishing(deadline, event)
                                                  : check(deadline, event);
}

bool QueueRounds::drain(Clock::time_point deadline, device::Event* event) {
  while (true) {
    const NdRange& range = program_.waves[wave_].range;
    launch(drain_, range.global[0], range.local[0], std::exchange(event, nullptr));
    launch(turn_, 1, 1, nullptr);
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    download(session_, state_, 0, std::as_writable_bytes(std::span(state)));
    if (state[TG_QUEUE_MORE] == 0) {
      return state[TG_QUEUE_END] == TG_QUEUE_DRAINED;
    }
    if (out_of_time(deadline)) {
      return false;
    }
  }
}

bool QueueRounds::check(Clock::time_point deadline, device::Event* event) {
  const ProgramQueue& queue = *program_.waves[wave_].queue;
  if (queue.items.empty()) {
    return true;
  }
  require(session_.clear(closed_, queue.items.size() * sizeof(std::uint32_t)), "clearing the items' marks");
  const std::optional<Rounds>& rounds = program_.waves[wave_].rounds;
  for (std::uint32_t round = 0; round <= (rounds ? rounds->most_stalled_rounds : 0); ++round) {
    require(session_.clear(state_, TG_QUEUE_WORDS * sizeof(std::uint32_t)), "clearing the state of a queue");
    const std::size_t lanes = 64;
    launch(check_, (queue.items.size() + lanes - 1) / lanes * lanes, lanes, std::exchange(event, nullptr));
    if (!rounds) {
      return true; // the run that this one proves reports failures
    }
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    download(session_, state_, 0, std::as_writable_bytes(std::span(state)));
    if (state[TG_QUEUE_FAULT] != 0) {
      throw device::Refused{queue_error(program_, wave_,
                                        {.code = ErrorCode::queue_fault,
                                         .item = state[TG_QUEUE_FAULT_PLACE],
                                         .result = state[TG_QUEUE_FAULT_RESULT]})};
    }
    if (state[TG_QUEUE_MORE] == 0) {
      return true;
    }
    if (out_of_time(deadline)) {
      return false;
    }
  }
  return false;
}

bool QueueRounds::check_publishing(Clock::time_point deadline, device::Event* event) {
  const ProgramQueue& queue = *program_.waves[wave_].queue;
  std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
  std::fill_n(state.begin() + TG_QUEUE_TAILS, TG_QUEUE_PRIORITIES, *program_.waves[wave_].listed_items);
  if (!queue.seeds.empty()) {
    upload(session_, items_, 0, std::as_bytes(std::span(queue.seeds)));
  }
  upload(session_, state_, 0, std::as_bytes(std::span(state)));
  require(session_.clear(seen_, queue.seen_bytes), "clearing the items that were seen");
  while (true) {
    launch(check_, 1, 1, std::exchange(event, nullptr));
    download(session_, state_, 0, std::as_writable_bytes(std::span(state)));
    const bool full = state[TG_QUEUE_END] != TG_QUEUE_DRAINED;
    if (full || state[TG_QUEUE_FAULT] != 0) {
      throw device::Refused{
          queue_error(program_, wave_,
                      {.code = full ? ErrorCode::publish_queue_full : ErrorCode::queue_fault,
                       .published = unpacked_item(state[TG_QUEUE_FAULT_PLACE], state[TG_QUEUE_FAULT_PARAM]),
                       .result = state[TG_QUEUE_FAULT_RESULT],
                       .needed_capacity = state[TG_QUEUE_DEEPEST] / reference_room})};
    }
    if (state[TG_QUEUE_MORE] == 0) {
      return true;
    }
    if (out_of_time(deadline)) {
      return false;
    }
  }
}

} // namespace tidegate::engine
