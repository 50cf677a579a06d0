// How waves of work items end on a device (kernels/wave/queue.cl).
#pragma once
#include "engine/device_memory.hpp"
#include "engine/kinds.hpp"
#include <tidegate/policy/priority.hpp>

namespace tidegate::engine {

// The error of a queue that ended with items left.
struct QueueFailure {
  ErrorCode code = ErrorCode::queue_fault; // or queue_stalled, requeue_queue_full, publish_queue_full
  QueueItem item = {};                     // any that waits for requeue_queue_full
  std::uint32_t result = 0;                // return value of its op
  std::uint32_t needed_capacity = 0;       // of publish_queue_full, so far
};

// Items of a queue whose ops publish, counted on the device in all iterations.
struct PublishingCounts {
  std::uint64_t published = 0;
  std::uint64_t executed = 0;
  std::uint64_t deduped = 0;                    // published items that were identical to others
  std::uint32_t needed_capacity = 0;            // the most items that the rings or the tables had to hold
  std::uint32_t capacity = 0;                   // of the queue
  std::optional<std::uint64_t> grown_from = {}; // its first capacity, if the program ran again
};

struct QueueOutcome {
  std::uint32_t wave = 0;
  std::uint64_t items_remaining =
      0;                  // of the published items, in the iteration that is under way or has failed
  bool under_way = false; // more rounds follow in that iteration
  std::uint64_t rounds = 0;
  policy::RequeueAccounting accounting; // ages in rounds
  std::optional<QueueFailure> failure;
  std::optional<PublishingCounts> counts = {};
};

// A wave of work items. Ages count rounds.
struct QueueReport {
  std::uint32_t index = 0; // of the wave
  std::string wave;
  std::uint64_t items = 0; // given items
  std::uint64_t deduped_items = 0;
  std::uint64_t published_items = 0;
  std::uint64_t items_processed = 0; // in all iterations, like those that remain
  std::uint64_t items_remaining = 0;
  bool requeues = false; // some op can requeue
  std::uint64_t rounds = 0;
  policy::RequeueAccounting accounting;
  std::optional<PublishingCounts> publishing;
};

// Decodes the state of a queue (kernels/wave/queue_state.h).
QueueOutcome queue_outcome(const Job& program, std::uint32_t wave, std::span<const std::uint32_t> state);

// Returns the error for a failure, with the item, its op and the code.
Error queue_error(const Job& program, std::uint32_t wave, const QueueFailure& failure);

// The states of all queues of a program in its arena: true if any ended with items left, and all that they say. Wait for
// enqueued work. Throw device::Refused.
bool any_queue_failed(const device::Session& session, const Job& program, const Arena& arena);
std::vector<QueueOutcome> read_queues(const device::Session& session, const Job& program, const Arena& arena);

} // namespace tidegate::engine
