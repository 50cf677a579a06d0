// Byte counts as people write and read them.
#pragma once

#include <tidegate/core/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tidegate {

// 139209728 -> "132.7 MiB"; cut, not rounded, so that a count just under a budget does not look equal to it.
std::string bytes_text(std::uint64_t count);

// "131072", "64MiB", "64 MiB", "1.5GB" or "2k": a decimal number and, in any case, a unit: B; k, M, G, T, P
// or E with or without B, powers of 1000; Ki to Ei likewise, powers of 1024. A fraction must come out as a
// whole number of bytes. invalid_usage otherwise.
Result<std::uint64_t> parse_bytes(std::string_view text);

} // namespace tidegate
