// Random numbers by counter: number i of a seed is a function of the two, so that it depends neither on how
// many are drawn nor on who draws them. Source: Steele, Lea, Flood, Fast Splittable Pseudorandom Number
// Generators (OOPSLA 2014), whose SplitMix64 reaches any of its states in one step.
#pragma once

#include <cstdint>

namespace tidegate::arrays {

// Stafford's mixer 13: a bijection in which every bit of the input flips each bit of the output about half
// the time.
constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

class RandomNumbers {
public:
  // The seed is mixed, as sequences that begin a few steps apart overlap.
  constexpr explicit RandomNumbers(std::uint64_t seed) : start_(mixed(seed + golden_step)) {}

  // 64 even bits.
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t i) const {
    return mixed(start_ + (i + 1) * golden_step);
  }

  // A multiple of 2^-53 in [0, 1).
  [[nodiscard]] constexpr double unit(std::uint64_t i) const {
    return static_cast<double>(bits(i) >> 11U) * 0x1p-53;
  }

private:
  static constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15U; // 2^64 over the golden ratio, made odd

  std::uint64_t start_;
};

} // namespace tidegate::arrays
