// Multiplied and added with one rounding, beside the C library's.
#include "core/fused_multiply_add.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

using tidegate::fused_multiply_add;

namespace {

template <class Float, class Bits>
void compare(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto any = [&] { return std::bit_cast<Float>(static_cast<Bits>(engine())); };
  const auto small = [&] {
    return static_cast<Float>(static_cast<std::int64_t>(engine() % 4096) - 2048) / 16;
  };
  for (int round = 0; round < 100'000; ++round) {
    const bool wild = round % 2 == 0;
    const Float a = wild ? any() : small();
    const Float b = wild ? any() : std::nextafter(small(), static_cast<Float>(1e9));
    const Float c = wild ? any() : -a * b; // what is left is the rounding
    const Float expected = std::fma(a, b, c);
    const Float found = fused_multiply_add(a, b, c);
    REQUIRE((expected == found || (std::isnan(expected) && std::isnan(found))));
  }
}

} // namespace

TEST_CASE("as the C library's") {
  compare<float, std::uint32_t>(20'261'122);
  compare<double, std::uint64_t>(20'261'122);
}
