#include "runtime/slices.hpp"

#include "core/interrupt.hpp"

namespace tidegate::runtime {

DispatchLimits dispatch_limits(const device::DeviceInfo& device, const Residency& residency,
                               std::uint32_t gpu_polls, std::uint64_t slice_ns, std::uint64_t most_ns) {
  const bool cpu = device.type == device::DeviceType::cpu;
  return {.slice_ns = slice_ns,
          .deadline = SliceLoop::Clock::now() + std::chrono::nanoseconds(most_ns),
          .workers = residency.workers,
          .arrivals_per_barrier = residency.workers,
          .most_polls = cpu ? std::numeric_limits<std::uint32_t>::max() : gpu_polls};
}

Counters::Counters(const device::Session& session, std::uint32_t groups, Monitor& monitor)
    : monitor_(monitor) {
  const std::size_t words = TG_COUNTER_WORDS(std::size_t{groups});
  if (!session.on_host) {
    memory_ = session.allocate(words * sizeof(std::uint32_t));
    session.clear(memory_, words * sizeof(std::uint32_t));
    return;
  }
  shared_.resize(words);
  memory_ = session.share(std::as_writable_bytes(std::span(shared_)));
  monitor_.share(shared_.data() + TG_GAVE_UP);
}

void Counters::clear_claims() {
  for (std::size_t word = TG_REACHED(0); word < shared_.size(); word += TG_LINE) {
    shared_[word] = shared_[word + 1] = 0;
  }
  if (!shared_.empty()) {
    shared_[TG_CLAIM_OF_UNTIL] = shared_[TG_CLAIM_OF_UNTIL + 1] = 0;
  }
}

Counters::~Counters() {
  monitor_.share(nullptr);
}

bool out_of_time(DispatchOutcome& outcome, std::chrono::steady_clock::time_point deadline) {
  if (InterruptWatch::interrupted()) {
    outcome.status = RunStatus::interrupted;
  } else if (std::chrono::steady_clock::now() >= deadline) {
    outcome.status = RunStatus::deadline;
  } else {
    return false;
  }
  return true;
}

void SliceLoop::finish() {
  session_.finish();
  outcome_.ended_at = Clock::now();
  monitor_.in_flight = 0;
}

bool SliceLoop::goes_on(bool stuck, bool moved, Clock::time_point deadline,
                        const std::function<std::vector<StuckGroup>()>& read_stuck) {
  if (stuck) { // or the slice had come to its end when it was asked to stop: then no group reports
    auto groups = read_stuck();
    if (!groups.empty() && monitor_.stopped && out_of_time(deadline)) {
      outcome_.waited = true;
      return false;
    }
    outcome_.stuck_groups = std::move(groups);
  }
  if (moved && outcome_.stuck_groups.empty()) {
    return true;
  }
  outcome_.status = RunStatus::hang;
  return false;
}

std::vector<StuckGroup> read_stuck_groups(const device::Session& session, const device::Buffer& memory,
                                          std::size_t first_word, std::uint32_t groups) {
  std::vector<std::uint32_t> words(group_report_words * groups);
  session.read(memory, first_word * sizeof(std::uint32_t), std::as_writable_bytes(std::span(words)));
  std::vector<StuckGroup> stuck;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const std::uint32_t* const report = words.data() + group_report_words * group;
    const std::uint32_t line = report[TG_REPORT_COUNTER];
    if (report[0] != 0) {
      stuck.push_back(
          {.group = group,
           .iteration = report[TG_REPORT_LOCATION],
           .stage = report[TG_REPORT_LOCATION + 1],
           .waves = {},
           .tile = report[TG_REPORT_LOCATION + 2],
           .counter = line < 2 ? "arrivals at the barrier" : fmt::format("steps of group {}", line - 2),
           .expected = report[TG_REPORT_WANTED],
           .seen = report[TG_REPORT_SEEN]});
    }
  }
  return stuck;
}

std::uint64_t next_batch(std::uint64_t batch, std::uint64_t elapsed_ns, std::uint64_t slice_ns,
                         std::uint64_t growth, std::uint64_t most) {
  if (elapsed_ns > slice_ns) {
    return std::max<std::uint64_t>(batch / 2, 1);
  }
  return elapsed_ns < slice_ns / 4 ? std::min(batch * growth, most) : batch;
}

Watchdog::Watchdog(Monitor& monitor, std::chrono::nanoseconds patience, std::function<void(bool)> give_up) {
  monitor.settled = false;
  thread_ = std::thread([this, &monitor, patience, give_up = std::move(give_up)] {
    using Clock = Monitor::Clock;
    constexpr auto look = std::chrono::milliseconds(50);
    std::optional<Clock::time_point> interrupted_at;
    std::optional<Clock::time_point> compiles_since;
    std::unique_lock lock(mutex_);
    while (!monitor.settled && !changed_.wait_for(lock, look, [this] { return done_; })) {
      const auto now = Clock::now();
      if (InterruptWatch::interrupted() && !interrupted_at) {
        interrupted_at = now;
      }
      const auto more = monitor.waits_for_others() ? build_limit : std::chrono::minutes(0);
      if (!device::work_notes().compiling) {
        compiles_since.reset();
      } else if (!compiles_since) {
        compiles_since = now;
      }
      const auto deadline = compiles_since ? *compiles_since + build_limit : monitor.deadline.load() + more;
      const auto end = std::min(deadline, interrupted_at.value_or(Clock::time_point::max()));
      if (now >= end) {
        monitor.stop(); // repeatedly, because a slice that has just started has cleared the word
      }
      if (now - patience >= end && monitor.settle()) {
        give_up(interrupted_at.has_value());
        return;
      }
    }
  });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

} // namespace tidegate::runtime
