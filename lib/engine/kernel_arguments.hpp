// The arguments of the generated kernels, in their order: tidegate_persistent (kernels/wave/persistent.cl) and
// tidegate_stage (kernels/wave/stage.cl).
#pragma once
#include "device/session.hpp"
#include "engine/schedule.hpp"

namespace tidegate::engine {

// Index of the first image or sampler among a generated kernel's arguments.
constexpr std::uint32_t first_object_argument(Strategy strategy) {
  constexpr std::uint32_t of_persistent = 26;
  constexpr std::uint32_t of_stage = 6; // arena, entries, words, local memory, first entry, iteration
  return is_persistent(strategy) ? of_persistent : of_stage;
}

// Room for local arguments, never 0, so that the parameter can be set.
inline std::size_t local_room(std::uint64_t dynamic_local_bytes) {
  constexpr std::size_t largest_element = 128; // a vector of 16 numbers of 64 bits
  return std::max<std::size_t>(dynamic_local_bytes, largest_element);
}

struct PersistentArguments {
  enum Memory : std::uint8_t { arena, stages, entries, waits, words, counters, progress, poll, memory_count };
  std::array<const device::Buffer*, memory_count> memory{};
  std::uint32_t stage_count = 0;
  std::uint32_t wait_count = 0;
  std::uint32_t stage_end = 0;    // one past the last stage of the launch
  std::uint32_t repeat_begin = 0; // range of stages that the launch repeats
  std::uint32_t repeat_end = 0;
  std::uint32_t steps = 0; // of an iteration
  std::uint32_t phase_count = 1;
  std::uint32_t entries_per_phase = 0;
  std::uint32_t mapping = 0;    // a TileMapping
  std::uint32_t iterations = 0; // 0: only count the resident groups
  std::uint32_t iteration = 0;  // start of the slice
  std::uint32_t stage = 0;
  std::uint32_t turn = 0;
  std::uint32_t budget = 0;   // turns of the slice; when counting groups, polls to settle
  std::uint32_t arrivals = 0; // at the barrier so far
  std::uint32_t arrivals_per_barrier = 0;
  std::uint32_t most_polls = 0;

  // Throws device::Refused.
  void set(const device::Session& session, const device::Kernel& kernel,
           std::uint64_t dynamic_local_bytes) const {
    std::uint32_t index = 0;
    for (const device::Buffer* const buffer : memory) {
      device::require(session.set_object(kernel, index++, *buffer),
                      "setting an argument of the persistent kernel");
    }
    for (const std::uint32_t value :
         {stage_count, wait_count, stage_end, repeat_begin, repeat_end, steps, phase_count, entries_per_phase,
          mapping, iterations, iteration, stage, turn, budget, arrivals, arrivals_per_barrier, most_polls}) {
      device::require(session.set_value(kernel, index++, value),
                      "setting an argument of the persistent kernel");
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
    std::uint32_t index = 0;
    for (const device::Buffer* const buffer : {arena, entries, words}) {
      device::require(session.set_object(kernel, index++, *buffer), "setting an argument of a stage");
    }
    device::require(session.set_local(kernel, index++, local_room(dynamic_local_bytes)),
                    "setting the local memory of a stage");
    for (const std::uint32_t value : {first_entry, iteration}) {
      device::require(session.set_value(kernel, index++, value), "setting an argument of a stage");
    }
  }
};

} // namespace tidegate::engine
