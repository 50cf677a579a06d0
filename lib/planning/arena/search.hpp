// The exact search: offsets for one component under a given capacity, or the proof that there are none.
//
// Idea (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
// ASPLOS 2023; its predecessor is Maas et al., "TelaMalloc", ASPLOS 2023): press any plan down until every
// buffer rests on another one or on the floor, then list the buffers by offset. Each buffer is then exactly
// on top of the highest overlapping one before it. So it suffices to place buffers from the bottom up, each
// at its rest, and to branch over the next one.
//
// A decision concerns one buffer: it is placed, or skipped until another one is placed below it. Each plan
// satisfies exactly one of the two for any buffer, so the search may choose the most constrained one.
// branch.hpp derives the consequences of the decisions; search.cpp makes and reverts them:
//
//   backjumping  after a failure, return to the last decision that caused it, not to the last one made.
//   niche        (ours) among buffers with the same rest, the one that best fills the gap between its
//                neighbours goes first (as in Burke, Kendall and Whitwell, "A new placement heuristic for the
//                orthogonal stock-cutting problem", 2004). It helps where buffers are handed over from one to
//                the next and costs elsewhere, so the portfolio has searches with and without it.
//   portfolio    several searches take turns, each with another preorder of the items. The preorder that
//                leads straight to a solution differs between instances, and none is good everywhere (on
//                google/minimalloc's instances: 10^3 nodes with one, more than 10^7 with the next).
//
// The searches run in rounds, a slice of nodes each, until one has a verdict. Within a round the verdict of
// the first preorder counts and later ones are ignored: the result does not depend on the number of threads.
// scripts/bench/RESULTS.md has measurements of each technique.
#pragma once
#include "planning/arena/model.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

// For all searches of one component: the items that overlap each item, and the items of each section.
struct ArenaOverlaps {
  std::vector<std::uint32_t> item_from; // overlaps of item i: items[item_from[i] .. item_from[i + 1])
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
  ArenaVerdict verdict = ArenaVerdict::running; // running: `nodes` did not suffice
  std::vector<std::uint64_t> offsets;           // by item, when found
  std::uint64_t nodes = 0;                      // used
};

// Searches for offsets within the capacity with about `nodes` placements over all preorders.
ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes, unsigned threads,
                          const ArenaTechniques& techniques);

} // namespace tidegate::planning
