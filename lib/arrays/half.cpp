#include <tidegate/arrays/half.hpp>

#include <bit>
#include <cmath>

namespace tidegate::arrays {
namespace {

constexpr std::uint16_t half_sign = 0x8000;
constexpr std::uint16_t half_infinity = 0x7c00;
constexpr std::uint16_t half_nan = 0x7e00;

// The bits of |value|.
std::uint16_t magnitude_bits(double magnitude) {
  constexpr double first_too_large = 65520; // half-way to 2^16, which is even
  constexpr double smallest_normal = 0x1p-14;
  if (std::isnan(magnitude)) {
    return half_nan;
  }
  if (magnitude >= first_too_large) {
    return half_infinity;
  }
  if (magnitude < smallest_normal) { // a multiple of 2^-24; 2^10 of them are the smallest normal number
    // Doubles above 2^52 are whole numbers: the sum is rounded to the nearest one, ties to even.
    return static_cast<std::uint16_t>((magnitude * 0x1p24 + 0x1p52) - 0x1p52);
  }
  // Drops 42 of the 52 bits of fraction; what the rounding carries goes into the exponent, as it should.
  constexpr unsigned dropped = 42;
  constexpr std::uint64_t bias_difference = 1023 - 15;
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const std::uint64_t below_half = (std::uint64_t{1} << (dropped - 1)) - 1;
  const std::uint64_t rounded = (bits + below_half + ((bits >> dropped) & 1U)) >> dropped;
  return static_cast<std::uint16_t>(rounded - (bias_difference << 10U));
}

} // namespace

Half half_from(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? half_sign : 0U);
  return {static_cast<std::uint16_t>(sign | magnitude_bits(std::fabs(value)))};
}

double to_double(Half value) {
  const unsigned exponent = (value.bits >> 10U) & 31U;
  const double fraction = value.bits & 1023U;
  const double magnitude = exponent == 0    ? fraction * 0x1p-24
                           : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                            : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  return (value.bits & half_sign) != 0 ? -magnitude : magnitude;
}

Half next_above(Half value) {
  if ((value.bits & ~half_sign) == 0) {
    return {1};
  }
  return {static_cast<std::uint16_t>((value.bits & half_sign) != 0 ? value.bits - 1 : value.bits + 1)};
}

Half next_below(Half value) {
  const Half mirrored = next_above({static_cast<std::uint16_t>(value.bits ^ half_sign)});
  return {static_cast<std::uint16_t>(mirrored.bits ^ half_sign)};
}

} // namespace tidegate::arrays
