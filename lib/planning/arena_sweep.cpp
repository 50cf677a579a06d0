#include <tidegate/planning/arena_sweep.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tidegate::planning {
namespace {

// The free blocks below the highest byte ever used, by offset and by length; neighbours are always joined.
class FreeBlocks {
public:
  // The offset taken. Nothing when it would not lie below 2^64.
  std::optional<std::uint64_t> take(std::uint64_t size, std::uint64_t alignment) {
    // Among the blocks that are long enough, a few of the shortest may be aligned badly; one that is longer
    // by the whole alignment always fits.
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

  // Above everything, or from the start of a free block that reaches the top. That block may be one that is
  // long enough and was not tried, so the item does not always end above the top.
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

} // namespace

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

} // namespace tidegate::planning
