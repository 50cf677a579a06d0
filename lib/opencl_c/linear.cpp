#include "opencl_c/linear.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace tidegate::opencl_c {
namespace {

constexpr std::int64_t most_number = std::int64_t{1} << 30U; // so that no sum of products leaves 64 bits
constexpr std::int64_t most_int = (std::int64_t{1} << 31U) - 1;
constexpr std::int64_t most_uint = (std::int64_t{1} << 32U) - 1;

bool is_small(const Linear& value) {
  const auto small = [](std::int64_t number) { return std::abs(number) <= most_number; };
  return std::ranges::all_of(value.factors, small) && small(value.low) && small(value.high) &&
         small(value.wrapped.factor);
}

// The result of a step with exact or other operands, of which one may be an int.
std::optional<Linear> result(Linear value, const Linear& a, const Linear& b, const IdRanges& ids) {
  if (!is_small(value)) {
    return {};
  }
  value.exact = a.exact && b.exact;
  return converted(value, a.is_int && b.is_int, ids);
}

Linear negated(Linear value) {
  for (std::int64_t& factor : value.factors) {
    factor = -factor;
  }
  std::tie(value.low, value.high) = std::pair(-value.high, -value.low);
  value.wrapped.factor = -value.wrapped.factor;
  return value;
}

std::optional<Linear> added(const Linear& a, const Linear& b) {
  if (a.wrapped.factor != 0 && b.wrapped.factor != 0) {
    return {};
  }
  Linear value = a;
  for (std::size_t d = 0; d < 3; ++d) {
    value.factors[d] += b.factors[d];
  }
  value.low += b.low;
  value.high += b.high;
  value.wrapped = a.wrapped.factor != 0 ? a.wrapped : b.wrapped;
  return value;
}

} // namespace

std::optional<std::uint32_t> Linear::id() const {
  for (std::uint32_t d = 0; d < 3; ++d) {
    std::array<std::int64_t, 3> one{};
    one[d] = 1;
    if (factors == one && wrapped.factor == 0) {
      return d;
    }
  }
  return {};
}

Linear constant_of(std::int64_t number, bool is_int) {
  Linear value;
  value.low = value.high = number;
  value.is_int = is_int;
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

std::array<std::int64_t, 2> range_of(const Linear& value, const IdRanges& ids) {
  std::int64_t low = value.low;
  std::int64_t high = value.high;
  const auto add = [&](std::int64_t factor, std::int64_t first, std::int64_t last) {
    low += factor * (factor < 0 ? last : first);
    high += factor * (factor < 0 ? first : last);
  };
  for (std::size_t d = 0; d < 3; ++d) {
    add(value.factors[d], ids.begin[d], std::max(ids.begin[d], ids.end[d] - 1));
  }
  if (value.wrapped.factor != 0) {
    add(value.wrapped.factor, 0, value.wrapped.modulus - 1);
  }
  return {low, high};
}

Linear converted(Linear value, bool to_int, const IdRanges& ids) {
  const auto [low, high] = range_of(value, ids);
  value.is_int = to_int;
  value.exact = value.exact && high <= (to_int ? most_int : most_uint) && low >= (to_int ? -most_int - 1 : 0);
  return value;
}

std::optional<Linear> sum(const Linear& a, const Linear& b, const IdRanges& ids) {
  const auto value = added(a, b);
  return value ? result(*value, a, b, ids) : std::nullopt;
}

std::optional<Linear> difference(const Linear& a, const Linear& b, const IdRanges& ids) {
  const auto value = added(a, negated(b));
  return value ? result(*value, a, b, ids) : std::nullopt;
}

std::optional<Linear> product(const Linear& a, const Linear& b, const IdRanges& ids) {
  if (!a.is_constant() && !b.is_constant()) {
    return {};
  }
  Linear value = a.is_constant() ? b : a;
  const std::int64_t by = a.is_constant() ? a.low : b.low;
  for (std::int64_t& factor : value.factors) {
    factor *= by;
  }
  std::tie(value.low, value.high) = std::minmax(value.low * by, value.high * by);
  value.wrapped.factor *= by;
  return result(value, a, b, ids);
}

std::optional<Linear> remainder(const Linear& a, const Linear& b, const IdRanges& ids, std::uint32_t wraps) {
  const auto [low, high] = range_of(a, ids);
  if (!b.is_constant() || b.low <= 0 || !a.exact || !b.exact || low < 0 || a.wrapped.factor != 0) {
    return {};
  }
  const std::int64_t modulus = b.low;
  if (high < modulus) {
    return result(a, a, b, ids);
  }
  Linear value;
  if (const auto d = a.id(); d == wraps && ids.begin[*d] >= 0 && ids.end[*d] <= modulus) {
    const std::int64_t away = (a.low + modulus / 2) / modulus * modulus; // low may be y + height - 1
    value.wrapped = {
        .factor = 1, .dimension = *d, .low = a.low - away, .high = a.high - away, .modulus = modulus};
  } else {
    value.high = modulus - 1;
  }
  return result(value, a, b, ids);
}

std::optional<Linear> quotient(const Linear& a, const Linear& b, const IdRanges& ids) {
  const auto [low, high] = range_of(a, ids);
  if (!a.exact || !b.exact || low < 0 || !b.is_bounded() || b.low <= 0) {
    return {};
  }
  return result(between(low / b.high, high / b.low), a, b, ids);
}

std::optional<Linear> masked(const std::optional<Linear>& a, const std::optional<Linear>& b,
                             const IdRanges& ids) {
  std::int64_t most = most_number + 1;
  for (const auto* const operand : {&a, &b}) {
    const auto [low, high] =
        *operand && (*operand)->exact ? range_of(**operand, ids) : std::array<std::int64_t, 2>{-1, 0};
    most = low >= 0 ? std::min(most, high) : most;
  }
  return most <= most_number ? std::optional(between(0, most, a && b && a->is_int && b->is_int))
                             : std::nullopt;
}

std::optional<Linear> bits_of_either(const Linear& a, const Linear& b, const IdRanges& ids) {
  const auto [low, high] = range_of(a, ids);
  const auto [other_low, other_high] = range_of(b, ids);
  if (!a.exact || !b.exact || low < 0 || other_low < 0) {
    return {};
  }
  const auto most = static_cast<std::uint64_t>(std::max(high, other_high));
  return result(between(0, static_cast<std::int64_t>(std::bit_ceil(most + 1)) - 1), a, b, ids);
}

std::optional<Linear> either(const std::optional<Linear>& a, const std::optional<Linear>& b) {
  if (!a || !b || !a->exact || !b->exact || !a->is_bounded() || !b->is_bounded()) {
    return {};
  }
  const Linear value = between(std::min(a->low, b->low), std::max(a->high, b->high), a->is_int && b->is_int);
  return value.is_int || value.low >= 0 ? std::optional(value) : std::nullopt;
}

// Bounds the greater one of an id plus a number and a constant c: id + low <= result <= id + max(high, c) if no id is less than c.
std::optional<Linear> greatest(const Linear& a, const Linear& b, const IdRanges& ids) {
  if (a.is_constant() && !b.is_constant()) {
    return greatest(b, a, ids);
  }
  if (!a.exact || !b.exact || a.is_int != b.is_int || !b.is_constant()) {
    return {};
  }
  Linear value = a;
  if (a.is_bounded()) {
    value.low = std::max(a.low, b.low);
    value.high = std::max(a.high, b.low);
  } else if (const auto d = a.id(); d && ids.begin[*d] >= 0 && b.low <= 0) {
    value.high = std::max(a.high, b.low);
  } else {
    return {};
  }
  return result(value, a, b, ids);
}

// For the smaller one, id + min(low, c - greatest id) <= result <= id + high if no id is greater than c.
std::optional<Linear> least(const Linear& a, const Linear& b, const IdRanges& ids) {
  if (a.is_constant() && !b.is_constant()) {
    return least(b, a, ids);
  }
  if (!a.exact || !b.exact || a.is_int != b.is_int || !b.is_constant()) {
    return {};
  }
  Linear value = a;
  if (a.is_bounded()) {
    value.low = std::min(a.low, b.low);
    value.high = std::min(a.high, b.low);
  } else if (const auto d = a.id(); d && ids.end[*d] - 1 <= b.low) {
    value.low = std::min(a.low, b.low - (ids.end[*d] - 1));
  } else {
    return {};
  }
  return result(value, a, b, ids);
}

} // namespace tidegate::opencl_c
