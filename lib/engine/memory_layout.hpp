// Offsets of a program's buffers in the one block of device memory.
#pragma once
#include "engine/job.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::engine {

struct MemoryLayout {
  std::vector<std::uint64_t> offsets; // bytes, by buffer; 0 outside the arena
  std::vector<planning::ArenaBuffer>
      lifetimes; // by buffer, in barrier groups; outside the arena all groups, 0 bytes
  std::uint64_t arena_bytes = 0;
  std::uint64_t sum_bytes = 0;         // without sharing
  std::uint64_t image_bytes = 0;       // outside the arena; images share no memory
  std::uint64_t lower_bound_bytes = 0; // no arena is smaller
};

// Returns the bytes of all images; saturates.
std::uint64_t image_bytes(const Job& program);

// Returns the bytes that no plan can do without: images, buffers that live throughout, and the transient buffers of
// the wave that has most of them. Saturates.
std::uint64_t least_bytes(const Job& program);

// Plans the arena. A transient buffer lives from the first group of waves that accesses it to the last, and
// throughout the repeated groups unless an iteration certainly overwrites it first. Other buffers live
// throughout. Errors: arena_over_capacity and arena_search_exhausted if the arena does not fit
// `capacity_bytes` (0: no limit). Buffers of 64 KiB or more get `stagger_bytes` in addition.
Result<MemoryLayout> plan_memory(const Job& program, const planning::BarrierGroups& groups,
                                 std::uint64_t alignment, std::uint64_t capacity_bytes,
                                 std::uint64_t stagger_bytes = 0);

} // namespace tidegate::engine
