#include "opencl_c/linear.hpp"

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_number = std::int64_t{1} << 30U; // so that no sum of products leaves 64 bits
constexpr Interval small{-most_number, most_number};
constexpr Interval ints{-(std::int64_t{1} << 31U), (std::int64_t{1} << 31U) - 1};
constexpr Interval uints{0, (std::int64_t{1} << 32U) - 1};

// The numbers times a factor; a range without ends stays one.
Interval times(const Interval& numbers, std::int64_t factor) {
  constexpr std::int64_t most = std::int64_t{1} << 32U;
  if (!Interval{-most, most}.contains(numbers)) {
    return {};
  }
  const auto [low, high] = std::minmax({numbers.low * factor, numbers.high * factor});
  return {low, high};
}

// Joins two facts about a number; they contradict each other in code that never runs.
Interval known(const Interval& all, const Interval& range) {
  const Interval both = tighter(all, range);
  return both.empty() ? all : both;
}

Interval range_of(const Coordinate& coordinate, const Interval& ids) {
  const Interval all = coordinate.modulus != 0
                           ? Interval{0, coordinate.modulus - 1}
                           : sum(coordinate.offset, {ids.low, std::max(ids.low, ids.high)});
  return known(all, coordinate.range);
}

// The part of a dimension in the sum.
Interval part_of(const Linear& value, std::uint32_t dimension, const Ids& ids) {
  return value.factors[dimension] == 0
             ? Interval{0, 0}
             : times(range_of(value.at[dimension], ids[dimension]), value.factors[dimension]);
}

// The result of a step with exact or other operands, of which one may be an int.
std::optional<Linear> result(Linear value, const Linear& a, const Linear& b, const Ids& ids) {
  bool is_small = small.contains(value.rest);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t factor = value.factors[d];
    value.at[d] = factor == 0 ? Coordinate() : value.at[d];
    is_small = is_small && small.contains({factor, factor}) && small.contains(value.at[d].offset);
  }
  value.exact = a.exact && b.exact;
  return is_small ? std::optional(converted(value, a.is_int && b.is_int, ids)) : std::nullopt;
}

Linear added(Linear a, Linear b, const Ids& ids) {
  for (std::uint32_t d = 0; d < 3; ++d) {
    const bool same = a.at[d] == b.at[d] && a.at[d].offset.low == a.at[d].offset.high;
    if (a.factors[d] != 0 && b.factors[d] != 0 && !same) {
      for (Linear* const part : {&a, &b}) {
        if (part->at[d].modulus != 0) {
          *part = folded(*part, d, ids);
        } else { // two choices of the number beside the id
          part->rest = sum(part->rest, times(part->at[d].offset, part->factors[d]));
          part->at[d] = {};
        }
      }
    }
    a.at[d] = a.factors[d] == 0 ? b.at[d] : a.at[d];
    a.factors[d] += b.factors[d];
  }
  a.rest = sum(a.rest, b.rest);
  return a;
}

// The dimension of the only coordinate.
std::optional<std::uint32_t> only(const Linear& value) {
  const auto has_factor = [](std::int64_t factor) { return factor != 0; };
  const auto* const found = std::ranges::find_if(value.factors, has_factor);
  return std::ranges::count_if(value.factors, has_factor) == 1
             ? std::optional(static_cast<std::uint32_t>(found - value.factors.begin()))
             : std::nullopt;
}

// The same value without a number beside its only coordinate, if it has one.
Linear absorbed(Linear value) {
  const auto d = only(value);
  const std::int64_t factor = d ? value.factors[*d] : 1;
  if (!d || value.at[*d].modulus != 0 || value.rest.low % factor != 0 || value.rest.high % factor != 0) {
    return value;
  }
  const auto [low, high] = std::minmax({value.rest.low / factor, value.rest.high / factor});
  Coordinate& at = value.at[*d];
  at.offset = sum(at.offset, {low, high});
  at.range = sum(at.range, {low, high});
  value.rest = {0, 0};
  return value;
}

// The id of the dimension plus the number in its coordinate, and nothing else.
std::optional<std::uint32_t> id_alone(const Linear& value) {
  return value.rest == Interval{0, 0} ? value.id() : std::nullopt;
}

std::optional<Linear> product(const Linear& a, const Linear& b) {
  if (!a.is_constant() && !b.is_constant()) {
    return {};
  }
  const std::int64_t by = a.is_constant() ? a.rest.low : b.rest.low;
  Linear value = absorbed(a.is_constant() ? b : a);
  for (std::int64_t& factor : value.factors) {
    factor *= by;
  }
  value.rest = times(value.rest, by);
  return value;
}

// The operands are exact and not negative.
std::optional<Linear> remainder(const Linear& a, const Linear& b, const Ids& ids) {
  const std::int64_t modulus = b.rest.low;
  if (!b.is_constant() || modulus <= 0) {
    return {};
  }
  if (range_of(a, ids).high < modulus) {
    return a;
  }
  Linear value = absorbed(a);
  const auto d = id_alone(value);
  if (!d || !Interval{0, modulus - 1}.contains(ids[*d])) {
    return between({0, modulus - 1});
  }
  const Interval offset = value.at[*d].offset;
  const std::int64_t away = (offset.low + modulus / 2) / modulus * modulus; // it may be y + height - 1
  value.at[*d] = {.offset = sum(offset, {-away, -away}), .modulus = modulus};
  return value;
}

} // namespace

bool Linear::is_point() const {
  bool point = rest.low == rest.high;
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
  Linear value = between({number, number}, is_int);
  value.exact = is_int || number >= 0;
  return value;
}

Linear between(const Interval& numbers, bool is_int) {
  Linear value;
  value.rest = numbers;
  value.is_int = is_int;
  return value;
}

Linear id_of(std::uint32_t dimension) {
  Linear value;
  value.factors[dimension] = 1;
  return value;
}

Interval range_of(const Linear& value, const Ids& ids) {
  Interval all = value.rest;
  for (std::uint32_t d = 0; d < 3; ++d) {
    all = sum(all, part_of(value, d, ids));
  }
  return all;
}

Ids narrowed(Ids ids, const Linear& value, const Interval& range) {
  if (const auto d = value.id()) {
    const Interval beside = sum(value.at[*d].offset, value.rest);
    ids[*d] = tighter(ids[*d], {range.low - beside.high, range.high - beside.low});
  }
  return ids;
}

Linear folded(Linear value, std::uint32_t dimension, const Ids& ids) {
  value.rest = sum(value.rest, part_of(value, dimension, ids));
  value.factors[dimension] = 0;
  value.at[dimension] = {};
  return value;
}

Linear within(const Linear& value, const Interval& range, const Ids& ids) {
  const Interval now = range_of(value, ids);
  if (range.contains(now)) {
    return value;
  }
  Linear made = absorbed(value);
  const auto d = only(made);
  if (made.is_bounded()) {
    made.rest = known(now, range);
  } else if (d && std::abs(made.factors[*d]) == 1 && made.rest == Interval{0, 0}) {
    made.at[*d].range = tighter(made.at[*d].range, times(known(now, range), made.factors[*d]));
  }
  return made;
}

Linear converted(Linear value, bool to_int, const Ids& ids) {
  value.is_int = to_int;
  value.exact = value.exact && (to_int ? ints : uints).contains(range_of(value, ids));
  return value;
}

std::optional<Linear> computed(std::string_view sign, const std::optional<Linear>& a,
                               const std::optional<Linear>& b, const Ids& ids) {
  const auto natural_range = [&](const std::optional<Linear>& of) {
    const Interval range = of && of->exact ? range_of(*of, ids) : Interval();
    return range.low >= 0 ? range : Interval();
  };
  if (sign == "&") { // where one operand is not known, any of the bits of the other
    const std::int64_t most = std::min(natural_range(a).high, natural_range(b).high);
    return most <= most_number ? std::optional(between({0, most}, a && b && a->is_int && b->is_int))
                               : std::nullopt;
  }
  if (!a || !b) {
    return {};
  }
  if (sign == "<<" || sign == ">>") { // by a power of two
    const bool is_known = b->is_constant() && Interval{0, 30}.contains(b->rest);
    return is_known ? computed(sign == "<<" ? "*" : "/", a,
                               constant_of(std::int64_t{1} << b->rest.low, a->is_int), ids)
                    : std::nullopt;
  }
  const auto [low, high] = natural_range(a);
  const bool natural = b->exact && low >= 0;
  std::optional<Linear> value;
  if (sign == "+") {
    value = added(*a, *b, ids);
  } else if (sign == "-") {
    value = added(*a, *product(*b, constant_of(-1, true)), ids);
  } else if (sign == "*") {
    value = product(*a, *b);
  } else if (natural && sign == "%") {
    value = remainder(*a, *b, ids);
  } else if (natural && sign == "/" && b->is_bounded() && b->rest.low > 0) {
    value = between({low / b->rest.high, high / b->rest.low});
  }
  return value ? result(*value, *a, *b, ids) : std::nullopt;
}

std::optional<Linear> either(Linear a, const Ids& a_ids, Linear b, const Ids& b_ids) {
  if (!a.exact || !b.exact) {
    return {};
  }
  for (const auto& [value, ids] : {std::pair(&a, &a_ids), std::pair(&b, &b_ids)}) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      value->at[d].range = value->factors[d] == 0 ? Interval() : range_of(value->at[d], (*ids)[d]);
    }
    *value = absorbed(*value);
  }
  const Interval numbers = hull(range_of(a, a_ids), range_of(b, b_ids));
  const bool is_int = a.is_int && b.is_int;
  for (auto [one, other, ids] : {std::tuple(&a, &b, &b_ids), std::tuple(&b, &a, &a_ids)}) {
    if (const auto d = id_alone(*one); d && other->is_bounded() && !is_empty(*ids)) {
      const Interval number = other->rest; // the id plus what is missing to it
      *other = id_of(*d);
      other->at[*d] = {.offset = {number.low - (*ids)[*d].high, number.high - (*ids)[*d].low},
                       .range = number};
    }
  }
  a.rest = hull(a.rest, b.rest);
  bool alike = a.factors == b.factors && !a.is_bounded() && small.contains(a.rest);
  for (std::size_t d = 0; d < 3; ++d) {
    a.at[d].offset = hull(a.at[d].offset, b.at[d].offset);
    a.at[d].range = hull(a.at[d].range, b.at[d].range);
    alike = alike && a.at[d].modulus == b.at[d].modulus && small.contains(a.at[d].offset);
  }
  Linear value = alike ? a : between(numbers);
  value.is_int = is_int;
  return is_int || numbers.low >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<Linear> extreme(const Linear& a, const Linear& b, const Ids& ids, bool less) {
  if (!a.exact || !b.exact || a.is_int != b.is_int) {
    return {};
  }
  const Interval x = range_of(a, ids);
  const Interval y = range_of(b, ids);
  if (less ? x.high < y.low : x.low > y.high) {
    return a;
  }
  if (less ? y.high < x.low : y.low > x.high) {
    return b;
  }
  // Each counts where it is on its side of the other.
  const auto side = [less](const Interval& other) {
    return less ? Interval{.high = other.high} : Interval{.low = other.low};
  };
  const auto other_side = [less](const Interval& one) {
    return less ? Interval{.low = one.low} : Interval{.high = one.high};
  };
  return either(within(a, side(y), ids), narrowed(narrowed(ids, a, side(y)), b, other_side(x)),
                within(b, side(x), ids), narrowed(narrowed(ids, b, side(x)), a, other_side(y)));
}

std::optional<ElementsById> ids_of(const Linear& element, const Ids& ids) {
  const auto floor_of = [](std::int64_t number, std::int64_t by) {
    return number / by - (number % by < 0 ? 1 : 0);
  };
  ElementsById found{.per_id = element.factors};
  std::vector<std::uint32_t> order;
  Interval below = element.rest; // what is left below the factors so far
  for (std::uint32_t d = 0; d < 3; ++d) {
    if (element.factors[d] < 0 || element.at[d].modulus != 0) {
      return {};
    }
    if (element.factors[d] != 0) {
      order.push_back(d);
    }
    below = sum(below, part_of(element, d, ids));
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::uint32_t d) { return element.factors[d]; });
  for (const std::uint32_t d : order) {
    const std::int64_t factor = element.factors[d];
    const Interval own = part_of(element, d, ids);
    below = {below.low - own.low, below.high - own.high};
    const Interval steps{floor_of(below.low, factor), floor_of(below.high, factor)};
    if (d != order.back() && steps.low != steps.high) {
      return {};
    }
    found.offset[d] = sum(element.at[d].offset, steps);
    below = sum(below, {-steps.low * factor, -steps.low * factor});
  }
  return found;
}

std::optional<RowElements> rows_of(Linear element, std::uint32_t outermost, const Ids& ids) {
  const std::int64_t per_id = element.factors[outermost];
  const Coordinate row = element.at[outermost];
  element.factors[outermost] = 0;
  const Interval in_row = range_of(element, ids);
  if (per_id <= 0 || (row.modulus != 0 && (in_row.low < 0 || in_row.high >= per_id))) {
    return {};
  }
  return RowElements{.per_id = per_id,
                     .low = in_row.low + row.offset.low * per_id,
                     .high = in_row.high + row.offset.high * per_id,
                     .wraps = row.modulus};
}

} // namespace tidegate::opencl_c
