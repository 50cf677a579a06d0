// Sweeps over time, layouts by order, and their improvement.
#include "planning/arena/heuristics.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <utility>

namespace tidegate::planning {
namespace {

// ---- Sweep: at its start an item takes the smallest free block that fits, and frees it at its end.

enum class Time : std::uint8_t { forward, backward };

// The free blocks below the highest byte ever used, by offset and by length; adjacent blocks are merged.
class FreeBlocks {
public:
  // Returns the offset taken, or nothing if it is not below 2^64.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment) {
    // The shortest blocks that are long enough may be misaligned; a block that is longer by the whole
    // alignment always fits.
    auto block = by_length_.lower_bound({size, 0});
    for (unsigned tries = 0; block != by_length_.end() && tries < 8; ++tries, ++block) {
      if (fits(block->second, block->first, size, alignment)) {
        return cut(block->second, block->first, size, alignment);
      }
    }
    if (size <= u64_max - (alignment - 1)) {
      block = by_length_.lower_bound({size + (alignment - 1), 0});
      if (block != by_length_.end()) {
        return cut(block->second, block->first, size, alignment);
      }
    }
    return grow(size, alignment);
  }

  void give_back(std::uint64_t offset, std::uint64_t size) {
    std::uint64_t end = offset + size;
    auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == end) {
      end += after->second;
      after = erase(after);
    }
    if (after != by_offset_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == offset) {
        offset = before->first;
        erase(before);
      }
    }
    insert(offset, end);
  }

  [[nodiscard]] std::uint64_t height() const { return height_; }

private:
  using ByOffset = std::map<std::uint64_t, std::uint64_t>;

  static bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size, std::uint64_t alignment) {
    const auto start = aligned_up(offset, alignment);
    return start && *start - offset <= length - size;
  }

  void insert(std::uint64_t offset, std::uint64_t end) {
    if (offset < end) {
      by_offset_.emplace(offset, end - offset);
      by_length_.emplace(end - offset, offset);
    }
  }

  ByOffset::iterator erase(ByOffset::iterator block) {
    by_length_.erase({block->second, block->first});
    return by_offset_.erase(block);
  }

  std::optional<std::uint64_t> cut(std::uint64_t offset, std::uint64_t length, std::uint64_t size,
                                   std::uint64_t alignment) {
    erase(by_offset_.find(offset));
    const auto start = aligned_up(offset, alignment);
    insert(offset, *start);
    insert(*start + size, offset + length);
    return start;
  }

  // Takes bytes above all blocks, or from the free block that reaches the top. That block may be long enough
  // without having been tried, so the top does not always rise.
  std::optional<std::uint64_t> grow(std::uint64_t size, std::uint64_t alignment) {
    std::uint64_t from = height_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == height_) {
        from = last->first;
        erase(last);
      }
    }
    const auto start = aligned_up(from, alignment);
    if (!start || size > u64_max - *start) {
      return std::nullopt;
    }
    const std::uint64_t end = *start + size;
    insert(from, *start);
    insert(end, height_);
    height_ = std::max(height_, end);
    return start;
  }

  ByOffset by_offset_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_length_; // (length, offset)
  std::uint64_t height_ = 0;
};

struct Event {
  std::uint32_t section;
  std::uint32_t item;
};

// Places items that start together by decreasing size. Returns nothing if the layout exceeds 64 bits.
std::optional<ArenaLayout> sweep_layout(const ArenaComponent& component, Time time) {
  const auto sections = static_cast<std::uint32_t>(component.section_bytes.size());
  const bool forward = time == Time::forward;
  std::vector<Event> starts;
  std::vector<Event> ends;
  starts.reserve(component.items.size());
  ends.reserve(component.items.size());
  for (std::uint32_t i = 0; i < component.items.size(); ++i) {
    const ArenaItem& item = component.items[i];
    starts.push_back({forward ? item.first_section : sections - item.end_section, i});
    ends.push_back({forward ? item.end_section : sections - item.first_section, i});
  }
  std::stable_sort(starts.begin(), starts.end(), [&](const Event& a, const Event& b) {
    return a.section != b.section ? a.section < b.section
                                  : component.items[a.item].size > component.items[b.item].size;
  });
  std::stable_sort(ends.begin(), ends.end(),
                   [](const Event& a, const Event& b) { return a.section < b.section; });

  FreeBlocks free_blocks;
  ArenaLayout result{.offsets = std::vector<std::uint64_t>(component.items.size())};
  auto ending = ends.begin();
  for (const Event& start : starts) {
    for (; ending != ends.end() && ending->section <= start.section; ++ending) {
      free_blocks.give_back(result.offsets[ending->item], component.items[ending->item].size);
    }
    const ArenaItem& item = component.items[start.item];
    const auto offset = free_blocks.take(item.size, item.alignment);
    if (!offset) {
      return std::nullopt;
    }
    result.offsets[start.item] = *offset;
  }
  result.height_bytes = free_blocks.height();
  return result;
}

// ---- By order

enum class Fit : std::uint8_t {
  best,   // the gap that leaves the fewest bytes; if there is none, above everything
  lowest, // the lowest gap
};

// Visits the nodes of a bottom-up segment tree over `leaves` leaves that cover [first, end); node 1 is the
// root, leaf i is node leaves + i.
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

// Lays out the items of a component in any order, each in a gap between the items placed before it.
//
// collect() answers which placed items overlap a given one in time: those alive at its start are listed on
// the path from that section to the root of a segment tree (each item is listed at the O(log sections) tree
// nodes that together cover its life); the others start during its life and are neighbours in the order of
// items.
class PlacedItems {
public:
  explicit PlacedItems(const ArenaComponent& component)
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

  // Places the items in this order. Returns nothing if an item has no place below 2^64.
  std::optional<ArenaLayout> layout(std::span<const std::uint32_t> order, Fit fit) {
    std::fill(list_size_.begin(), list_size_.end(), 0);
    std::fill(extents_.begin(), extents_.end(), Extent{});
    ArenaLayout result{.offsets = std::vector<std::uint64_t>(component_.items.size())};
    for (const std::uint32_t i : order) {
      const ArenaItem& item = component_.items[i];
      collect(item);
      const auto offset = find_gap(item, fit);
      if (!offset || item.size > u64_max - *offset) {
        return std::nullopt;
      }
      extents_[i] = {*offset, *offset + item.size};
      insert(i);
      result.offsets[i] = *offset;
      result.height_bytes = std::max(result.height_bytes, extents_[i].top);
    }
    return result;
  }

private:
  struct Extent { // of a placed item; top is 0 before it is placed
    std::uint64_t offset = 0;
    std::uint64_t top = 0;
  };

  void insert(std::uint32_t item) {
    for_covering_nodes(
        sections_, component_.items[item].first_section, component_.items[item].end_section,
        [&](std::uint32_t node) { listed_[list_from_[node] + list_size_[node]++] = extents_[item]; });
  }

  void collect(const ArenaItem& item) {
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

  std::optional<std::uint64_t> find_gap(const ArenaItem& item, Fit fit) const {
    std::uint64_t top = 0; // of all extents so far
    std::uint64_t least_left = u64_max;
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

  const ArenaComponent& component_;
  std::uint32_t sections_;
  std::vector<std::uint32_t> starts_from_; // by section: the first item that starts there or later
  std::vector<std::uint32_t> list_from_;   // by tree node: start of its list in listed_
  std::vector<std::uint32_t> list_size_;
  std::vector<Extent> listed_;
  std::vector<Extent> extents_; // by item
  std::vector<Extent> around_;  // extents around the current item, by offset
};

using Order = std::vector<std::uint32_t>;

class Heuristics {
public:
  Heuristics(const ArenaComponent& component, std::uint64_t enough_bytes, std::uint64_t& work)
      : component_(component), enough_(enough_bytes), work_(work),
        cost_(overlapping_pairs(component) + cost_per_item * component.items.size()) {}

  std::optional<ArenaLayout> run() {
    for (const Time time : {Time::forward, Time::backward}) {
      keep_if_lower(sweep_layout(component_, time));
    }
    if (done()) {
      return std::move(best_);
    }
    placed_.emplace(component_);
    for (const ArenaKey key : {ArenaKey::size, ArenaKey::area, ArenaKey::width, ArenaKey::start}) {
      const Order order = items_in_order(component_, {key, ArenaKey::size});
      for (const Fit fit : {Fit::best, Fit::lowest}) {
        if (done()) {
          return std::move(best_);
        }
        attempt(order, fit);
      }
    }
    press_down();
    improve();
    press_down();
    return std::move(best_);
  }

private:
  bool done() const { return (best_ && best_->height_bytes <= enough_) || work_ < cost_; }

  // Keeps a layout that is at least as good as the best one, and then returns true.
  bool keep_if_lower(std::optional<ArenaLayout> layout) {
    if (!layout || (best_ && layout->height_bytes > best_->height_bytes)) {
      return false;
    }
    best_ = std::move(layout);
    return true;
  }

  void attempt(const Order& order, Fit fit) {
    work_ -= cost_;
    if (keep_if_lower(placed_->layout(order, fit))) {
      best_order_ = order;
      best_fit_ = fit;
    }
  }

  // Lets every item fall as far as it can, from the bottom up: no item rises, so the height does not
  // increase.
  void press_down() {
    if (done() || !best_) {
      return;
    }
    work_ -= cost_;
    Order order(component_.items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return best_->offsets[a] < best_->offsets[b];
    });
    keep_if_lower(placed_->layout(order, Fit::lowest));
  }

  // Items that reach the top were placed too late: moves each to a random earlier position in the order, and
  // swaps one random pair. Accepts equal heights, so that the order can cross plateaus.
  void improve() {
    if (!best_ || best_order_.empty()) { // a sweep is the best
      return;
    }
    std::mt19937_64 random(component_.items.size());
    // The exact search handles small components.
    const std::size_t rounds = std::min(component_.items.size(), most_rounds);
    for (std::size_t round = 0; round < rounds && !done(); ++round) {
      Order order = best_order_;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const std::uint32_t item = order[i];
        if (best_->offsets[item] + component_.items[item].size == best_->height_bytes) {
          const std::size_t target = random() % (i + 1);
          std::rotate(order.begin() + static_cast<std::ptrdiff_t>(target),
                      order.begin() + static_cast<std::ptrdiff_t>(i),
                      order.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
      }
      std::swap(order[random() % order.size()], order[random() % order.size()]);
      attempt(order, best_fit_);
    }
  }

  static constexpr std::size_t most_rounds = 300;
  static constexpr std::uint64_t cost_per_item = 32; // in pairs, measured

  const ArenaComponent& component_;
  std::optional<PlacedItems> placed_; // built only if the sweeps are not enough
  std::uint64_t enough_;
  std::uint64_t& work_;
  std::uint64_t cost_; // of one layout
  std::optional<ArenaLayout> best_;
  Order best_order_;
  Fit best_fit_ = Fit::best;
};

} // namespace

std::optional<ArenaLayout> arena_heuristics(const ArenaComponent& component, std::uint64_t enough_bytes,
                                            std::uint64_t& work) {
  return Heuristics(component, enough_bytes, work).run();
}

} // namespace tidegate::planning
