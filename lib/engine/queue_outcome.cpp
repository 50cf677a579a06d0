#include "engine/queue_outcome.hpp"

namespace tidegate::engine {

#include "wave/queue_state.h"

namespace {

// Reads the state of a wave that has one.
std::vector<std::uint32_t> read_state(const device::Session& session, const Arena& arena,
                                      const ProgramWave& wave) {
  std::vector<std::uint32_t> state(TG_QUEUE_WORDS);
  const DevicePart& part = arena.parts[*wave.state];
  session.read(part.memory, part.offset, std::as_writable_bytes(std::span(state)));
  return state;
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
    outcome.items_remaining = waiting + state[TG_QUEUE_REMAINING];
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
  failure.item = unpacked_item(state[faulted ? TG_QUEUE_FAULT_ITEM : TG_QUEUE_LAST_REQUEUED],
                               state[faulted ? TG_QUEUE_FAULT_PARAM : TG_QUEUE_LAST_PARAM]);
  checked_index(failure.item.op_handle, queue.op_names.size(), "an op"); // which the report names
  failure.needed_capacity = queue.publishes && !faulted ? outcome.counts->needed_capacity : 0;
  return outcome;
}

Error queue_error(const Job& program, std::uint32_t wave, const QueueFailure& failure) {
  const ProgramQueue& queue = *program.waves[wave].queue;
  const QueueItem& item = failure.item;
  const auto given = std::ranges::find(queue.items, item);
  const std::string what = fmt::format(
      "{} of {}, op {} from buffer {} to {} with param {},",
      queue.publishes || given == queue.items.end() ? "an item"
                                                    : fmt::format("item {}", given - queue.items.begin()),
      program.wave_text(wave),
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

bool any_queue_failed(const device::Session& session, const Job& program, const Arena& arena) {
  return std::ranges::any_of(program.waves, [&](const ProgramWave& wave) {
    if (!wave.state) {
      return false;
    }
    const std::vector<std::uint32_t> state = read_state(session, arena, wave);
    return state[TG_QUEUE_FAULT] != 0 || state[TG_QUEUE_END] != TG_QUEUE_DRAINED;
  });
}

std::vector<QueueOutcome> read_queues(const device::Session& session, const Job& program,
                                      const Arena& arena) {
  std::vector<QueueOutcome> outcomes;
  for (std::uint32_t wave = 0; wave < program.waves.size(); ++wave) {
    if (program.waves[wave].state) {
      outcomes.push_back(queue_outcome(program, wave, read_state(session, arena, program.waves[wave])));
    }
  }
  return outcomes;
}

} // namespace tidegate::engine
