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

// Elements by ids and rows of all accesses; nullopt if they have nothing in common.
std::optional<ElementsById> joined(ElementsById all, const ElementsById& more) {
  for (std::size_t d = 0; d < 3; ++d) {
    all.offset[d] = hull(all.offset[d], more.offset[d]);
  }
  return all.per_id == more.per_id ? std::optional(all) : std::nullopt;
}

std::optional<RowElements> joined(RowElements all, const RowElements& more) {
  const bool alike =
      all.per_id == more.per_id && (all.wraps == 0 || more.wraps == 0 || all.wraps == more.wraps);
  all.low = std::min(all.low, more.low);
  all.high = std::max(all.high, more.high);
  all.wraps = std::max(all.wraps, more.wraps);
  return alike ? std::optional(all) : std::nullopt;
}

// Sets `all` to what the accesses have in common; returns the index of the first that has something else, or their number.
template <class T, class Of>
std::size_t join(const std::vector<Access>& accesses, std::optional<T>& all, const Of& of) {
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const std::optional<T> one = of(accesses[i]);
    all = one ? (i == 0 ? one : joined(*all, *one)) : std::nullopt;
    if (!all) {
      return i;
    }
  }
  return accesses.size();
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
  return is_one_of("int uint long ulong size_t ptrdiff_t intptr_t uintptr_t", type);
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

void sum_up(const std::vector<Access>& accesses, const LaunchSetting& setting, Footprint& footprint) {
  for (const Access& access : accesses) {
    const Interval range = range_of(access.element, access.ids);
    footprint.elements = hull(footprint.elements.value_or(range), range);
    footprint.certain =
        access.is_certain ? hull(footprint.certain.value_or(range), range) : footprint.certain;
  }
  if (accesses.empty()) { // as if it touched its own
    const bool is_line = setting.dimensions == 1;
    footprint.elements = Interval{1, 0};
    footprint.by_id = ElementsById{.per_id = {is_line ? 1 : 0}};
    footprint.rows = is_line ? std::optional(RowElements{.per_id = 1}) : std::nullopt;
  }
  join(accesses, footprint.rows,
       [&](const Access& access) { return rows_of(access.element, setting.dimensions - 1, access.ids); });
  // By the ids of all dimensions, or at least of those with several work-groups.
  std::size_t other = 0;
  for (const bool folds : {false, true}) {
    const auto by_ids = [&](const Access& access) -> std::optional<ElementsById> {
      Linear element = access.element;
      bool known = true;
      for (std::uint32_t d = 0; d < 3; ++d) {
        const bool counts = d < setting.dimensions && setting.size[d] > (folds ? setting.local[d] : 1);
        known = known && (element.factors[d] != 0 || !counts);
        element = folds && !counts ? folded(element, d, access.ids) : element;
      }
      return known ? ids_of(element, access.ids) : std::nullopt;
    };
    other = footprint.by_id ? other : join(accesses, footprint.by_id, by_ids);
  }
  if (!footprint.by_id) {
    footprint.obstacle =
        Obstacle{"its index does not follow the ids of all dimensions", accesses[other].token};
  }
}

} // namespace tidegate::opencl_c
