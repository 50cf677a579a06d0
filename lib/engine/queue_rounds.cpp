#include "engine/queue_rounds.hpp"

#include "core/interrupt.hpp"
#include "engine/device_memory.hpp"
#include <tidegate/core/text.hpp>

namespace tidegate::engine {

#include "wave/queue_state.h"

namespace {

using device::require;

// The reference has more room than the queue, because its items run in another order.
constexpr std::uint32_t reference_room = 4;
constexpr std::uint32_t most_reference_items = 1U << 26U;
constexpr std::uint32_t reference_items_per_launch = 65536;

std::uint32_t read_word(const device::Session& session, const device::Buffer& memory, std::uint64_t offset,
                        std::size_t word) {
  std::uint32_t value = 0;
  download(session, memory, offset + word * sizeof value, std::as_writable_bytes(std::span(&value, 1)));
  return value;
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
                       .accounting = {.requeue_count = two_words(state, TG_QUEUE_REQUEUES),
                                      .aged_promotions = two_words(state, TG_QUEUE_AGED),
                                      .max_priority_age = state[TG_QUEUE_MAX_AGE]},
                       .failure = {}};
  if (queue.requeues || queue.publishes) {
    const auto priorities = state.subspan(TG_QUEUE_WAITING, TG_QUEUE_PRIORITIES);
    const std::uint64_t waiting =
        outcome.under_way ? std::accumulate(priorities.begin(), priorities.end(), std::uint64_t{0}) : 0;
    outcome.items_remaining =
        waiting + (queue.publishes || !outcome.under_way ? state[TG_QUEUE_REMAINING] : 0);
  }
  if (queue.publishes) {
    outcome.counts = {.published = two_words(state, TG_QUEUE_PUBLISHED),
                      .executed = two_words(state, TG_QUEUE_EXECUTED),
                      .deduped = two_words(state, TG_QUEUE_DEDUPED),
                      .needed_capacity = std::max(state[TG_QUEUE_DEEPEST], state[TG_QUEUE_MOST_KEPT])};
  }
  const bool faulted = state[TG_QUEUE_FAULT] != 0;
  if (!faulted && state[TG_QUEUE_END] == TG_QUEUE_DRAINED) {
    return outcome;
  }
  QueueFailure& failure = outcome.failure.emplace();
  failure.code = faulted                                ? ErrorCode::queue_fault
                 : state[TG_QUEUE_END] != TG_QUEUE_FULL ? ErrorCode::queue_stalled
                 : queue.publishes                      ? ErrorCode::publish_queue_full
                                                        : ErrorCode::requeue_queue_full;
  failure.result = faulted ? state[TG_QUEUE_FAULT_RESULT] : 0;
  const std::uint32_t place = state[faulted ? TG_QUEUE_FAULT_PLACE : TG_QUEUE_LAST_REQUEUED];
  if (queue.publishes) {
    failure.published = unpacked_item(place, state[faulted ? TG_QUEUE_FAULT_PARAM : TG_QUEUE_LAST_PARAM]);
    failure.needed_capacity = faulted ? 0 : outcome.counts->needed_capacity;
  } else {
    failure.item = queue.item_at(static_cast<std::uint32_t>(checked_index(
        place, queue.published.empty() ? queue.items.size() : queue.published.size(), "an item of a queue")));
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
      reports.push_back({.index = wave,
                         .wave = program.wave_text(wave),
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
  report.accounting = outcome.accounting;
  report.publishing = outcome.counts;
  if (report.publishing) {
    report.publishing->capacity = program.waves[outcome.wave].rounds->capacity;
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
    const DevicePart& state = arena_.parts[*program_.waves[wave].state];
    return read_word(session_, state.memory, state.offset, TG_QUEUE_FAULT) != 0 ||
           read_word(session_, state.memory, state.offset, TG_QUEUE_END) != TG_QUEUE_DRAINED;
  });
}

std::vector<QueueOutcome> QueueStates::read() const {
  std::vector<QueueOutcome> outcomes;
  for (const std::uint32_t wave : waves_) {
    std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
    const DevicePart& part = arena_.parts[*program_.waves[wave].state];
    download(session_, part.memory, part.offset, std::as_writable_bytes(std::span(state)));
    outcomes.push_back(queue_outcome(program_, wave, state));
  }
  return outcomes;
}

QueueRounds::QueueRounds(const RoundsContext& context, std::uint32_t wave,
                         const std::vector<device::Buffer>& memory, QueueWay way)
    : context_(context), spec_(context.program.waves[wave]), text_(context.program.wave_text(wave)),
      checks_(way != QueueWay::drain), publishes_(checks_ && spec_.queue->publishes) {
  const device::Session& session = context.session;
  const ProgramQueue& queue = *spec_.queue;
  std::uint32_t index = 0; // of the next argument
  const auto object = [&](const device::Kernel& kernel, const device::Buffer& buffer) {
    require(session.set_object(kernel, index, buffer),
            fmt::format("setting argument {} of {}", index, text_));
    ++index;
  };
  const auto number = [&](const device::Kernel& kernel, std::uint32_t value) {
    require(session.set_value(kernel, index, value), fmt::format("setting argument {} of {}", index, text_));
    ++index;
  };
  if (!checks_) {
    state_ = memory[*spec_.state];
    drain_ = context.programs.kernel(spec_.op);
    for (const ProgramArgument& argument : spec_.arguments) {
      object(drain_, memory[argument.buffer]);
    }
    if (spec_.in_rounds()) {
      turn_ = context.programs.kernel(turn_op(spec_));
      index = 0;
      object(turn_, state_);
      number(turn_, spec_.rounds->age_threshold);
      number(turn_, spec_.rounds->most_stalled_rounds);
      number(turn_, spec_.rounds->capacity);
    }
    return;
  }
  check_ = context.programs.kernel(check_op(spec_));
  state_ = allocate(session, TG_QUEUE_WORDS * sizeof(std::uint32_t));
  auto items = static_cast<std::uint32_t>(queue.items.size());
  if (publishes_) {
    items = std::bit_ceil(std::min(spec_.rounds->capacity, most_reference_items) * reference_room);
    items_ = allocate(session, std::uint64_t{items} * 2 * sizeof(std::uint32_t));
    seen_ = allocate(session, queue.seen_bytes);
  } else {
    items_ = allocate(session, queue.items.size() * sizeof(QueueItem));
    upload(session, items_, 0, std::as_bytes(std::span(queue.items)));
    closed_ = allocate(session, queue.items.size() * sizeof(std::uint32_t));
  }
  object(check_, items_);
  number(check_, items);
  number(check_, way == QueueWay::reversed ? 1 : 0);
  object(check_, publishes_ ? state_ : closed_);
  object(check_, publishes_ ? seen_ : state_);
  if (publishes_) {
    number(check_, reference_items_per_launch);
  }
  for (const ProgramArgument& argument : spec_.users_arguments()) {
    object(check_, memory[argument.buffer]);
  }
}

void QueueRounds::launch(const device::Kernel& kernel, std::uint32_t op, std::size_t items, std::size_t lanes,
                         device::Event* event) {
  require(context_.launcher.launch(kernel, {.global = {items}, .local = {lanes}}, op, text_, event),
          "launching " + text_);
}

bool QueueRounds::run(Clock::time_point deadline, const NextEvent& event) {
  const device::Session& session = context_.session;
  const ProgramQueue& queue = *spec_.queue;
  const std::uint64_t compiled_before = context_.launcher.compile_ns(); // this does not count as wall time
  std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
  std::uint64_t most_rounds = ~std::uint64_t{0};
  if (publishes_) {
    std::fill_n(state.begin() + TG_QUEUE_TAILS, TG_QUEUE_PRIORITIES, *spec_.listed_items);
    upload(session, items_, 0, std::as_bytes(std::span(queue.seeds)));
    upload(session, state_, 0, std::as_bytes(std::span(state)));
    require(session.clear(seen_, queue.seen_bytes), "clearing the items that were seen");
  } else if (checks_) {
    if (queue.items.empty()) {
      return true;
    }
    require(session.clear(closed_, queue.items.size() * sizeof(std::uint32_t)), "clearing the items' marks");
    most_rounds = spec_.rounds ? std::uint64_t{spec_.rounds->most_stalled_rounds} + 1 : 1;
  }
  for (std::uint64_t round = 0; round < most_rounds; ++round) {
    if (publishes_) {
      launch(check_, check_op(spec_), 1, 1, event());
    } else if (checks_) {
      require(session.clear(state_, TG_QUEUE_WORDS * sizeof(std::uint32_t)), "clearing the state of a queue");
      const std::size_t lanes = 64;
      launch(check_, check_op(spec_), (queue.items.size() + lanes - 1) / lanes * lanes, lanes, event());
      if (!spec_.rounds) {
        return true; // the run that this one proves reports failures
      }
    } else {
      launch(drain_, spec_.op, spec_.range.global[0], spec_.range.local[0], event());
      launch(turn_, turn_op(spec_), 1, 1, event());
    }
    download(session, state_, 0, std::as_writable_bytes(std::span(state)));
    const bool full = state[TG_QUEUE_END] != TG_QUEUE_DRAINED;
    if (checks_ && (state[TG_QUEUE_FAULT] != 0 || (publishes_ && full))) {
      QueueFailure failure{.code =
                               publishes_ && full ? ErrorCode::publish_queue_full : ErrorCode::queue_fault,
                           .item = state[TG_QUEUE_FAULT_PLACE],
                           .result = state[TG_QUEUE_FAULT_RESULT],
                           .needed_capacity = state[TG_QUEUE_DEEPEST] / reference_room};
      if (publishes_) {
        failure.published = unpacked_item(state[TG_QUEUE_FAULT_PLACE], state[TG_QUEUE_FAULT_PARAM]);
      }
      throw device::Refused{queue_error(
          context_.program, static_cast<std::uint32_t>(&spec_ - context_.program.waves.data()), failure)};
    }
    if (state[TG_QUEUE_MORE] == 0) {
      return checks_ || !full;
    }
    if (InterruptWatch::interrupted() ||
        Clock::now() >=
            deadline + std::chrono::nanoseconds(context_.launcher.compile_ns() - compiled_before)) {
      return false;
    }
  }
  return false;
}

} // namespace tidegate::engine
