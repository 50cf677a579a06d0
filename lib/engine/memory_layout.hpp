// Where each buffer of a program lies in the one block of device memory.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/planning/arena.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::engine {

// In groups of waves: from the first to before the last.
struct GroupRange {
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
};

struct MemoryLayout {
  std::vector<std::uint64_t> offsets; // bytes, by buffer; 0 for those that are not in the arena
  std::vector<GroupRange> lifetimes;  // by buffer; all groups for those that are not in the arena
  std::uint64_t arena_bytes = 0;
  std::uint64_t sum_bytes = 0;         // without sharing
  std::uint64_t image_bytes = 0;       // beside the arena: images share nothing
  std::uint64_t lower_bound_bytes = 0; // no arena is smaller
  bool optimal = false;
  planning::ArenaProof proof = planning::ArenaProof::none;
};

// What the images of the program take beside the arena; saturates.
std::uint64_t image_bytes(const ResolvedProgram& program);

// Transient buffers live from the first group of waves that touches them to the last, and through all groups
// that repeat unless an iteration is known to overwrite all of them first. All others live throughout.
// Errors: arena_over_capacity and arena_search_exhausted when the arena does not fit `capacity_bytes` (0: no
// limit).
Result<MemoryLayout> plan_memory(const ResolvedProgram& program, const planning::WaveGroups& groups,
                                 std::uint64_t alignment, std::uint64_t capacity_bytes);

} // namespace tidegate::engine
