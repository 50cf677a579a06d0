#include "opencl_c/known.hpp"

#include "opencl_c/words.hpp"

namespace tidegate::opencl_c {
namespace {

// Adds to `holds` that a number is in a range.
void narrow(const Known& subject, const Linear& number, const Interval& range, Bounds& holds) {
  holds.ids = narrowed(holds.ids, number, range);
  if (subject.variable != nullptr && !subject.part) {
    holds.variables[subject.variable] = tighter(holds.variables[subject.variable], range);
  }
}

} // namespace

Bounds tighter(Bounds a, const Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d) {
    a.ids[d] = tighter(a.ids[d], b.ids[d]);
  }
  for (const auto& [name, interval] : b.variables) {
    a.variables[name] = tighter(a.variables[name], interval);
  }
  a.exact = a.exact && b.exact;
  return a;
}

Known of_number(const std::optional<Linear>& number) {
  return number ? Known{.kind = Known::Kind::number, .number = number} : Known{};
}

Known kept(const std::optional<Linear>& number, const Known& condition) {
  Known known = of_number(number);
  known.if_true = condition.if_true;
  known.if_false = condition.if_false;
  known.if_true.variables.clear();
  known.if_false.variables.clear();
  return known;
}

bool is_wide(std::string_view type) {
  static constexpr std::array<std::string_view, 8> wide{"int",    "uint",      "long",     "ulong",
                                                        "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"};
  return std::ranges::find(wide, type) != wide.end();
}

std::optional<Linear> all_of(std::string_view type) {
  const auto known = arithmetic_type(type);
  if (!known || known->width != 1 || known->scalar_bytes > 4 || type == "half" || type == "float") {
    return {};
  }
  const std::int64_t values = std::int64_t{1} << (8 * known->scalar_bytes);
  return type.front() == 'u' ? between({0, values - 1}, type != "uint")
                             : between({-values / 2, values / 2 - 1}, true);
}

std::string arithmetic_name(const Type& type) {
  const bool known = type.is_arithmetic() && type.record == nullptr;
  return known && (arithmetic_type(type.name) || is_wide(type.name)) ? type.name : "";
}

Known value_of_number(const TranslationUnit& unit, const Expr& expr) {
  const std::string& word = unit.source.tokens[expr.token].text;
  constexpr std::int64_t most_distance = std::int64_t{1} << 30U;
  const auto value = value_of(unit, expr);
  const bool is_int = word.find_first_of("uUlL") == std::string::npos;
  return value && *value <= most_distance ? of_number(constant_of(*value, is_int)) : Known{};
}

std::optional<Linear> as_type(std::string_view type, const std::optional<Linear>& number, const Ids& ids) {
  if (number && is_wide(type)) {
    return converted(*number, type == "int", ids);
  }
  const auto all = all_of(type);
  if (number && all && number->exact && all->rest.contains(range_of(*number, ids))) {
    Linear same = *number;
    same.is_int = true; // in expressions
    return same;
  }
  return all;
}

Known compared(std::string_view sign, const Known& left, std::optional<Linear> a, const Known& right,
               std::optional<Linear> b, const Ids& ids) {
  if (!a || !b) {
    return {};
  }
  const bool is_int = a->is_int && b->is_int;
  a = converted(*a, is_int, ids);
  b = converted(*b, is_int, ids);
  if (!a->exact || !b->exact) { // the conversion may change them
    return {};
  }
  const Interval x = range_of(*a, ids);
  const Interval y = range_of(*b, ids);
  // The difference of both.
  const Interval all{x.low - y.high, x.high - y.low}, same{0, 0}, less{.high = -1}, more{.low = 1},
      not_more{.high = 0}, not_less{.low = 0};
  const Interval other = all.low >= 0 ? more : all.high <= 0 ? less : Interval();
  const std::array<std::tuple<std::string_view, Interval, Interval>, 6> signs{{{"<", less, not_less},
                                                                               {">", more, not_more},
                                                                               {"<=", not_more, more},
                                                                               {">=", not_less, less},
                                                                               {"==", same, other},
                                                                               {"!=", other, same}}};
  // A comparison of an id with a constant is one bound.
  const bool is_plain = (a->is_constant() && b->is_constant()) ||
                        (a->is_constant() && b->is_point() && b->id()) ||
                        (b->is_constant() && a->is_point() && a->id());
  const auto proved = [&](const Interval& difference) -> Bounds {
    Bounds holds{.variables = {},
                 .exact = difference != Interval() && (is_plain || difference.contains(all))};
    narrow(left, *a, {y.low + difference.low, y.high + difference.high}, holds);
    narrow(right, *b, {x.low - difference.high, x.high - difference.low}, holds);
    holds.ids[0] = tighter(all, difference).empty() ? Interval{0, -1} : holds.ids[0];
    return holds;
  };
  for (const auto& [name, yes, no] : signs) {
    if (name == sign) {
      return {.if_true = proved(yes), .if_false = proved(no)};
    }
  }
  return {};
}

} // namespace tidegate::opencl_c
