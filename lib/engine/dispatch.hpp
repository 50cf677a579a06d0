// Runs a schedule on a device. A stage is shared (by persistent launches in bounded slices, or one launch), plain (the
// user's kernel), or plain between the exchanges of one of several ranks.
#pragma once
#include "engine/device_memory.hpp"
#include "engine/plain_waves.hpp"
#include "engine/queue_rounds.hpp"
#include "engine/rank_exchange.hpp"
#include "engine/run_options.hpp"
#include "runtime/slices.hpp"

namespace tidegate::engine {

// The arguments of the generated kernels: tidegate_persistent (kernels/wave/persistent.cl) and tidegate_stage
// (kernels/wave/stage.cl).

// Room for local arguments, never 0, so that the parameter can be set.
inline std::size_t local_room(std::uint64_t dynamic_local_bytes) {
  constexpr std::size_t largest_element = 128; // a vector of 16 numbers of 64 bits
  return std::max<std::size_t>(dynamic_local_bytes, largest_element);
}

namespace in_kernels {
using uint = std::uint32_t;
#include "wave/arguments.h"
} // namespace in_kernels

struct PersistentArguments {
  std::array<const device::Buffer*, in_kernels::TG_MEMORY_COUNT> memory{};
  in_kernels::tg_numbers numbers{};

  // Throws device::Refused.
  void set(const device::Session& session, const device::Kernel& kernel,
           std::uint64_t dynamic_local_bytes) const {
    constexpr std::string_view what = "setting an argument of the persistent kernel";
    std::uint32_t index = 0;
    for (const device::Buffer* const buffer : memory) {
      device::require(session.set_object(kernel, index++, *buffer), what);
    }
    using Numbers = std::array<std::uint32_t, sizeof numbers / sizeof(std::uint32_t)>;
    for (const std::uint32_t value : std::bit_cast<Numbers>(numbers)) {
      device::require(session.set_value(kernel, index++, value), what);
    }
    device::require(session.set_local(kernel, index++, local_room(dynamic_local_bytes)),
                    "setting the local memory of the persistent kernel");
  }
};

struct StageArguments {
  static constexpr std::uint32_t nothing = ~std::uint32_t{0}; // as first entry: an empty launch

  const device::Buffer* arena = nullptr;
  const device::Buffer* entries = nullptr;
  const device::Buffer* words = nullptr;
  std::uint32_t first_entry = nothing;
  std::uint32_t iteration = 0;

  // Throws device::Refused.
  void set(const device::Session& session, const device::Kernel& kernel,
           std::uint64_t dynamic_local_bytes) const {
    constexpr std::string_view what = "setting an argument of a stage";
    std::uint32_t index = 0;
    for (const device::Buffer* const buffer : {arena, entries, words}) {
      device::require(session.set_object(kernel, index++, *buffer), what);
    }
    device::require(session.set_local(kernel, index++, local_room(dynamic_local_bytes)),
                    "setting the local memory of a stage");
    for (const std::uint32_t value : {first_entry, iteration}) {
      device::require(session.set_value(kernel, index++, value), what);
    }
  }
};

class Dispatcher {
public:
  // `plain` may be null when no stage is. All references outlive it. Throws device::Refused.
  Dispatcher(const RunContext& run, PlainWaves* plain, const QueueStates& queues, const Arena& arena,
             const DispatchLimits& limits);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Runs the schedule from its first wave to its last. Throws device::Refused.
  DispatchOutcome run();

private:
  using Clock = SliceLoop::Clock;

  // Stages of the tables that a persistent launch runs: up to `stage_end`, of which some may repeat.
  struct Rows {
    std::uint32_t stage_end = 0;
    std::uint32_t repeat_begin = 0;
    std::uint32_t repeat_end = 0;
  };

  // The positions of both count rows of the tables.
  bool persistent(Position position, const Rows& rows);
  bool slice(Position& position, const Rows& rows);
  void launch(const Position& position, const Rows& rows, std::uint64_t budget);
  bool judge(std::span<const std::uint32_t> head, Position& position, const Rows& rows);
  [[nodiscard]] Rows all_rows() const;
  void stage_by_stage();
  bool run_iterations(std::uint32_t& iteration);
  bool run_stages(std::size_t begin, std::size_t end, std::uint32_t iteration);
  void launch_plain(std::size_t stage, std::uint32_t iteration);
  void launch_stage(std::size_t row, std::uint32_t iteration, device::Event* event);
  void forget_batches();
  bool settle(bool always);
  bool any_queue_failed();
  bool until_met(std::uint32_t phase);
  void completed(std::uint64_t iterations);
  [[nodiscard]] std::vector<StuckGroup> stuck_groups() const;
  [[nodiscard]] Clock::time_point deadline() const;
  void launched(std::size_t stage, std::uint32_t iteration);
  [[nodiscard]] Trace trace() const;

  const device::Session& session_;
  const CompiledProgram& compiled_;
  const Job& program_;
  const Schedule& schedule_;
  const LaunchTables& tables_;
  BuiltKernel* const kernel_; // null when every stage is plain
  PlainWaves* const plain_;
  const QueueStates& queues_;
  const Arena& arena_;
  RankExchange* const exchange_; // null: this process runs all of the program
  DispatchLimits limits_;
  Monitor& monitor_;

  // Most turns of a slice, of all work-groups together: counters are compared by their difference.
  static constexpr std::uint64_t most_budget = std::uint64_t{1} << 30U;

  struct {
    device::Buffer stages, entries, waits, words;
  } device_tables_; // the tables in device memory
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

} // namespace tidegate::engine
