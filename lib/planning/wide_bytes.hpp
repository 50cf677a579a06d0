// Sums of many byte counts, which leave 64 bits, and the number of groups that such a sum fills.
#pragma once

#include <cstdint>

namespace tidegate::planning {

__extension__ typedef unsigned __int128 WideBytes; // __extension__: ISO C++ has no such type

// Bytes over the budget, rounded up. With a budget of 0 there are only waves of 0 bytes: one group.
inline std::uint64_t groups_for(WideBytes bytes, std::uint64_t budget) {
  if (bytes <= budget) {
    return bytes == 0 ? 0 : 1;
  }
  return static_cast<std::uint64_t>((bytes + budget - 1) / budget);
}

} // namespace tidegate::planning
