// An arena problem as the planner sees it: independent components over time, and in each component time cut
// into sections within which the same buffers can be alive together.
//
//   time      0    3    5        9   12         15    18
//             |----a----|                        |--d--|
//                  |----b--------|
//                       |----c--------|
//   sections  0    1    2        3
//   components <---------- 0 ---------->         <- 1 ->
//
// Components share no moment, so each is planned alone and the arena is as high as the highest of them.
// Buffers of size 0 are left out: they overlap nothing.
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
  std::uint64_t granule_bytes = 1;          // divides every height worth considering
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

// The items with the largest first key first, then the largest second key and so on; equal ones as in
// `items`.
std::vector<std::uint32_t> items_in_order(const ArenaComponent& component, const ArenaOrder& order);

// The number of pairs of items that are alive together: the cost of a heuristic that looks at them all.
std::uint64_t overlapping_pairs(const ArenaComponent& component);

// The smallest multiple of the power of two `alignment` that is at least `value`, or nothing above 64 bits.
inline std::optional<std::uint64_t> aligned_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t result = (value + (alignment - 1)) & ~(alignment - 1);
  return result >= value ? std::optional(result) : std::nullopt;
}

} // namespace tidegate::planning
