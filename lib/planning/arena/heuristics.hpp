// The fast heuristics of the arena planner: lay out the items of a component in several ways, keep the lowest
// layout and improve it while work remains.
//
//   sweep     walk through time like a memory allocator that does not know the future: best fit among the
//             free blocks. Always affordable: O(n log n), even with 100 000 buffers alive at once.
//   by order  place the items by size, area, lifetime or start, each in a gap between the items already
//             placed. Better, and costs as much as there are overlapping pairs.
//   improve   move the items that reach the top forward in the best order and lay out again; press the result
//             down at the end.
//
// Source of the orders: Sekiyama et al., "Profile-guided memory optimization for deep neural networks", 2018;
// Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020 (greedy by size).
#pragma once
#include "planning/arena/model.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::planning {

struct ArenaLayout {
  std::vector<std::uint64_t> offsets; // by item
  std::uint64_t height_bytes = 0;
};

// Returns the lowest layout found; stops once one is at most `enough_bytes` high. `work` bounds the number of
// overlapping pairs visited. Returns nothing if every layout exceeds 64 bits.
std::optional<ArenaLayout> arena_heuristics(const ArenaComponent& component, std::uint64_t enough_bytes,
                                            std::uint64_t& work);

} // namespace tidegate::planning
