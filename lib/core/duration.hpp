// Parses and formats durations.
#pragma once
#include "core/prelude.hpp"
#include <tidegate/core/error.hpp>

namespace tidegate {

// Parses "10s", "2m", "1.5 h", "150ms" or a plain number of `unit_ns` into nanoseconds. Errors:
// invalid_usage, also for more than a year.
Result<std::uint64_t> parse_duration(std::string_view text, std::uint64_t unit_ns);

// Formats with three digits: "155 us", "2.26 ms", "12.3 s".
std::string short_time_text(double ns);

// Formats as seconds with three digits: "0.25 s".
std::string seconds_text(std::uint64_t ns);

// Nanoseconds between two moments, by default until now.
inline std::uint64_t elapsed_ns(std::chrono::steady_clock::time_point from,
                                std::chrono::steady_clock::time_point to = std::chrono::steady_clock::now()) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count());
}

} // namespace tidegate
