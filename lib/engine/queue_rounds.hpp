// Waves of work items on a device (kernels/wave/queue.cl): their rounds as ordinary launches, and their
// outcome.
#pragma once
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/job.hpp"
#include "engine/kinds.hpp"
#include "engine/plain_programs.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/priority.hpp>

namespace tidegate::engine {

// Ways in which ordinary launches run a wave's items.
enum class QueueWay : std::uint8_t {
  drain, // published, in rounds by priority
  check, // as given, one per work-item, or one after another if ops publish: the reference for the other ways
  reversed, // likewise, with the items of each round in reverse
};

// The error of a queue that ended with items left.
struct QueueFailure {
  ErrorCode code = ErrorCode::queue_fault; // or queue_stalled, requeue_queue_full, publish_queue_full
  std::uint64_t item = 0;                  // index in the given order; unspecified for requeue_queue_full
  std::optional<QueueItem> published = {}; // the item itself, if ops publish
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

// Returns the reports of all queues before a run.
std::vector<QueueReport> queues_before(const Job& program);

// Adds the outcome of a queue to its report.
void report_queue(const Job& program, const QueueOutcome& outcome, QueueReport& report);

// States of all queues of a program in its arena.
class QueueStates {
public:
  // All references must outlive it.
  QueueStates(const device::Session& session, const Job& program, const Arena& arena);

  // Returns true if any queue ended with items left. Waits for enqueued work. Throws device::Refused.
  [[nodiscard]] bool any_failed() const;
  [[nodiscard]] std::vector<QueueOutcome> read() const;

private:
  const device::Session& session_;
  const Job& program_;
  const Arena& arena_;
  std::vector<std::uint32_t> waves_; // with a queue
};

// References that launches of rounds share; their targets outlive them.
struct RoundsContext {
  const device::Session& session;
  const PlainPrograms& programs;
  const Job& program;
  Launcher& launcher;
};

// Makes the event of the next launch, or null; valid until the next call.
using NextEvent = std::function<device::Event*()>;

// One wave that is launched repeatedly until its queue is empty.
class QueueRounds {
public:
  using Clock = std::chrono::steady_clock;

  // `memory` holds the program's buffers by index in one swap phase. Throws device::Refused.
  QueueRounds(const RoundsContext& context, std::uint32_t wave, const std::vector<device::Buffer>& memory,
              QueueWay way);

  // Returns false if items are left: one failed, none makes progress, too many wait, or time is up. Throws
  // device::Refused; as a reference also queue_error().
  bool run(Clock::time_point deadline, const NextEvent& event);

private:
  void launch(const device::Kernel& kernel, std::uint32_t op, std::size_t items, std::size_t lanes,
              device::Event* event);

  const RoundsContext context_;
  const ProgramWave& spec_;
  const std::string text_; // of the wave
  const bool checks_;
  const bool publishes_; // and checks
  device::Kernel drain_, turn_, check_;
  device::Buffer state_, items_, closed_, seen_;
};

} // namespace tidegate::engine
