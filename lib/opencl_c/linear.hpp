// Values that are sums of the global ids with known factors, plus a number that is known or bounded.
//
//   y * 240 + x - 1          240 times y, 1 times x, from -1 to -1
//   (y + dy) * 240 + x       240 times y from -1 to 1, 1 times x; for a dy from -1 to 1
//   (y + 159) % 160 * 240    240 times y - 1, modulo 160
//
// A value holds modulo 2^32, as in 32-bit types. It is `exact` if it also holds as a number: if no step of its
// computation left the numbers that all its types have.
#pragma once
#include "core/prelude.hpp"

namespace tidegate::opencl_c {

// Least and greatest number.
struct Interval {
  std::int64_t low = -(std::int64_t{1} << 62U);
  std::int64_t high = std::int64_t{1} << 62U;

  friend bool operator==(const Interval&, const Interval&) = default;
};

inline Interval tighter(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval sum(const Interval& a, const Interval& b) {
  return {a.low + b.low, a.high + b.high};
}

// Half-open: the ids of each dimension.
struct IdRanges {
  std::array<std::int64_t, 3> begin{};
  std::array<std::int64_t, 3> end{};

  [[nodiscard]] bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

// The id of a dimension plus one of `offset`, modulo `modulus` if it is not 0; it is known to be in `range`.
struct Coordinate {
  Interval offset{0, 0};
  Interval range;
  std::int64_t modulus = 0;

  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

struct Linear {
  std::array<std::int64_t, 3> factors{}; // of the coordinates
  std::array<Coordinate, 3> at;
  std::int64_t low = 0;
  std::int64_t high = 0;
  Interval range; // the sum is known to be in it
  bool exact = true;
  bool is_int = false; // its type is int; otherwise unsigned or wider

  [[nodiscard]] bool is_bounded() const { return factors == std::array<std::int64_t, 3>{}; }
  [[nodiscard]] bool is_constant() const { return is_bounded() && low == high; }
  // The ids give one number each.
  [[nodiscard]] bool is_point() const;
  // The dimension of the id that the value is, plus a number beside it.
  [[nodiscard]] std::optional<std::uint32_t> id() const;
};

Linear constant_of(std::int64_t number, bool is_int);
Linear between(std::int64_t low, std::int64_t high, bool is_int = false);
Linear id_of(std::uint32_t dimension);

Interval range_of(const Coordinate& coordinate, std::uint32_t dimension, const IdRanges& ids);
Interval range_of(const Linear& value, const IdRanges& ids);

// The same value without a number beside its only coordinate, if it has one.
Linear absorbed(Linear value);
// The same with the coordinate of a dimension as a bounded number.
Linear folded(Linear value, std::uint32_t dimension, const IdRanges& ids);
// An exact value that is known to be in the range.
Linear within(const Linear& value, const Interval& range, const IdRanges& ids);
// A value of another type.
Linear converted(Linear value, bool to_int, const IdRanges& ids);

// These return nullopt if nothing is known of the result.
// The signs + - * / % << >> & | ^.
std::optional<Linear> computed(std::string_view sign, const std::optional<Linear>& a,
                               const std::optional<Linear>& b, const IdRanges& ids);
// One of two values; the second where the ids are `b_ids`.
std::optional<Linear> either(Linear a, const IdRanges& a_ids, Linear b, const IdRanges& b_ids);
std::optional<Linear> extreme(const Linear& a, const Linear& b, const IdRanges& ids, bool less); // min or max

} // namespace tidegate::opencl_c
