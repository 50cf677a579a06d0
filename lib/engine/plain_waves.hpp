// Waves as ordinary launches of the user's kernels, as in a host program.
#pragma once
#include "device/session.hpp"
#include "engine/device_memory.hpp"
#include "engine/job.hpp"
#include "engine/plain_programs.hpp"
#include "engine/queue_rounds.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate::engine {

// The memory of a program's buffers and images; storage[phase][buffer] is the index of a buffer's memory.
struct WaveMemory {
  const std::vector<std::vector<std::uint32_t>>& storage;
  const Arena& arena;
};

// Kernel objects with all arguments set, one for each wave and swap phase, so that a launch does nothing
// else.
class PlainWaves {
public:
  // References but `memory` must outlive it. Throws device::Refused.
  PlainWaves(const device::Session& session, const PlainPrograms& programs, const Job& program,
             const std::vector<std::uint32_t>& waves, const WaveMemory& memory,
             QueueWay way = QueueWay::check);
  PlainWaves(const PlainWaves&) = delete; // its queues share the launcher
  PlainWaves& operator=(const PlainWaves&) = delete;

  // Enqueues one wave in an iteration, with an event for each launch. Returns false if a queue was not drained, possibly
  // because of `deadline`. Throws device::Refused.
  bool launch(
      std::uint32_t wave, std::uint32_t iteration, std::chrono::steady_clock::time_point deadline,
      const NextEvent& next_event = [] { return nullptr; });

  // Changes the range of the launches of a wave.
  void set_range(std::uint32_t wave, const NdRange& range);

  // Returns the kernel of a wave in a swap phase, for arguments after those of the wave.
  [[nodiscard]] const device::Kernel& kernel(std::uint32_t wave, std::uint32_t phase) const {
    return prepared_.at({wave, phase}).kernel;
  }

  // Returns the time that first launches spent compiling so far.
  [[nodiscard]] std::uint64_t compile_ns() const { return launcher_.compile_ns(); }

private:
  struct Prepared {
    device::Kernel kernel;
    device::LaunchRange range;
    device::Buffer from, to; // of a transfer, which has no kernel
    std::vector<device::Sampler> samplers{};
  };

  device::Status transfer(const TransferCommand& what, const Prepared& prepared, device::Event* event);

  const device::Session& session_;
  const Job& program_;
  const std::uint32_t phases_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Prepared> prepared_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, QueueRounds> queues_; // waves with several launches
  Launcher launcher_;
};

// Returns true if an element has the value that `until` waits for, compared as numbers, not as bits.
bool same_value(const Job& program, const std::vector<std::byte>& value);

} // namespace tidegate::engine
