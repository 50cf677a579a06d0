// The planner's model of an arena problem: components that do not overlap in time, each divided into
// sections, within each of which all buffers can be alive at one moment.
//
//   time      0    3    5        9   12         15    18
//             |----a----|                        |--d--|
//                  |----b--------|
//                       |----c--------|
//   sections  0    1    2        3
//   components <---------- 0 ---------->         <- 1 ->
//
// Components share no moment, so each is planned separately, and the highest determines the arena's height.
// Buffers of size 0 are omitted: they overlap nothing.
#pragma once
#include <tidegate/planning/arena.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace tidegate::planning {

inline constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

struct ArenaItem {
  std::uint32_t first_section = 0; // alive in sections [first_section, end_section)
  std::uint32_t end_section = 0;
  std::uint32_t buffer = 0; // in the problem
  std::uint64_t size = 0;   // bytes, at least 1
  std::uint64_t alignment = 1;
  std::uint64_t width = 0; // upper - lower
};

struct ArenaComponent {
  std::vector<ArenaItem> items;             // by first section, then by buffer
  std::vector<std::uint64_t> section_bytes; // sum of the sizes alive, by section
  std::uint64_t lower_bound_bytes = 0;      // the largest of them
  std::uint64_t granule_bytes = 1;          // divides every height that a plan needs
};

struct ArenaModel {
  std::vector<ArenaComponent> components; // by time
  std::uint64_t lower_bound_bytes = 0;
};

// Errors: empty_lifetime, bad_alignment, byte_count_overflow {alive bytes}.
tl::expected<ArenaModel, ArenaError> make_arena_model(const ArenaProblem& problem);

enum class ArenaKey : std::uint8_t {
  size,
  width, // lifetime
  area,  // lifetime times size
  total, // bytes alive in the fullest of the item's sections
  start, // the first section, the earliest first
  end,   // the last section, the latest first
};
using ArenaOrder = std::array<ArenaKey, 3>;

// Returns the items sorted by decreasing keys, the first key first; equal items keep their order.
std::vector<std::uint32_t> items_in_order(const ArenaComponent& component, const ArenaOrder& order);

// Returns the number of pairs of items alive together: the cost of a heuristic that visits every pair.
std::uint64_t overlapping_pairs(const ArenaComponent& component);

// Rounds `value` up to a multiple of `alignment`, a power of two; nothing beyond 64 bits.
inline std::optional<std::uint64_t> aligned_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t result = (value + (alignment - 1)) & ~(alignment - 1);
  return result >= value ? std::optional(result) : std::nullopt;
}

} // namespace tidegate::planning
