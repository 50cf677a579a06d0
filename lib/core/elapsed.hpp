// How long something took.
#pragma once

#include <chrono>
#include <cstdint>

namespace tidegate {

// Nanoseconds from one moment to another, or until now.
inline std::uint64_t elapsed_ns(std::chrono::steady_clock::time_point from,
                                std::chrono::steady_clock::time_point to = std::chrono::steady_clock::now()) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count());
}

} // namespace tidegate
