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
#include "core/prelude.hpp"
#include <tidegate/planning/arena.hpp>

namespace tidegate::planning {

inline constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

// Size times lifetime can need 128 bits.
__extension__ using ArenaArea = unsigned __int128;

struct ArenaItem {
  std::uint32_t first_section = 0; // alive in sections [first_section, end_section)
  std::uint32_t end_section = 0;
  std::uint32_t buffer = 0; // in the problem
  std::uint64_t lower = 0, upper = 0;
  std::uint64_t size = 0; // bytes, at least 1
  std::uint64_t alignment = 1;
};

struct ArenaComponent {
  std::vector<ArenaItem> items;             // by first section, then by buffer
  std::vector<std::uint64_t> section_bytes; // sum of the sizes alive, by section
  std::uint64_t lower_bound_bytes = 0;      // the largest of them, with alignment
  std::uint64_t granule_bytes = 1;          // divides every height that a plan needs

  // For each section, the sum over the items alive.
  std::vector<ArenaArea> sums(auto value_of) const {
    std::vector<ArenaArea> result(std::ranges::max(items, {}, &ArenaItem::end_section).end_section + 1);
    for (const ArenaItem& item : items) {
      result[item.first_section] += value_of(item);
      result[item.end_section] -= value_of(item); // may wrap around
    }
    std::partial_sum(result.begin(), result.end(), result.begin());
    result.pop_back();
    return result;
  }
};

struct ArenaModel {
  std::vector<ArenaComponent> components; // by time
  std::uint64_t alive_bytes = 0;          // largest sum of sizes alive at one moment
  std::uint64_t lower_bound_bytes = 0;
};

// Errors: empty_lifetime, bad_alignment, byte_count_overflow {alive bytes}.
Result<ArenaModel> make_arena_model(const ArenaProblem& problem);

enum class ArenaKey : std::uint8_t {
  size,
  width, // lifetime
  area,  // lifetime times size
  total, // bytes alive in the fullest of the item's sections
  start, // the first section, the earliest first
  end,   // the last section, the latest first
};
using ArenaSortKeys = std::array<ArenaKey, 3>;

// Returns the items sorted by decreasing keys, the first key first; equal items keep their order.
std::vector<std::uint32_t> items_in_order(const ArenaComponent& component, const ArenaSortKeys& order);

// Returns the number of pairs of items alive together: the cost of a heuristic that visits every pair.
std::uint64_t overlapping_pairs(const ArenaComponent& component);

// Rounds `value` up to a multiple of `alignment`, a power of two; nothing beyond 64 bits.
inline std::optional<std::uint64_t> aligned_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t result = (value + (alignment - 1)) & ~(alignment - 1);
  return result >= value ? std::optional(result) : std::nullopt;
}

// For all searches of one component.
struct ArenaOverlaps {
  explicit ArenaOverlaps(const ArenaComponent& component);

  std::vector<std::vector<std::uint32_t>> of; // by item, those that overlap it
  std::vector<std::vector<std::uint32_t>> in; // by section, its items
};

enum class ArenaVerdict : std::uint8_t { running, found, impossible };

struct ArenaAttempt {
  ArenaVerdict verdict = ArenaVerdict::running; // running: `nodes` did not suffice
  std::vector<std::uint64_t> offsets;           // by item, when found
  std::uint64_t nodes = 0;                      // used
};

// The exact search of one component: finds offsets within the capacity, or proves that there are none, with about
// `nodes` decisions.
ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes);

} // namespace tidegate::planning
