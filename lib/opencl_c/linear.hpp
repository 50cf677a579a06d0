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

  [[nodiscard]] bool empty() const { return low > high; }
  [[nodiscard]] bool contains(const Interval& part) const { return low <= part.low && part.high <= high; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

inline Interval tighter(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
inline Interval sum(const Interval& a, const Interval& b) {
  const bool known = a != Interval() && b != Interval();
  return known ? Interval{a.low + b.low, a.high + b.high} : Interval();
}

// By dimension.
using Ids = std::array<Interval, 3>;

inline bool is_empty(const Ids& ids) {
  return std::ranges::any_of(ids, &Interval::empty);
}

// The id of a dimension plus one of `offset`, modulo `modulus` if it is not 0; it is known to be in `range`.
struct Coordinate {
  Interval offset{0, 0};
  Interval range = {};
  std::int64_t modulus = 0;

  friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

struct Linear {
  std::array<std::int64_t, 3> factors{}; // of the coordinates
  std::array<Coordinate, 3> at;
  Interval rest{0, 0}; // the number that is added
  bool exact = true;
  bool is_int = false; // its type is int; otherwise unsigned or wider

  [[nodiscard]] bool is_bounded() const { return factors == std::array<std::int64_t, 3>{}; }
  [[nodiscard]] bool is_constant() const { return is_bounded() && rest.low == rest.high; }
  // The ids give one number each.
  [[nodiscard]] bool is_point() const;
  // The dimension of the id that the value is, plus a number beside it.
  [[nodiscard]] std::optional<std::uint32_t> id() const;
};

Linear constant_of(std::int64_t number, bool is_int);
Linear between(const Interval& numbers, bool is_int = false);
Linear id_of(std::uint32_t dimension);

Interval range_of(const Linear& value, const Ids& ids);
// The ids for which the value may be in the range.
Ids narrowed(Ids ids, const Linear& value, const Interval& range);

// The same with the coordinate of a dimension as a bounded number.
Linear folded(Linear value, std::uint32_t dimension, const Ids& ids);
// An exact value that is known to be in the range.
Linear within(const Linear& value, const Interval& range, const Ids& ids);
// A value of another type.
Linear converted(Linear value, bool to_int, const Ids& ids);

// These return nullopt if nothing is known of the result.
// The signs + - * / % << >> &.
std::optional<Linear> computed(std::string_view sign, const std::optional<Linear>& a,
                               const std::optional<Linear>& b, const Ids& ids);
// One of two values; the second where the ids are `b_ids`.
std::optional<Linear> either(Linear a, const Ids& a_ids, Linear b, const Ids& b_ids);
std::optional<Linear> extreme(const Linear& a, const Linear& b, const Ids& ids, bool less); // min or max

// Elements belong to ids: element e to those whose multiples `per_id` give it, that of the greatest factor first.
// A work-item touches only elements of the ids within `offset` of its own.
struct ElementsById {
  std::array<std::int64_t, 3> per_id{}; // elements from one id to the next; 0: none depend on this id
  Ids offset{Interval{0, 0}, Interval{0, 0}, Interval{0, 0}};
};
// Returns nullopt if the element determines no ids.
std::optional<ElementsById> ids_of(const Linear& element, const Ids& ids);

// Elements of the work-items with number i in the outermost dimension: from i * per_id + low to i * per_id + high. With
// `wraps`, rows are those of a torus, whose first one follows the last.
struct RowElements {
  std::int64_t per_id = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t wraps = 0; // rows of the torus; 0: no torus
};
std::optional<RowElements> rows_of(Linear element, std::uint32_t outermost, const Ids& ids);

} // namespace tidegate::opencl_c
