// Several exact searches of one component take turns, each with its own preorder of the items.
//
// Which preorder leads straight to a solution differs from instance to instance by orders of magnitude, and
// none is good everywhere (on google/minimalloc's instances: 10^3 nodes with one, more than 10^7 with the
// next). So the searches run in rounds, a slice of nodes each, until one has a verdict. In a round the
// verdict of the first preorder counts, and a later one's is ignored: the result is the same whether the
// searches of a round run one after the other or at once.
#pragma once

#include <tidegate/planning/arena_search.hpp>

#include <cstdint>
#include <vector>

namespace tidegate::planning {

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
