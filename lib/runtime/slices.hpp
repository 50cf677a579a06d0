// The host's side of every launch that works for long. It runs in slices,
// so that no launch occupies the device for long: the host launches a slice, waits for it and reads the head
// that the kernel left (where it stands, whether it has finished, how many work-groups gave up waiting), then
// ends the dispatch or launches the next slice.
#pragma once
#include "common/counters.h"
#include "ranks/ranks.hpp"
#include "runtime/memory.hpp"
#include "runtime/monitor.hpp"
#include "runtime/run.hpp"

namespace tidegate::runtime {

struct DispatchOutcome {
  RunStatus status = RunStatus::done; // or deadline, interrupted, hang, queue_failed
  std::uint64_t iterations = 0;       // that were completed
  bool until_met = false;
  Position reached;              // of a wave program; its stages are those of the schedule
  device::CallCounts calls;      // of the dispatch
  std::uint64_t dispatch_ns = 0; // until the last launch has ended
  std::chrono::steady_clock::time_point ended_at;
  std::vector<std::uint64_t> slices_ns; // of the first ones
  std::vector<StuckGroup> stuck_groups;
  std::uint64_t compile_ns = 0; // in first launches, not part of dispatch_ns
  bool waited = false;          // time was up while work-groups waited for each other
  std::optional<Trace> trace;   // where it was asked for
  ranks::Traffic traffic;       // with other ranks
};

// Time that a run may still take after it was asked to stop, before the process ends.
inline constexpr std::chrono::nanoseconds grace = std::chrono::seconds(3);

struct Residency {
  std::uint32_t resident = 0; // groups that can run concurrently; 0 without a persistent launch
  std::uint32_t workers = 1;  // launched groups
};

struct DispatchLimits {
  std::uint64_t slice_ns = 150'000'000; // longest time that a slice should take
  std::uint64_t first_turns = 256;      // of a wave program's first slice
  std::chrono::steady_clock::time_point deadline;
  std::uint32_t workers = 1;              // work-groups of a persistent launch
  std::uint32_t arrivals_per_barrier = 1; // as many as workers; 0 for a traversal without a persistent launch
  std::uint32_t most_polls = 0;           // of a wait on the device
  std::uint64_t trace_spans = 0;          // most spans that are kept; 0: nothing is traced
  DeviceClock clock = DeviceClock::none;  // that the kernel was compiled to read
};

// Returns the limits of a dispatch that begins now. `gpu_polls`: how often a work-group of a GPU polls before it gives
// up. On a CPU it may wait long for one whose core is busy; there the host ends the wait.
DispatchLimits dispatch_limits(const device::DeviceInfo& device, const Residency& residency,
                               std::uint32_t gpu_polls, std::uint64_t slice_ns, std::uint64_t most_ns);

inline constexpr std::size_t most_slice_times = 65'535; // kept

// The counters that work-groups of a persistent launch wait on (kernels/common/device_barrier.cl): arrivals at the
// barrier, groups that gave up, and the progress of each group. They continue from launch to launch.

// On a CPU a work-group may wait long for one whose core is busy: there the memory is the host's too, and
// the monitor can end the wait.
class Counters : NotCopied {
public:
  // All counters are 0 once the queue reaches this point. Throws device::Refused.
  Counters(const device::Session& session, std::uint32_t groups, Monitor& monitor);
  ~Counters();

  [[nodiscard]] const device::Buffer& memory() const { return memory_; }

  // Clears all claims, before a launch (kernels/wave/claims.cl). Only a device that works in the host's
  // memory claims.
  void clear_claims();

private:
  Monitor& monitor_;
  std::vector<std::uint32_t> shared_; // of the device that works in the host's memory
  device::Buffer memory_;
};

// Returns true, and sets the outcome, after an interrupt or the deadline.
bool out_of_time(DispatchOutcome& outcome, std::chrono::steady_clock::time_point deadline);

// Launches slices and times them in the outcome. All references outlive it; all throw device::Refused.
class SliceLoop {
public:
  using Clock = std::chrono::steady_clock;

  SliceLoop(const device::Session& session, Monitor& monitor, DispatchOutcome& outcome)
      : session_(session), monitor_(monitor), outcome_(outcome) {}

  // Runs a slice of `launches` launches, which `launch` enqueues, and reads its head from the start of
  // `from`. Returns the time until the end of the slice.
  template <class Launch>
  std::uint64_t run(std::uint64_t launches, const Launch& launch, const device::Buffer& from,
                    std::span<std::byte> head) {
    const auto start = Clock::now();
    monitor_.in_flight = launches;
    launch();
    finish();
    const std::uint64_t elapsed = elapsed_ns(start, outcome_.ended_at);
    // A launch has ended before its head is read, 10 us later on an H200: reading the head is part of reading
    // back, as reading outputs is, and not of the dispatch time.
    session_.read(from, 0, head);
    if (outcome_.slices_ns.size() < most_slice_times) {
      outcome_.slices_ns.push_back(elapsed);
    }
    return elapsed;
  }

  // Waits until all launches have ended.
  void finish();

  // Returns false, and sets the outcome, if groups gave up waiting, as `read_stuck` reports them, or if the
  // slice has not `moved`: a device that runs nothing at all would be asked for ever.
  bool goes_on(bool stuck, bool moved, Clock::time_point deadline,
               const std::function<std::vector<StuckGroup>()>& read_stuck);

  bool out_of_time(Clock::time_point deadline) { return runtime::out_of_time(outcome_, deadline); }

private:
  const device::Session& session_;
  Monitor& monitor_;
  DispatchOutcome& outcome_;
};

inline constexpr std::size_t group_report_words = TG_REPORT;

// Returns the groups that gave up waiting, without their waves, as they report it at a word of `memory`
// (kernels/common/device_barrier.cl).
std::vector<StuckGroup> read_stuck_groups(const device::Session& session, const device::Buffer& memory,
                                          std::size_t first_word, std::uint32_t groups);

// Returns the number of launches of the next batch: towards batches of the wanted length, not too fast, as the
// next ones may be slower.
std::uint64_t next_batch(std::uint64_t batch, std::uint64_t elapsed_ns, std::uint64_t slice_ns,
                         std::uint64_t growth, std::uint64_t most);

} // namespace tidegate::runtime
