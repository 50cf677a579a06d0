// Values that are sums of the global ids with known factors, plus a number that is known or bounded.
//
//   y * 240 + x - 1      factors {1, 240, 0}, from -1 to -1
//   x + k                factors {1, 0, 0}, from 0 to 2 for a k from 0 to 2
//   (y + 159) % 160 * 240   240 times a wrapped id: y - 1, modulo 160
//
// A value holds modulo 2^32, as in 32-bit types. It is `exact` if it also holds as a number: if no step of its
// computation left the numbers that all its types have.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tidegate::opencl_c {

// Half-open: the ids of each dimension.
struct IdRanges {
  std::array<std::int64_t, 3> begin{};
  std::array<std::int64_t, 3> end{};
};

// The id of a dimension plus `low` to `high`, modulo `modulus`, times `factor`. 0: there is none.
struct Wrapped {
  std::int64_t factor = 0;
  std::uint32_t dimension = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t modulus = 0;
};

struct Linear {
  std::array<std::int64_t, 3> factors{}; // of the ids
  std::int64_t low = 0;
  std::int64_t high = 0;
  Wrapped wrapped;
  bool exact = true;
  bool is_int = false; // its type is int; otherwise unsigned or wider

  [[nodiscard]] bool is_bounded() const {
    return factors == std::array<std::int64_t, 3>{} && wrapped.factor == 0;
  }
  [[nodiscard]] bool is_constant() const { return is_bounded() && low == high; }
  // The dimension if it is an id plus a number.
  [[nodiscard]] std::optional<std::uint32_t> id() const;
};

Linear constant_of(std::int64_t number, bool is_int);
Linear between(std::int64_t low, std::int64_t high, bool is_int = false);
Linear id_of(std::uint32_t dimension);

// Least and greatest.
std::array<std::int64_t, 2> range_of(const Linear& value, const IdRanges& ids);

// A value of another type.
Linear converted(Linear value, bool to_int, const IdRanges& ids);

// These return nullopt if nothing is known of the result. The id that remainders may wrap is that of the dimension
// `wraps`.
std::optional<Linear> sum(const Linear& a, const Linear& b, const IdRanges& ids);
std::optional<Linear> difference(const Linear& a, const Linear& b, const IdRanges& ids);
std::optional<Linear> product(const Linear& a, const Linear& b, const IdRanges& ids);
std::optional<Linear> remainder(const Linear& a, const Linear& b, const IdRanges& ids, std::uint32_t wraps);
std::optional<Linear> quotient(const Linear& a, const Linear& b, const IdRanges& ids);
std::optional<Linear> bits_of_either(const Linear& a, const Linear& b, const IdRanges& ids); // of | and ^
// Returns a & b: where one operand is not known, any of the bits of the other.
std::optional<Linear> masked(const std::optional<Linear>& a, const std::optional<Linear>& b,
                             const IdRanges& ids);
// One of two values without ids.
std::optional<Linear> either(const std::optional<Linear>& a, const std::optional<Linear>& b);
std::optional<Linear> least(const Linear& a, const Linear& b, const IdRanges& ids);
std::optional<Linear> greatest(const Linear& a, const Linear& b, const IdRanges& ids);

} // namespace tidegate::opencl_c
