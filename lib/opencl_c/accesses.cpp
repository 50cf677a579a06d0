#include "opencl_c/accesses.hpp"

namespace tidegate::opencl_c {
namespace {

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
