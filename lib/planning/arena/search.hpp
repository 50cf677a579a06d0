// The exact search: offsets for one component under a given capacity, or the proof that there are none.
//
// Idea (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
// ASPLOS 2023; its predecessor is Maas et al., "TelaMalloc", ASPLOS 2023): press any plan down until every
// buffer rests on another one or on the floor, then list the buffers by offset. Each then lies exactly on the
// highest of the overlapping ones before it. So it is enough to place buffers from the bottom up, each at its
// rest, and to branch over the next one.
//
// A decision is about one buffer: it is placed, or skipped until another one went below it. Each plan is on
// one side only, whatever buffer is decided about, so the search is free to go where the trouble is.
// branch.hpp derives the consequences of the decisions; search.cpp chooses them and takes them back:
//
//   backjumping  a failure is met at the last decision that it follows from, not at the last one taken.
//   niche        (ours) among buffers that rest as low, the one that best fills the room between its
//                neighbours goes first (as in Burke, Kendall and Whitwell, "A new placement heuristic for the
//                orthogonal stock-cutting problem", 2004). It pays where buffers are handed over from one to
//                the next, and costs elsewhere, so the portfolio has searches of both kinds.
//   portfolio    several searches take turns, each with another preorder of the items. The preorder that
//   leads
//                straight to a solution differs from instance to instance, and none is good everywhere (on
//                google/minimalloc's instances: 10^3 nodes with one, more than 10^7 with the next).
//
// The searches run in rounds, a slice of nodes each, until one has a verdict. In a round the verdict of the
// first preorder counts and a later one's is ignored: the result is the same with one thread or several.
// scripts/bench/RESULTS.md has measurements of each technique.
#pragma once
#include "planning/arena/model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

// Lists of the items that are alive together and of those in each section, for all searches of one component.
struct ArenaOverlaps {
  std::vector<std::uint32_t> item_from; // those of item i are items[item_from[i] .. item_from[i + 1])
  std::vector<std::uint32_t> items;
  std::vector<std::uint32_t> section_from; // likewise
  std::vector<std::uint32_t> section_items;

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t item) const {
    return std::span(items).subspan(item_from[item], item_from[item + 1] - item_from[item]);
  }
  [[nodiscard]] std::span<const std::uint32_t> in(std::uint32_t section) const {
    return std::span(section_items)
        .subspan(section_from[section], section_from[section + 1] - section_from[section]);
  }
};
ArenaOverlaps arena_overlaps(const ArenaComponent& component);

enum class ArenaVerdict : std::uint8_t { running, found, impossible };

struct ArenaAttempt {
  ArenaVerdict verdict = ArenaVerdict::running; // running: `nodes` were not enough
  std::vector<std::uint64_t> offsets;           // by item, when found
  std::uint64_t nodes = 0;                      // used
};

// Looks for offsets below the capacity with at most about `nodes` placements over all preorders.
ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes, unsigned threads,
                          const ArenaTechniques& techniques);

} // namespace tidegate::planning
