// The planner's model of an arena problem: components that do not overlap in time, each divided into
// sections, within each of which all buffers can be alive at one moment.
//
//   time      0    3    5        9   12         15    18
//             |----a----|                        |--d--|
//                  |----b--------|
//                       |----c--------|
//   sections  0    1    2        3
//   components <---------- 0 ---------->         <- 1 ->
//
// Components share no moment, so each is planned separately, and the highest determines the arena's height.
// Buffers of size 0 are omitted: they overlap nothing.
#pragma once
#include <tidegate/planning/arena.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tidegate::planning {

inline constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

struct ArenaItem {
  std::uint32_t first_section = 0; // alive in sections [first_section, end_section)
  std::uint32_t end_section = 0;
  std::uint32_t buffer = 0; // in the problem
  std::uint64_t size = 0;   // bytes, at least 1
  std::uint64_t alignment = 1;
  std::uint64_t width = 0; // upper - lower
};

struct ArenaComponent {
  std::vector<ArenaItem> items;             // by first section, then by buffer
  std::vector<std::uint64_t> section_bytes; // sum of the sizes alive, by section
  std::uint64_t lower_bound_bytes = 0;      // the largest of them
  std::uint64_t granule_bytes = 1;          // divides every height that a plan needs
};

struct ArenaModel {
  std::vector<ArenaComponent> components; // by time
  std::uint64_t lower_bound_bytes = 0;
};

// Errors: empty_lifetime, bad_alignment, byte_count_overflow {alive bytes}.
Result<ArenaModel> make_arena_model(const ArenaProblem& problem);

enum class ArenaKey : std::uint8_t {
  size,
  width, // lifetime
  area,  // lifetime times size
  total, // bytes alive in the fullest of the item's sections
  start, // the first section, the earliest first
  end,   // the last section, the latest first
};
using ArenaSortKeys = std::array<ArenaKey, 3>;

// Returns the items sorted by decreasing keys, the first key first; equal items keep their order.
std::vector<std::uint32_t> items_in_order(const ArenaComponent& component, const ArenaSortKeys& order);

// Returns the number of pairs of items alive together: the cost of a heuristic that visits every pair.
std::uint64_t overlapping_pairs(const ArenaComponent& component);

// Rounds `value` up to a multiple of `alignment`, a power of two; nothing beyond 64 bits.
inline std::optional<std::uint64_t> aligned_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t result = (value + (alignment - 1)) & ~(alignment - 1);
  return result >= value ? std::optional(result) : std::nullopt;
}

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
// ArenaBranch derives the consequences of the decisions; the search makes and reverts them:
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
// The searches run in sweeps, a slice of nodes each, until one has a verdict. Within a sweep the verdict of
// the first preorder counts and later ones are ignored: the result does not depend on the number of threads.

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

// A branch of the exact search: the decisions so far, the bounds that follow from them and, if
// it cannot be completed, the decisions responsible.
//
// Buffers are placed from the bottom up, each at its *rest*: the top of the overlapping buffers so far,
// rounded up to its alignment. A decision about a buffer i is one of
//
//   placed    i is at its rest, and every overlapping buffer not yet placed is above it;
//   skipped   some overlapping buffer not yet placed goes below i, so i waits until one is placed.
//
// The bounds that follow, each a switch of ArenaTechniques:
//
//   section_bound  in each section the floor, the lowest offset available to a buffer not yet placed there,
//                  plus the bytes not yet placed must fit the capacity.
//   lifted_floor   (ours) a skipped buffer rests on an overlapping one that is not yet placed, so it is at
//                  least as high as the lowest top among those, or there is no solution.
//   dominance      only those count that are in its way at its rest: above any other one it would fall back
//                  to its rest.
//
//        |  c  |       a and b are placed. c was skipped at its rest, the top of a: d and e are unplaced
//   +---+   +-----+    and can be in its way, and the lower of their tops is the least offset of c. The floor
//   | d |   |  e  |    in each section of c rises to it.
//   +---+---+-----+
//   |    a    | b |
//
// A failed bound is explained by the decisions that it follows from: those about the buffers below the ones
// in question, down to the floor, and the skips that lifted them. The search returns to the last of these
// decisions and discards all later, unrelated ones (conflict-directed backjumping: Prosser, "Hybrid
// algorithms for the constraint satisfaction problem", 1993).

// A set of items.
class ArenaItemSet {
public:
  explicit ArenaItemSet(std::size_t items = 0) : words_((items + 63) / 64) {}

  [[nodiscard]] bool has(std::uint32_t item) const { return (words_[item / 64] >> item % 64 & 1U) != 0; }
  void add(std::uint32_t item) { words_[item / 64] |= std::uint64_t{1} << item % 64; }
  void remove(std::uint32_t item) { words_[item / 64] &= ~(std::uint64_t{1} << item % 64); }
  void add(const ArenaItemSet& other);
  void clear();

private:
  std::vector<std::uint64_t> words_;
};

class ArenaBranch {
public:
  enum class Stage : std::uint8_t { undecided, placed, skipped };

  // Requires that no section has more bytes than the capacity.
  ArenaBranch(const ArenaComponent& component, const ArenaOverlaps& overlaps, std::uint64_t capacity_bytes,
              const ArenaTechniques& techniques);

  // Decides about an undecided item. Returns false if the branch has no solution: conflict() then holds the
  // reason, and the decision must be undone.
  bool place(std::uint32_t item);
  bool skip(std::uint32_t item);

  // undo(mark) reverts everything decided since mark() returned that value.
  [[nodiscard]] std::size_t mark() const { return trail_.size(); }
  void undo(std::size_t mark);

  // Call once no item is undecided. Returns true if all are placed; otherwise the branch has no solution,
  // because each remaining item waits for another one.
  bool complete();

  // Returns the items whose decisions contradict each other.
  [[nodiscard]] const ArenaItemSet& conflict() const { return conflict_; }

  [[nodiscard]] Stage stage(std::uint32_t item) const { return stage_[item]; }
  [[nodiscard]] std::uint64_t rest(std::uint32_t item) const { return rest_[item]; }
  // Returns the top of the items placed in the section.
  [[nodiscard]] std::uint64_t top(std::uint32_t section) const {
    return placed_in_[section] == 0 ? 0 : tops_[overlaps_.section_from[section] + placed_in_[section] - 1];
  }
  // Offsets by item, once all are placed.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return rest_; }

private:
  struct Change { // the state of an item before it changed
    std::uint32_t item;
    Stage stage;
    std::uint32_t support;
    std::uint64_t rest;
    std::uint64_t least;
  };

  void begin_decision(std::uint32_t item);
  void change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least);
  bool follow_up();
  bool lift_skipped();
  [[nodiscard]] std::uint64_t least_when_lifted(std::uint32_t item) const;
  [[nodiscard]] bool has_room(std::uint32_t item, std::uint64_t offset) const;
  bool sections_fit();
  bool section_fits(std::uint32_t section);
  void explain(std::span<const std::uint32_t> items);

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const ArenaTechniques techniques_;
  const std::uint64_t capacity_;

  // These are indexed by item.
  std::vector<Stage> stage_;
  std::vector<std::uint64_t> rest_;    // the offset of a placed item
  std::vector<std::uint64_t> least_;   // the least possible offset: the rest, or more if skipped
  std::vector<std::uint32_t> support_; // the placed item that it rests on, or none

  // These are indexed by section.
  std::vector<std::uint64_t> to_come_;   // bytes not yet placed
  std::vector<std::uint32_t> placed_in_; // number of placed items
  std::vector<std::uint64_t> tops_;      // tops of placed items, ascending; from overlaps_.section_from on
  std::vector<std::uint32_t> witness_;   // the item that last proved that the section fits

  std::vector<Change> trail_;
  std::uint32_t changed_begin_ = 0; // sections that the current decision changed
  std::uint32_t changed_end_ = 0;
  ArenaItemSet conflict_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lifted_; // for lift_skipped: item, previous least
  ArenaItemSet explained_;
  std::vector<std::uint32_t> to_explain_;
};

} // namespace tidegate::planning
