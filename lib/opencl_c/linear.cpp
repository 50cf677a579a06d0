#include "opencl_c/linear.hpp"

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_number = std::int64_t{1} << 30U; // so that no sum of products leaves 64 bits
constexpr std::int64_t most_int = (std::int64_t{1} << 31U) - 1;
constexpr std::int64_t most_uint = (std::int64_t{1} << 32U) - 1;

bool is_small(std::int64_t number) {
  return std::abs(number) <= most_number;
}

bool is_small(const Linear& value) {
  const auto small_offset = [](const Coordinate& at) {
    return is_small(at.offset.low) && is_small(at.offset.high);
  };
  return std::ranges::all_of(value.factors, [](std::int64_t factor) { return is_small(factor); }) &&
         is_small(value.low) && is_small(value.high) && std::ranges::all_of(value.at, small_offset);
}

// The numbers times a factor; a range without ends stays one.
Interval times(const Interval& numbers, std::int64_t factor) {
  constexpr std::int64_t most = std::int64_t{1} << 32U;
  if (numbers.low < -most || numbers.high > most) {
    return {};
  }
  const auto [low, high] = std::minmax({numbers.low * factor, numbers.high * factor});
  return {low, high};
}

// What is known of a range moves with the value; its ends do not overflow.
Interval moved(const Interval& range, const Interval& by) {
  const Interval none;
  return {range.low == none.low ? none.low : range.low + by.low,
          range.high == none.high ? none.high : range.high + by.high};
}

// The result of a step with exact or other operands, of which one may be an int.
std::optional<Linear> result(Linear value, const Linear& a, const Linear& b, const IdRanges& ids) {
  for (std::size_t d = 0; d < 3; ++d) {
    value.at[d] = value.factors[d] == 0 ? Coordinate() : value.at[d];
  }
  value.exact = a.exact && b.exact;
  return is_small(value) ? std::optional(converted(value, a.is_int && b.is_int, ids)) : std::nullopt;
}

Linear negated(Linear value) {
  for (std::int64_t& factor : value.factors) {
    factor = -factor;
  }
  std::tie(value.low, value.high) = std::pair(-value.high, -value.low);
  value.range = {-value.range.high, -value.range.low};
  return value;
}

Linear added(const Linear& a, const Linear& b, const IdRanges& ids) {
  Linear value = a;
  Linear other = b;
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (value.factors[d] != 0 && other.factors[d] != 0) {
      const bool same = value.at[d] == other.at[d] && value.at[d].offset.low == value.at[d].offset.high;
      for (Linear* const part : {&value, &other}) {
        if (!same && part->at[d].modulus != 0) {
          *part = folded(*part, d, ids);
        } else if (!same) { // two choices of the number beside the id
          const Interval beside = times(part->at[d].offset, part->factors[d]);
          part->low += beside.low;
          part->high += beside.high;
          part->at[d] = {};
        }
      }
    }
    if (value.factors[d] == 0) {
      value.at[d] = other.at[d];
    }
    value.factors[d] += other.factors[d];
  }
  value.low += other.low;
  value.high += other.high;
  const bool known = a.range != Interval() || b.range != Interval();
  value.range = known && a.exact && b.exact ? sum(range_of(a, ids), range_of(b, ids)) : Interval();
  return value;
}

// What is known of the ids where a value was made stays with it.
Linear settled(Linear value, const IdRanges& ids) {
  value.range = tighter(value.range, range_of(value, ids));
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (value.factors[d] != 0) {
      value.at[d].range = range_of(value.at[d], d, ids);
    }
  }
  return value;
}

// A number beside the id, as what is missing to it.
Interval beside_id(const Linear& number, std::uint32_t dimension, const IdRanges& ids) {
  return {number.low - (ids.end[dimension] - 1), number.high - ids.begin[dimension]};
}

// The id of the dimension plus the number in its coordinate, and nothing else.
std::optional<std::uint32_t> id_alone(const Linear& value) {
  return value.low == 0 && value.high == 0 ? value.id() : std::nullopt;
}

// The dimension of the only coordinate.
std::optional<std::uint32_t> only(const Linear& value) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (value.factors[d] != 0) {
      if (found) {
        return {};
      }
      found = d;
    }
  }
  return found;
}

std::optional<Linear> product(const Linear& a, const Linear& b) {
  if (!a.is_constant() && !b.is_constant()) {
    return {};
  }
  const std::int64_t by = a.is_constant() ? a.low : b.low;
  Linear value = absorbed(a.is_constant() ? b : a);
  for (std::int64_t& factor : value.factors) {
    factor *= by;
  }
  std::tie(value.low, value.high) = std::minmax({value.low * by, value.high * by});
  value.range = value.exact ? times(value.range, by) : Interval();
  return value;
}

// Of exact operands that are not negative.
std::optional<Linear> remainder(const Linear& a, const Linear& b, const IdRanges& ids) {
  const std::int64_t modulus = b.low;
  if (!b.is_constant() || modulus <= 0) {
    return {};
  }
  if (range_of(a, ids).high < modulus) {
    return a;
  }
  Linear value = absorbed(a);
  const auto d = id_alone(value);
  if (!d || ids.begin[*d] < 0 || ids.end[*d] > modulus) {
    return between(0, modulus - 1);
  }
  const Interval offset = value.at[*d].offset;
  const std::int64_t away = (offset.low + modulus / 2) / modulus * modulus; // it may be y + height - 1
  value.at[*d] = {.offset = {offset.low - away, offset.high - away}, .range = {}, .modulus = modulus};
  value.range = {};
  return value;
}

// Where one operand is not known, any of the bits of the other.
std::optional<Linear> masked(const std::optional<Linear>& a, const std::optional<Linear>& b,
                             const IdRanges& ids) {
  std::int64_t most = most_number + 1;
  for (const auto* const operand : {&a, &b}) {
    const auto [low, high] = *operand && (*operand)->exact ? range_of(**operand, ids) : Interval{-1, 0};
    most = low >= 0 ? std::min(most, high) : most;
  }
  return most <= most_number ? std::optional(between(0, most, a && b && a->is_int && b->is_int))
                             : std::nullopt;
}

} // namespace

bool Linear::is_point() const {
  bool point = low == high && range == Interval();
  for (std::size_t d = 0; d < 3; ++d) {
    const Interval& offset = at[d].offset;
    point =
        point && (factors[d] == 0 || (at[d] == Coordinate{.offset = offset} && offset.low == offset.high));
  }
  return point;
}

std::optional<std::uint32_t> Linear::id() const {
  const auto d = only(*this);
  return d && factors[*d] == 1 && at[*d].modulus == 0 ? d : std::nullopt;
}

Linear constant_of(std::int64_t number, bool is_int) {
  Linear value = between(number, number, is_int);
  value.exact = is_int || number >= 0;
  return value;
}

Linear between(std::int64_t low, std::int64_t high, bool is_int) {
  Linear value;
  value.low = low;
  value.high = high;
  value.is_int = is_int;
  return value;
}

Linear id_of(std::uint32_t dimension) {
  Linear value;
  value.factors[dimension] = 1;
  return value;
}

Interval range_of(const Coordinate& coordinate, std::uint32_t dimension, const IdRanges& ids) {
  const std::int64_t first = ids.begin[dimension];
  const Interval all = coordinate.modulus != 0
                           ? Interval{0, coordinate.modulus - 1}
                           : sum(coordinate.offset, Interval{first, std::max(first, ids.end[dimension] - 1)});
  const Interval both = tighter(all, coordinate.range);
  return both.low <= both.high ? both : all; // code that never runs
}

Interval range_of(const Linear& value, const IdRanges& ids) {
  Interval all{value.low, value.high};
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (value.factors[d] != 0) {
      const Interval part = range_of(value.at[d], d, ids);
      const auto [low, high] = std::minmax({part.low * value.factors[d], part.high * value.factors[d]});
      all = sum(all, {low, high});
    }
  }
  const Interval both = tighter(all, value.range);
  return both.low <= both.high ? both : all;
}

Linear absorbed(Linear value) {
  const auto d = only(value);
  const std::int64_t factor = d ? value.factors[*d] : 0;
  if (factor == 0 || value.at[*d].modulus != 0 || value.low % factor != 0 || value.high % factor != 0) {
    return value;
  }
  const auto [low, high] = std::minmax({value.low / factor, value.high / factor});
  Coordinate& at = value.at[*d];
  at.offset = sum(at.offset, {low, high});
  at.range = moved(at.range, {low, high});
  if (factor == 1 || factor == -1) {
    const Interval known = factor == 1 ? value.range : Interval{-value.range.high, -value.range.low};
    at.range = tighter(at.range, known);
  }
  value.low = value.high = 0;
  return value;
}

Linear folded(Linear value, std::uint32_t dimension, const IdRanges& ids) {
  if (value.factors[dimension] != 0) {
    const Interval part = times(range_of(value.at[dimension], dimension, ids), value.factors[dimension]);
    value.low += part.low;
    value.high += part.high;
    value.factors[dimension] = 0;
    value.at[dimension] = {};
  }
  return value;
}

Linear within(const Linear& value, const Interval& range, const IdRanges& ids) {
  const Interval now = range_of(value, ids);
  if (now.low >= range.low && now.high <= range.high) {
    return value;
  }
  Linear made = absorbed(value);
  const Interval both = tighter(range, now);
  if (made.is_bounded()) {
    made = between(both.low, std::max(both.low, both.high),
                   value.is_int); // the greater one in code that never runs
    made.exact = value.exact;
    return made;
  }
  made.range = both.low <= both.high ? both : now;
  return absorbed(made);
}

Linear converted(Linear value, bool to_int, const IdRanges& ids) {
  const auto [low, high] = range_of(value, ids);
  value.is_int = to_int;
  value.exact = value.exact && high <= (to_int ? most_int : most_uint) && low >= (to_int ? -most_int - 1 : 0);
  value.range = value.exact ? value.range : Interval();
  return value;
}

std::optional<Linear> computed(std::string_view sign, const std::optional<Linear>& a,
                               const std::optional<Linear>& b, const IdRanges& ids) {
  if (sign == "&") {
    return masked(a, b, ids);
  }
  if (!a || !b) {
    return {};
  }
  if (sign == "<<" || sign == ">>") { // by a power of two
    constexpr std::int64_t most = 30;
    const bool is_known = b->is_constant() && b->low >= 0 && b->low <= most;
    return is_known
               ? computed(sign == "<<" ? "*" : "/", a, constant_of(std::int64_t{1} << b->low, a->is_int), ids)
               : std::nullopt;
  }
  const auto [low, high] = range_of(*a, ids);
  const auto [other_low, other_high] = range_of(*b, ids);
  const bool natural = a->exact && b->exact && low >= 0;
  std::optional<Linear> value;
  if (sign == "+" || sign == "-") {
    value = added(*a, sign == "+" ? *b : negated(*b), ids);
  } else if (sign == "*") {
    value = product(*a, *b);
  } else if (natural && sign == "%") {
    value = remainder(*a, *b, ids);
  } else if (natural && sign == "/" && b->is_bounded() && b->low > 0) {
    value = between(low / b->high, high / b->low);
  } else if (natural && (sign == "|" || sign == "^") && other_low >= 0) {
    const auto most = static_cast<std::uint64_t>(std::max(high, other_high));
    value = between(0, static_cast<std::int64_t>(std::bit_ceil(most + 1)) - 1);
  }
  return value ? result(*value, *a, *b, ids) : std::nullopt;
}

std::optional<Linear> either(Linear a, const IdRanges& a_ids, Linear b, const IdRanges& b_ids) {
  if (!a.exact || !b.exact) {
    return {};
  }
  a = absorbed(settled(a, a_ids));
  b = absorbed(settled(b, b_ids));
  const Interval numbers = hull(range_of(a, a_ids), range_of(b, b_ids));
  const bool is_int = a.is_int && b.is_int;
  for (auto [one, other, ids] : {std::tuple(&a, &b, &b_ids), std::tuple(&b, &a, &a_ids)}) {
    if (const auto d = id_alone(*one); d && other->is_bounded() && !ids->empty()) {
      Linear made = id_of(*d);
      made.at[*d] = {.offset = beside_id(*other, *d, *ids), .range = {other->low, other->high}};
      made.is_int = other->is_int;
      *other = made;
    }
  }
  bool alike = a.factors == b.factors && !a.is_bounded();
  for (std::size_t d = 0; d < 3; ++d) {
    alike = alike && (a.factors[d] == 0 || a.at[d].modulus == b.at[d].modulus);
    a.at[d].offset = hull(a.at[d].offset, b.at[d].offset);
    a.at[d].range = hull(a.at[d].range, b.at[d].range);
  }
  a.low = std::min(a.low, b.low);
  a.high = std::max(a.high, b.high);
  Linear value = alike && is_small(a) ? a : between(numbers.low, numbers.high);
  value.range = value.is_bounded() ? Interval() : numbers;
  value.is_int = is_int;
  return is_int || numbers.low >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<Linear> extreme(const Linear& a, const Linear& b, const IdRanges& ids, bool less) {
  if (a.is_constant() && !b.is_constant()) {
    return extreme(b, a, ids, less);
  }
  if (!a.exact || !b.exact || a.is_int != b.is_int) {
    return {};
  }
  const auto of = [less](const Interval& x, const Interval& y) -> Interval {
    return less ? Interval{std::min(x.low, y.low), std::min(x.high, y.high)}
                : Interval{std::max(x.low, y.low), std::max(x.high, y.high)};
  };
  const Interval numbers = of(range_of(a, ids), range_of(b, ids));
  Linear value = absorbed(a);
  const auto d = id_alone(value);
  if (!d || !b.is_constant() || ids.empty()) {
    return result(between(numbers.low, numbers.high), a, b, ids);
  }
  Coordinate& at = value.at[*d];
  const Interval beside = beside_id(b, *d, ids);
  (less ? at.offset.low : at.offset.high) =
      less ? std::min(at.offset.low, beside.low) : std::max(at.offset.high, beside.high);
  at.range = of(at.range, {b.low, b.low});
  value.range = {};
  return result(value, a, b, ids);
}

} // namespace tidegate::opencl_c
