// Laying out a component by walking through its sections with a list of free blocks, as a memory allocator
// would: an item takes the smallest free block it fits in when it starts and gives it back when it ends.
#pragma once

#include <tidegate/planning/arena_greedy.hpp>

#include <cstdint>
#include <optional>

namespace tidegate::planning {

enum class Time : std::uint8_t { forward, backward };

// Items that start together are placed by decreasing size. Nothing when the layout leaves 64 bits. O(n log
// n).
std::optional<ArenaLayout> sweep_layout(const ArenaComponent& component, Time time);

} // namespace tidegate::planning
