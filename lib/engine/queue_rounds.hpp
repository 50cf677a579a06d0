// Waves of work items on a device (kernels/wave/queue.cl): their rounds as ordinary launches, and what became of
// their items.
#pragma once
#include "device/opencl.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/policy/priority.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tidegate::engine {

class PlainPrograms;

// How the items of a wave are run by ordinary launches.
enum class QueueWay : std::uint8_t {
  drain, // published, in rounds by priority
  check, // as they were given, each in a work-item: what proves the other way, and any launch with it
};

// Why a queue ended before its items did.
struct QueueFailure {
  ErrorCode code = ErrorCode::queue_fault; // or queue_stalled, requeue_queue_full
  std::uint64_t item = 0;                  // as they were given; of requeue_queue_full none in particular
  std::uint32_t result = 0;                // that its op returned
};

struct QueueOutcome {
  std::uint32_t wave = 0;
  std::uint64_t items_remaining = 0; // of those that were published
  std::uint64_t rounds = 0;
  policy::RequeueAccounting accounting; // ages in rounds
  std::optional<QueueFailure> failure;
};

// What the words of a queue's state say, which lie there as kernels/wave/queue_state.h has them.
QueueOutcome queue_outcome(const ResolvedProgram& program, std::uint32_t wave,
                           std::span<const std::uint32_t> state);

// A failure in words: the item, its op, and the code.
Error queue_error(const ResolvedProgram& program, std::uint32_t wave, const QueueFailure& failure);

// The states of all queues of a program in its arena.
class QueueStates {
public:
  // All references outlive it.
  QueueStates(const device::Session& session, const ResolvedProgram& program,
              const std::vector<std::uint64_t>& offsets, const cl::Buffer& arena);

  // Whether any ended with items left. Waits for what was enqueued. Throws device::Refused.
  [[nodiscard]] bool any_failed() const;
  [[nodiscard]] std::vector<QueueOutcome> read() const;

private:
  const device::Session& session_;
  const ResolvedProgram& program_;
  const std::vector<std::uint64_t>& offsets_;
  const cl::Buffer& arena_;
  std::vector<std::uint32_t> waves_; // that have a queue
};

// One wave that is launched again until its queue is empty.
class QueueRounds {
public:
  using Clock = std::chrono::steady_clock;

  // `memory` has the program's buffers by index, for one phase of its swaps. Throws device::Refused.
  QueueRounds(const device::Session& session, const PlainPrograms& programs, const ResolvedProgram& program,
              std::uint32_t wave, const std::vector<cl::Buffer>& memory,
              const std::vector<std::uint32_t>& places, QueueWay way);

  // False when items are left: one has failed, none makes progress, too many wait, or time is up. `event`, of
  // the first launch, may be null. Throws device::Refused; on the way `check` also with queue_error().
  bool run(Clock::time_point deadline, cl::Event* event);

  // So far; on a CPU the driver compiles in the first ones, which takes so long.
  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  [[nodiscard]] std::uint64_t compile_ns() const { return compile_ns_; }

private:
  void set(cl::Kernel& kernel, cl_uint index, const cl::Buffer& memory);
  void launch(const cl::Kernel& kernel, std::size_t items, std::size_t lanes, cl::Event* event);
  bool drain(Clock::time_point deadline, cl::Event* event);
  bool check(Clock::time_point deadline, cl::Event* event);
  [[nodiscard]] bool out_of_time(Clock::time_point deadline) const;

  const device::Session& session_;
  const ResolvedProgram& program_;
  const std::uint32_t wave_;
  const QueueWay way_;
  cl::Kernel drain_, turn_, check_;
  cl::Buffer state_, items_, closed_;
  std::set<cl_kernel> compiled_;
  std::uint64_t launches_ = 0;
  std::uint64_t compile_ns_ = 0;
  std::uint64_t compile_ns_before_ = 0; // this run
};

} // namespace tidegate::engine
