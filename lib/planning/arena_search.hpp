// The exact search: offsets for one component under a given capacity, or the proof that there are none.
//
// Idea (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
// ASPLOS 2023; its predecessor is Maas et al., "TelaMalloc", ASPLOS 2023): press any plan down until every
// buffer rests on another one or on the floor, then list the buffers by offset. Each then lies exactly on the
// highest of the overlapping ones before it. So it is enough to place buffers from the bottom up, each at its
// rest, and to branch over which one is next.
//
// A decision is about one buffer: it is placed, or skipped until another one went below it. Each plan is on
// one side only, whatever buffer is decided about, so the search is free to go where the trouble is. What
// follows from the decisions is in arena_branch.hpp; this file chooses them and takes them back:
//
//   backjumping  a failure is met at the last decision that it follows from, not at the last one taken.
//   niche        (ours) among buffers that rest as low, the one that best fills the room between its
//                neighbours goes first (as in Burke, Kendall and Whitwell, "A new placement heuristic for the
//                orthogonal stock-cutting problem", 2004). It pays where buffers are handed over from one to
//                the next, and costs elsewhere, so the portfolio has searches of both kinds.
//
// What each is worth is measured in scripts/bench/RESULTS.md. Several strategies take turns in
// arena_portfolio.hpp, so the search can be stopped and continued: the stack of decisions is explicit.
#pragma once

#include <tidegate/planning/arena_branch.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tidegate::planning {

// Which of several items goes first.
struct ArenaStrategy {
  std::vector<std::uint32_t> rank_of_item; // a permutation; smaller ranks go first
  bool niche = false;                      // what fits between its neighbours goes before rank

  friend bool operator==(const ArenaStrategy&, const ArenaStrategy&) = default;
};

enum class ArenaVerdict : std::uint8_t { running, found, impossible };

class ArenaSearch {
public:
  // All but the techniques must outlive the search.
  ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps, const ArenaStrategy& strategy,
              std::uint64_t capacity_bytes, const ArenaTechniques& techniques);

  // Goes on until there is a verdict or about `nodes` more decisions have been taken.
  ArenaVerdict run(std::uint64_t nodes);

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  // By item, after `found`.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return branch_.offsets(); }

private:
  struct Decision {
    std::uint32_t item = 0;
    bool skipped = false; // placing it has failed, for first_conflicts_ at this depth
    std::size_t mark = 0; // of the branch before the decision
  };

  void decide(std::uint32_t item);
  void backtrack();

  // What to decide about next. Nothing when no item is undecided.
  [[nodiscard]] std::optional<std::uint32_t> choose() const;
  [[nodiscard]] bool goes_before(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::uint32_t best_in_niche(std::uint32_t item) const;

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const ArenaStrategy& strategy_;
  const ArenaTechniques techniques_;
  ArenaBranch branch_;
  std::vector<Decision> decisions_;
  std::vector<ArenaItemSet> first_conflicts_; // by depth
  ArenaVerdict verdict_ = ArenaVerdict::running;
  std::uint64_t nodes_ = 0; // decisions taken
};

} // namespace tidegate::planning
