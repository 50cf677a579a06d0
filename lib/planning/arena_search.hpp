// The exact search: offsets for one component under a given capacity, or the proof that there are none.
//
// Idea (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
// ASPLOS 2023; its predecessor is Maas et al., "TelaMalloc", ASPLOS 2023): press any plan down until every
// buffer rests on another one or on the floor, then list the buffers by offset. Each then lies exactly on the
// highest of the overlapping ones before it. So it is enough to place buffers from the bottom up, each at its
// *rest*: the top of what overlaps it so far, rounded up to its alignment. The search tree branches over
// which buffer is next.
//
// What cuts the tree, each a switch of ArenaTechniques:
//   canonical_order  (offset, rank) never decreases along a branch, so each plan is met once. A buffer passed
//                    over at its rest is *skipped*: it waits until another buffer lifts it.
//   dominance        no buffer is placed at or above the top some other buffer would have at its rest: that
//   one
//                    could be slipped underneath.
//   section_bound    in each section the floor plus the bytes still to come must fit the capacity.
//   monotone_floor   the floor is at least the offset of the next placement.
//   unplaced_floor   the floor is at least the lowest rest of the buffers still to come in the section.
//   lifted_floor     (ours) a skipped buffer will rest on some overlapping one that is still to come; that
//   gives
//                    it a higher rest for the section bound, or shows that nothing can lift it.
//   decomposition    buffers still to come that fall into groups without a common moment are searched group
//   by
//                    group; a group without a solution refutes the whole branch at once.
//   failed_states    (ours) a group refuted once (same buffers, same rests, same order limit) is not searched
//                    again when another branch leads to it. Groups are told apart by 128-bit hashes.
//   lowest_first     candidates by rest and then by rank, not by rank alone.
//
// On google/minimalloc's instances (4000 to 210 000 nodes with everything on) 2 million nodes do not suffice
// without canonical_order, section_bound or unplaced_floor; leaving out dominance costs up to 8 times the
// nodes, lifted_floor up to more than 10 times, failed_states up to 3, decomposition up to 60; monotone_floor
// cuts next to nothing where unplaced_floor is on.
//
// Several preorders (ranks) take turns in arena_portfolio.hpp, so the search can be stopped and continued.
// The stack of placements is explicit: its depth is the number of buffers.
#pragma once

#include <tidegate/planning/arena_model.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::planning {

// Which items are alive together, for the searches of one component to share: those of item i are
// items[from[i]] to items[from[i + 1] - 1].
struct ArenaOverlaps {
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t item) const {
    return std::span(items).subspan(from[item], from[item + 1] - from[item]);
  }
};
ArenaOverlaps arena_overlaps(const ArenaComponent& component);

enum class ArenaVerdict : std::uint8_t { running, found, impossible };

class ArenaSearch {
public:
  // `rank_of_item` is a permutation; smaller ranks are tried first. The component and its overlaps must
  // outlive the search.
  ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps,
              std::span<const std::uint32_t> rank_of_item, std::uint64_t capacity_bytes,
              const ArenaTechniques& techniques);

  // Goes on until there is a verdict or `nodes` more buffers have been placed.
  ArenaVerdict run(std::uint64_t nodes);

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  // By item, after `found`.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return rest_; }

private:
  struct Limit { // the least (offset, rank) the next placement may have
    std::uint64_t offset = 0;
    std::uint32_t rank = 0;

    friend auto operator<=>(const Limit&, const Limit&) = default;
  };
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  struct StateKey {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    friend bool operator==(const StateKey&, const StateKey&) = default;
  };
  // Items still to come that hang together in time, with what look() found out about them.
  struct Group {
    Range members;      // in members_, by first section
    Limit limit;        // of the first candidate
    std::uint64_t roof; // dominance: candidates lie below it
    std::uint64_t slack;
    StateKey key;
  };
  // A group being searched: which candidate is on trial, and which of the groups it leaves behind.
  struct Frame {
    Group group;
    std::uint32_t candidates_mark;
    Range candidates; // in candidates_; `begin` is the next to try
    Range children;   // in children_; `begin` is the next to solve
    std::uint32_t members_mark;
    std::uint32_t children_mark;
    std::uint32_t trail_mark;
  };
  enum class Trial : std::uint8_t { sound, refuted, none };
  struct Change { // of a rest, or a placement when `placed`
    std::uint32_t item;
    bool placed;
    std::uint64_t rest;
  };
  struct FailedState {
    StateKey key;
    Limit limit;
  };

  bool place(std::uint32_t item);
  void undo(std::uint32_t trail_mark);
  bool split(const Frame& frame, Limit limit);
  bool look(Group& group, Limit limit);
  bool lift(const Group& group);
  bool sections_fit(Group& group);
  bool has_witness(std::uint32_t section, std::uint64_t highest_floor);
  bool known_to_fail(Group& group) const;
  void remember_failure(const Group& group);
  void enter(Group group);
  Trial try_next_candidate(Frame& frame);
  void descend();

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const ArenaTechniques techniques_;
  const std::uint64_t capacity_;
  std::vector<std::uint32_t> rank_;  // by item, likewise the next three
  std::vector<std::uint64_t> rest_;  // of a placed item its offset
  std::vector<std::uint64_t> least_; // rest_, or more for a skipped item
  std::vector<std::uint8_t> placed_;
  std::vector<std::uint64_t> to_come_;       // bytes, by section
  std::vector<std::uint32_t> witness_;       // by section, the item that last showed it still fits
  std::vector<std::uint32_t> section_from_;  // section s has the items
  std::vector<std::uint32_t> section_items_; // section_items_[section_from_[s] .. section_from_[s + 1])

  // Stacks that grow with the frames and shrink with them.
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> candidates_;
  std::vector<Group> children_;
  std::vector<Change> trail_;

  std::vector<FailedState> failed_states_; // a hash table of 2^k slots; a newer state replaces an older one
  std::uint64_t failures_ = 0;
  ArenaVerdict verdict_ = ArenaVerdict::running;
  std::uint64_t nodes_ = 0;
};

} // namespace tidegate::planning
