#include <tidegate/arrays/element_text.hpp>
#include <tidegate/run/compiled.hpp>
#include <tidegate/run/parity.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tidegate::run {
namespace {

// Floats of one sign are ordered as their bits are; below zero the other way round. NaN has no place.
template <class Bits, int ExponentBits>
std::optional<std::uint64_t> units_between(const std::byte* a, const std::byte* b) {
  constexpr int bits = std::numeric_limits<Bits>::digits;
  constexpr int fraction = bits - 1 - ExponentBits;
  constexpr Bits sign = Bits(Bits(1) << (bits - 1));
  constexpr Bits infinity = Bits(((Bits(1) << ExponentBits) - 1) << fraction);
  const auto place = [](const std::byte* at) -> std::optional<std::int64_t> {
    Bits value = 0;
    std::memcpy(&value, at, sizeof value);
    const Bits size = value & Bits(~sign);
    if (size >= infinity) {
      return {};
    }
    const auto distance = static_cast<std::int64_t>(size); // from 0, below 2^63
    return (value & sign) != 0 ? -distance : distance;
  };
  const auto first = place(a);
  const auto second = place(b);
  if (!first || !second) {
    return {};
  }
  const auto [low, high] = std::minmax(*first, *second);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

// Units in the last place between two finite floats; nothing for others and for integers.
std::optional<std::uint64_t> units_between(ElementType type, const std::byte* a, const std::byte* b) {
  switch (type) {
  case ElementType::f16: return units_between<std::uint16_t, 5>(a, b);
  case ElementType::f32: return units_between<std::uint32_t, 8>(a, b);
  case ElementType::f64: return units_between<std::uint64_t, 11>(a, b);
  default: return {};
  }
}

} // namespace

OutputParity compare_outputs(const ResolvedProgram& program, const HostContents& expected,
                             const HostContents& found) {
  OutputParity parity{.equal = true};
  bool floats = true;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (!program.buffers[i].spec.output) {
      continue;
    }
    ++parity.checked;
    if (same_bytes(expected[i], found[i])) {
      continue;
    }
    const ElementType type = program.buffers[i].spec.type;
    const std::size_t size = element_bytes(type);
    for (std::size_t at = 0; at < expected[i].size(); at += size) {
      const std::byte* const a = expected[i].data() + at;
      const std::byte* const b = found[i].data() + at;
      if (std::memcmp(a, b, size) == 0) {
        continue;
      }
      ++parity.differing_elements;
      const auto units = units_between(type, a, b);
      floats = floats && units.has_value();
      largest = std::max(largest, units.value_or(0));
      if (!parity.first_difference) {
        parity.first_difference = Difference{.buffer = program.buffers[i].name,
                                             .element = at / size,
                                             .expected = element_text(type, a),
                                             .found = element_text(type, b)};
      }
    }
  }
  parity.equal = parity.differing_elements == 0;
  if (!parity.equal && floats) {
    parity.largest_difference_ulp = largest;
  }
  return parity;
}

DifferenceCause likely_cause(const OutputParity& parity, bool plain_repeats, bool run_repeats) {
  constexpr std::uint64_t rounding_ulp = 4096; // many roundings, one on top of the other
  if (!plain_repeats) {
    return DifferenceCause::race;
  }
  if (!run_repeats) {
    return DifferenceCause::order;
  }
  return parity.largest_difference_ulp && *parity.largest_difference_ulp <= rounding_ulp
             ? DifferenceCause::rounding
             : DifferenceCause::unknown;
}

} // namespace tidegate::run
