// The exact search: offsets for one component under a given capacity, or the proof that there are none.
//
// Idea (Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning",
// ASPLOS 2023; its predecessor is Maas et al., "TelaMalloc", ASPLOS 2023): press any plan down until every
// buffer rests on another one or on the floor, then list the buffers by offset. Each then lies exactly on the
// highest of the overlapping ones before it. So it is enough to place buffers from the bottom up, each at its
// *rest*: the top of what overlaps it so far, rounded up to its alignment. The search tree branches over
// which buffer is next.
//
// A node decides about one buffer i: it is *placed* at its rest, with every overlapping buffer still to come
// above it, or it is *skipped*: some overlapping buffer still to come goes below it, so it waits until one was
// placed. Each plan is on one side only, whatever buffer is decided about, so the search is free to go where
// the trouble is.
//
// What makes it fast, each a switch of ArenaTechniques; the effect of each is in scripts/bench/RESULTS.md:
//   section_bound    in each section the floor plus the bytes still to come must fit the capacity. The floor
//                    is the lowest rest of the buffers still to come in the section.
//   release_bound    (ours) the same with every rest, not only the lowest: lay the buffers still to come in
//                    the section one on the other by rest, none below its own. Nothing in that section ends
//                    lower (as for one machine with release dates, where the earliest first is optimal).
//   lifted_floor     (ours) a skipped buffer will lie on some overlapping one that is still to come; that
//                    gives it a higher rest for the bounds, or shows that nothing can lift it.
//   dominance        and that one has to be in its way: a buffer that could be slipped underneath is not.
//   decomposition    buffers still to come that fall into groups without a common moment are searched group
//                    by group; a group without a solution refutes the whole branch at once.
//   failed_states    (ours) a group refuted once (same buffers, same rests, same ones skipped) is not searched
//                    again when another branch leads to it. Groups are told apart by 128-bit hashes.
//   focus            (ours) a section that refutes decisions gains weight (Boussemart et al., "Boosting
//                    systematic search by weighting constraints", ECAI 2004), and the next decision is about
//                    the lowest buffer there or what lies below that. Otherwise failures in a small part of
//                    time are met again for each way to arrange all the rest.
//   restarts         after some hundred nodes, in Luby's sequence, the search begins again with the weights
//                    and failed states that it has.
//
// Several preorders (ranks) take turns in arena_portfolio.hpp, so the search can be stopped and continued.
// The stack of decisions is explicit.
#pragma once

#include <tidegate/planning/arena_model.hpp>

#include <cstdint>
#include <span>
#include <utility>
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

// Which of several items goes first.
struct ArenaStrategy {
  std::vector<std::uint32_t> rank_of_item; // a permutation; smaller ranks go first
  bool niche = false;                      // what fits between its neighbours goes before rank
};

enum class ArenaVerdict : std::uint8_t { running, found, impossible };

class ArenaSearch {
public:
  // All but the techniques must outlive the search.
  ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps, const ArenaStrategy& strategy,
              std::uint64_t capacity_bytes, const ArenaTechniques& techniques);

  // Goes on until there is a verdict or `nodes` more decisions have been taken.
  ArenaVerdict run(std::uint64_t nodes);

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  // By item, after `found`.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return rest_; }

private:
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
    Range members; // in members_, by first section
    std::uint64_t slack = 0;
    StateKey key;
  };
  enum class Stage : std::uint8_t { undecided, placed, skipped };
  // A decision about one item of a group, and which of the groups it leaves are still open.
  struct Frame {
    Group group;
    std::uint32_t item = 0;
    Stage stage = Stage::undecided;
    Range children; // in children_; `begin` is the next to solve
    std::uint32_t members_mark = 0;
    std::uint32_t children_mark = 0;
    std::uint32_t trail_mark = 0;
  };
  struct Change { // of an item
    std::uint32_t item;
    Stage stage;
    std::uint32_t support;
    std::uint64_t rest;
    std::uint64_t least;
  };

  void change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least);
  bool place(std::uint32_t item);
  void undo(std::uint32_t trail_mark);
  bool split(Frame& frame);
  bool look(Group& group);
  bool lift(const Group& group);
  bool sections_fit(Group& group);
  bool section_fits(std::uint32_t section);
  bool known_to_fail(Group& group);
  void begin_conflict();
  void add_to_conflict(std::uint32_t item);
  [[nodiscard]] bool in_conflict(std::uint32_t item) const;
  void explain(std::uint32_t item);
  void backtrack();
  void remember_failure(const Group& group);
  std::uint32_t choose(const Group& group) const;
  std::uint32_t focus_of(const Group& group) const;
  std::uint64_t top_of(std::uint32_t section) const;
  std::uint32_t best_in_niche(const Group& group, std::uint32_t item) const;
  std::uint32_t lowest_below(std::uint32_t section) const;
  bool before(std::uint32_t a, std::uint32_t b) const;
  void enter(Group group);
  bool decide(Frame& frame);
  void descend();
  void restart();
  void blame(std::uint32_t section);
  void blame_item(std::uint32_t item);

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const ArenaTechniques techniques_;
  const std::uint64_t capacity_;
  const ArenaStrategy& strategy_;
  std::vector<std::uint64_t> rest_;  // of a placed item its offset
  std::vector<std::uint64_t> least_; // rest_, or more for a skipped item
  std::vector<Stage> stage_;
  std::vector<std::uint32_t> support_; // what it rests on
  std::vector<std::uint64_t> conflict_; // set of items
  std::vector<std::uint64_t> conflicts_; // by frame
  std::vector<std::uint64_t> explained_at_;
  std::uint64_t explanation_ = 0;
  std::vector<std::uint32_t> to_explain_;
  std::vector<std::uint64_t> size_;
  std::uint32_t last_blamed_ = 0;
  std::vector<std::uint64_t> to_come_;       // bytes, by section
  std::vector<std::uint64_t> weight_;        // by section, how often it refuted a decision of late
  std::vector<std::uint64_t> tops_;      // of the placed items in section s, from section_from_[s] on, upwards
  std::vector<std::uint32_t> placed_in_; // by section
  std::vector<std::uint64_t> changed_at_;     // by section, the node
  std::vector<std::uint32_t> section_from_;  // section s has the items
  std::vector<std::uint32_t> section_items_; // section_items_[section_from_[s] .. section_from_[s + 1])

  // Stacks that grow with the frames and shrink with them.
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> members_;
  std::vector<Group> children_;
  std::vector<Change> trail_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> late_;    // of the section at hand: least, item
  std::vector<std::pair<std::uint32_t, std::uint64_t>> waiting_; // skipped items of the group at hand

  std::vector<StateKey> failed_states_; // a hash table of 2^k slots; a newer state replaces an older one
  std::uint64_t failures_ = 0;
  ArenaVerdict verdict_ = ArenaVerdict::running;
  std::uint64_t nodes_ = 0;
  std::uint64_t next_restart_ = 0;
  std::uint64_t runs_ = 0; // begun
};

} // namespace tidegate::planning
