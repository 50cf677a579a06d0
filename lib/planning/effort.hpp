// The steps that a search may still take.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tidegate::planning {

inline void spend(std::uint64_t& effort, std::uint64_t steps) {
  effort -= std::min(effort, steps);
}

} // namespace tidegate::planning
