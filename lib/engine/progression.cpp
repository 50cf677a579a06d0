// Evaluates the formula of the header.
#include "engine/progression.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tidegate::engine {
namespace {

std::uint64_t widened(ElementType type, std::span<const std::byte> bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), element_bytes(type));
  const auto unused = static_cast<unsigned>(64 - 8 * element_bytes(type));
  return is_signed_integer(type)
             ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused)
             : bits;
}

// Products of two numbers of 64 bits. ISO C++ lacks the type, hence __extension__.
__extension__ typedef unsigned __int128 Product;

// The rest of the division, from 0 to below the modulo.
std::uint64_t rest_of(std::uint64_t value, const Progression& progression) {
  if (!is_signed_integer(progression.type)) {
    return value % progression.modulo;
  }
  const auto modulo = static_cast<std::int64_t>(progression.modulo);
  const std::int64_t rest = static_cast<std::int64_t>(value) % modulo;
  return static_cast<std::uint64_t>(rest < 0 ? rest + modulo : rest);
}

// Sums and products that are reduced at each step, so that none wraps.
std::uint64_t reduced(const Progression& progression, std::uint64_t steps) {
  const auto product = [&](Product a, Product b) {
    return static_cast<std::uint64_t>(a * b % progression.modulo);
  };
  std::uint64_t value = rest_of(progression.first, progression);
  std::uint64_t by = rest_of(progression.by, progression);
  if (progression.form == Progression::Form::add) {
    return static_cast<std::uint64_t>((Product{value} + product(by, steps)) % progression.modulo);
  }
  for (; steps != 0; steps >>= 1U, by = product(by, by)) {
    value = (steps & 1U) != 0 ? product(value, by) : value;
  }
  return value;
}

std::uint64_t integer(const Progression& progression, std::uint64_t steps) {
  if (progression.modulo != 0 && progression.form <= Progression::Form::multiply) {
    return reduced(progression, steps);
  }
  const std::uint64_t shift = progression.by * steps;
  std::uint64_t value = progression.first;
  switch (progression.form) {
  case Progression::Form::add: value += progression.by * steps; break;
  case Progression::Form::multiply:
    for (std::uint64_t power = progression.by; steps != 0; steps >>= 1U, power *= power) {
      value *= (steps & 1U) != 0 ? power : 1;
    }
    break;
  case Progression::Form::shift_left: value = shift > 63 ? 0 : value << shift; break;
  case Progression::Form::shift_right:
    value = is_signed_integer(progression.type)
                ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >>
                                             std::min<std::uint64_t>(shift, 63))
            : shift > 63 ? 0
                         : value >> shift;
    break;
  }
  return progression.modulo == 0 ? value : rest_of(value, progression);
}

} // namespace

Progression constant_progression(ElementType type, std::span<const std::byte> bytes) {
  return {.type = type, .first = widened(type, bytes)};
}

std::vector<std::byte> value_in(const Progression& progression, std::uint32_t iteration) {
  const std::uint64_t turns = iteration / progression.every;
  const std::uint64_t steps = progression.cycle == 0 ? turns : turns % progression.cycle;
  std::uint64_t bits = 0;
  if (progression.type == ElementType::f32) {
    const auto of = [](std::uint64_t from) { return std::bit_cast<float>(static_cast<std::uint32_t>(from)); };
    bits = std::bit_cast<std::uint32_t>(
        std::fma(of(progression.by), static_cast<float>(steps), of(progression.first)));
  } else if (progression.type == ElementType::f64) {
    bits = std::bit_cast<std::uint64_t>(std::fma(std::bit_cast<double>(progression.by),
                                                 static_cast<double>(steps),
                                                 std::bit_cast<double>(progression.first)));
  } else {
    bits = integer(progression, steps);
  }
  std::vector<std::byte> value(element_bytes(progression.type));
  std::memcpy(value.data(), &bits, value.size());
  return value;
}

std::vector<std::byte> value_in(std::vector<std::byte> value, std::span<const Change> changes,
                                std::uint32_t iteration) {
  for (const Change& change : changes) {
    std::ranges::copy(value_in(change.progression, iteration),
                      value.begin() + static_cast<std::ptrdiff_t>(change.offset));
  }
  return value;
}

std::array<std::uint64_t, progression_words> descriptor_words(const Progression& progression) {
  return {progression.first, progression.by,    static_cast<std::uint64_t>(progression.form),
          progression.every, progression.cycle, progression.modulo};
}

} // namespace tidegate::engine
