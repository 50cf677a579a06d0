// Laying out the items of a component in any order, each in a gap between those placed before it.
//
// PlacedItems answers "which placed items overlap this one in time": those alive at its start stand on the
// path from that section to the root of a segment tree (each item is listed at the O(log sections) tree nodes
// that together cover its life), the others start during its life and are neighbours in the order of the
// items.
#pragma once

#include <tidegate/planning/arena_greedy.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::planning {

enum class Fit : std::uint8_t {
  best,   // the gap that leaves the fewest bytes over; above everything when there is none
  lowest, // the lowest gap
};

class PlacedItems {
public:
  explicit PlacedItems(const ArenaComponent& component);

  // Places the items in this order. Nothing when an item finds no place below 2^64.
  std::optional<ArenaLayout> layout(std::span<const std::uint32_t> order, Fit fit);

private:
  struct Extent { // of a placed item; top 0 while it is not placed
    std::uint64_t offset = 0;
    std::uint64_t top = 0;
  };

  void collect(const ArenaItem& item);
  std::optional<std::uint64_t> find_gap(const ArenaItem& item, Fit fit) const;
  void insert(std::uint32_t item);

  const ArenaComponent& component_;
  std::uint32_t sections_;
  std::vector<std::uint32_t> starts_from_; // by section, the first item that starts there or later
  std::vector<std::uint32_t> list_from_;   // by tree node, where its list begins in listed_
  std::vector<std::uint32_t> list_size_;
  std::vector<Extent> listed_;
  std::vector<Extent> extents_; // by item
  std::vector<Extent> around_;  // of the item being placed, by offset
};

} // namespace tidegate::planning
