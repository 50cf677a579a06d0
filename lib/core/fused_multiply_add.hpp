// a * b + c, rounded once. std::fma of the static C library picks its code by the processor and links only
// beside the shared one, which the tool does without.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tidegate {

// The product is exact in 113 bits. The sum is rounded to odd there (Boldo and Melquiond, 2008): a last bit
// of 1 wherever something was lost keeps the second rounding from taking the first one for a tie.
template <class Float>
Float fused_multiply_add(Float a, Float b, Float c) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) {
    return a * b + c;
  }
  using Wide = __float128;
  const Wide product = Wide(a) * Wide(b);
  const Wide wide_c = c;
  Wide sum = product + wide_c;
  const Wide shown = sum - product; // Knuth's two-sum: sum + lost is exact
  const Wide lost = (product - (sum - shown)) + (wide_c - shown);
  std::uint64_t low = 0;
  std::memcpy(&low, &sum, sizeof low); // the low half, on the little-endian machines that this runs on
  if (lost != 0 && (low & 1U) == 0) {
    // The neighbour with an odd last bit on the side of what was lost: away from 0 where both have one sign.
    const bool away = (lost > 0) == (sum > 0);
    std::uint64_t high = 0;
    std::memcpy(&high, reinterpret_cast<const char*>(&sum) + sizeof low, sizeof high);
    if (!away && low == 0) {
      --high;
    }
    low = away ? low + 1 : low - 1;
    std::memcpy(&sum, &low, sizeof low);
    std::memcpy(reinterpret_cast<char*>(&sum) + sizeof low, &high, sizeof high);
  }
  return static_cast<Float>(sum);
}

} // namespace tidegate
