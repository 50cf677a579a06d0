#include <tidegate/planning/arena_placed.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tidegate::planning {
namespace {

// The nodes of a bottom-up segment tree over `leaves` leaves that cover [first, end); node 1 is the root and
// leaf i is node leaves + i.
template <class Visit>
void for_covering_nodes(std::uint32_t leaves, std::uint32_t first, std::uint32_t end, Visit visit) {
  for (std::uint32_t low = first + leaves, high = end + leaves; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) {
      visit(low++);
    }
    if (high % 2 == 1) {
      visit(--high);
    }
  }
}

} // namespace

PlacedItems::PlacedItems(const ArenaComponent& component)
    : component_(component), sections_(static_cast<std::uint32_t>(component.section_bytes.size())),
      starts_from_(sections_ + 1), list_from_(2 * std::size_t{sections_} + 1),
      list_size_(2 * std::size_t{sections_}), extents_(component.items.size()) {
  std::uint32_t item_index = 0;
  for (std::uint32_t section = 0; section <= sections_; ++section) {
    while (item_index < component.items.size() && component.items[item_index].first_section < section) {
      ++item_index;
    }
    starts_from_[section] = item_index;
  }
  for (const ArenaItem& item : component.items) {
    for_covering_nodes(sections_, item.first_section, item.end_section,
                       [this](std::uint32_t node) { ++list_from_[node + 1]; });
  }
  std::partial_sum(list_from_.begin(), list_from_.end(), list_from_.begin());
  listed_.resize(list_from_.back());
}

void PlacedItems::insert(std::uint32_t item) {
  for_covering_nodes(
      sections_, component_.items[item].first_section, component_.items[item].end_section,
      [&](std::uint32_t node) { listed_[list_from_[node] + list_size_[node]++] = extents_[item]; });
}

void PlacedItems::collect(const ArenaItem& item) {
  around_.clear();
  for (std::uint32_t node = item.first_section + sections_; node > 0; node /= 2) {
    const auto begin = listed_.begin() + list_from_[node];
    around_.insert(around_.end(), begin, begin + list_size_[node]);
  }
  const std::uint32_t end = starts_from_[item.end_section];
  for (std::uint32_t other = starts_from_[item.first_section + 1]; other < end; ++other) {
    if (extents_[other].top != 0) {
      around_.push_back(extents_[other]);
    }
  }
  std::sort(around_.begin(), around_.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
}

std::optional<std::uint64_t> PlacedItems::find_gap(const ArenaItem& item, Fit fit) const {
  std::uint64_t top = 0; // of everything passed so far
  std::uint64_t least_left = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::uint64_t> result;
  for (const Extent& extent : around_) {
    if (extent.offset > top) {
      const auto offset = aligned_up(top, item.alignment);
      if (offset && *offset < extent.offset && extent.offset - *offset >= item.size) {
        const std::uint64_t left = extent.offset - top - item.size;
        if (fit == Fit::lowest) {
          return offset;
        }
        if (left < least_left) {
          least_left = left;
          result = offset;
        }
      }
    }
    top = std::max(top, extent.top);
  }
  return result ? result : aligned_up(top, item.alignment);
}

std::optional<ArenaLayout> PlacedItems::layout(std::span<const std::uint32_t> order, Fit fit) {
  std::fill(list_size_.begin(), list_size_.end(), 0);
  std::fill(extents_.begin(), extents_.end(), Extent{});
  ArenaLayout result{.offsets = std::vector<std::uint64_t>(component_.items.size())};
  for (const std::uint32_t i : order) {
    const ArenaItem& item = component_.items[i];
    collect(item);
    const auto offset = find_gap(item, fit);
    if (!offset || item.size > std::numeric_limits<std::uint64_t>::max() - *offset) {
      return std::nullopt;
    }
    extents_[i] = {*offset, *offset + item.size};
    insert(i);
    result.offsets[i] = *offset;
    result.height_bytes = std::max(result.height_bytes, extents_[i].top);
  }
  return result;
}

} // namespace tidegate::planning
