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
// The search derives the consequences of its decisions, and reverts them where there is no solution:
//
//   backjumping  after a failure, return to the last decision that caused it, not to the last one made.
//   portfolio    several searches take turns, each with another preorder of the items. The preorder that
//                leads straight to a solution differs between instances, and none is good everywhere (on
//                google/minimalloc's instances: 10^3 nodes with one, more than 10^7 with the next).
#include "planning/arena/search.hpp"

namespace tidegate::planning {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

class ItemSet {
public:
  explicit ItemSet(std::size_t items = 0) : words_((items + 63) / 64) {}

  bool has(std::uint32_t item) const { return (words_[item / 64] >> item % 64 & 1U) != 0; }
  void add(std::uint32_t item) { words_[item / 64] |= std::uint64_t{1} << item % 64; }
  void remove(std::uint32_t item) { words_[item / 64] &= ~(std::uint64_t{1} << item % 64); }
  void add(const ItemSet& other) {
    std::ranges::transform(words_, other.words_, words_.begin(), std::bit_or<>());
  }
  void clear() { std::ranges::fill(words_, 0); }

private:
  std::vector<std::uint64_t> words_;
};

// The searches of the portfolio differ in the choice among items with the same rest. Selected greedily from 28 preorders:
// those that together solve most of google/minimalloc's instances, their mirror images in time and the generated families of
// the tests, at the least cost, with 20 000 decisions each. The published portfolio has three orders, by width, area and
// total.
constexpr std::array<ArenaSortKeys, 5> preorders{{{ArenaKey::end, ArenaKey::size, ArenaKey::area},
                                                  {ArenaKey::total, ArenaKey::width, ArenaKey::area},
                                                  {ArenaKey::area, ArenaKey::total, ArenaKey::size},
                                                  {ArenaKey::start, ArenaKey::size, ArenaKey::area},
                                                  {ArenaKey::end, ArenaKey::width, ArenaKey::area}}};

// The exact search with one preorder: the decisions so far, the bounds that follow from them and, if they have no solution,
// the decisions responsible. Its stack is explicit, so the search can pause and resume.
//
// Buffers are placed from the bottom up, each at its *rest*: the top of the overlapping buffers so far,
// rounded up to its alignment. A decision about a buffer i is one of
//
//   placed    i is at its rest, and every overlapping buffer not yet placed is above it;
//   skipped   some overlapping buffer not yet placed goes below i, so i waits until one is placed.
//
// The bounds that follow:
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
class ArenaSearch {
public:
  // Requires that no section has more bytes than the capacity.
  ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps, const ArenaSortKeys& preorder,
              std::uint64_t capacity_bytes)
      : component_(component), overlaps_(overlaps), capacity_(capacity_bytes),
        order_(items_in_order(component, preorder)), state_(component.items.size()),
        to_come_(component.section_bytes), conflict_(component.items.size()),
        explained_(component.items.size()) {
    for (const std::vector<std::uint32_t>& items : overlaps.in) {
      witness_.push_back(items.front());
    }
  }

  // Continues until there is a verdict or about `nodes` more decisions have been made.
  ArenaVerdict run(std::uint64_t nodes) {
    const std::uint64_t last_node = nodes > u64_max - nodes_ ? u64_max : nodes_ + nodes;
    while (verdict_ == ArenaVerdict::running && nodes_ < last_node) {
      if (const std::uint32_t item = choose(); item != none) {
        ++nodes_;
        decisions_.push_back({.item = item, .skipped = false, .mark = trail_.size()});
        if (!place(item)) {
          backtrack();
        }
      } else if (complete()) {
        verdict_ = ArenaVerdict::found;
      } else {
        backtrack();
      }
    }
    return verdict_;
  }

  std::uint64_t nodes() const { return nodes_; }
  // Returns the offsets of the items; valid after `found`.
  std::vector<std::uint64_t> offsets() const {
    std::vector<std::uint64_t> result(state_.size());
    std::ranges::transform(state_, result.begin(), &State::rest);
    return result;
  }

private:
  enum class Stage : std::uint8_t { undecided, placed, skipped };

  struct State {
    Stage stage = Stage::undecided;
    std::uint32_t support = none; // the placed item that it rests on, or none
    std::uint64_t rest = 0;       // the offset of a placed item
    std::uint64_t least = 0;      // the least possible offset: the rest, or more if skipped
  };

  struct Change {
    std::uint32_t item;
    State state; // before
  };

  struct Decision {
    std::uint32_t item = 0;
    bool skipped = false; // placing it failed, with the conflict in first_conflicts_ at this depth
    std::size_t mark = 0; // of the trail before the decision
  };

  // The decisions failed because of those in the conflict. Discards the decisions that this settles and skips the item of
  // the last one left.
  void backtrack() {
    ItemSet conflict = conflict_;
    while (!decisions_.empty()) {
      Decision& last = decisions_.back();
      const std::size_t depth = decisions_.size() - 1;
      undo(last.mark);
      const bool involved = conflict.has(last.item);
      if (involved && !last.skipped) {
        first_conflicts_.resize(std::max(first_conflicts_.size(), depth + 1));
        first_conflicts_[depth] = conflict;
        last.skipped = true;
        ++nodes_;
        if (skip(last.item)) {
          return;
        }
        conflict = conflict_;
      } else {
        if (involved) {
          conflict.add(first_conflicts_[depth]);
          conflict.remove(last.item);
        }
        decisions_.pop_back();
      }
    }
    verdict_ = ArenaVerdict::impossible;
  }

  // Chooses the next item to decide: the lowest rest first, ties by the preorder. Returns none if no item is undecided.
  std::uint32_t choose() const {
    std::uint32_t lowest = none;
    for (const std::uint32_t item : order_) {
      if (state_[item].stage == Stage::undecided &&
          (lowest == none || state_[item].rest < state_[lowest].rest)) {
        lowest = item;
      }
    }
    return lowest;
  }

  // Decides about an undecided item. Returns false if there is no solution: conflict_ then holds the reason, and the
  // decision must be undone.
  bool place(std::uint32_t item) {
    begin_decision(item);
    change(item, Stage::placed, state_[item].rest, state_[item].rest);
    const ArenaItem& placed = component_.items[item];
    const std::uint64_t top = state_[item].rest + placed.size;
    for (std::uint32_t s = placed.first_section; s < placed.end_section; ++s) {
      to_come_[s] -= placed.size;
    }
    for (const std::uint32_t other : overlaps_.of[item]) {
      if (state_[other].stage == Stage::placed ||
          (state_[other].stage == Stage::undecided && state_[other].rest >= top)) {
        continue;
      }
      // A skipped item now has the item below that it waited for.
      const std::uint64_t rest = aligned_up(top, component_.items[other].alignment).value_or(u64_max);
      const std::uint64_t before = state_[other].rest;
      change(other, Stage::undecided, std::max(before, rest), std::max(before, rest));
      state_[other].support = rest > before ? item : state_[other].support;
      if (!has_room(other, state_[other].rest)) {
        explain({&other, 1});
        return false;
      }
    }
    return follow_up();
  }

  bool skip(std::uint32_t item) {
    begin_decision(item);
    change(item, Stage::skipped, state_[item].rest, state_[item].rest);
    return follow_up();
  }

  // Reverts everything decided since the trail had this length.
  void undo(std::size_t mark) {
    while (trail_.size() > mark) {
      const Change& before = trail_.back();
      if (state_[before.item].stage == Stage::placed) {
        const ArenaItem& item = component_.items[before.item];
        for (std::uint32_t s = item.first_section; s < item.end_section; ++s) {
          to_come_[s] += item.size;
        }
      }
      state_[before.item] = before.state;
      trail_.pop_back();
    }
  }

  // Call once no item is undecided. Returns true if all are placed; otherwise there is no solution,
  // because each remaining item waits for another one.
  bool complete() {
    conflict_.clear();
    bool complete = true;
    for (std::uint32_t i = 0; i < state_.size(); ++i) {
      if (state_[i].stage == Stage::skipped) {
        conflict_.add(i);
        complete = false;
      }
    }
    return complete;
  }

  void begin_decision(std::uint32_t item) {
    changed_begin_ = component_.items[item].first_section;
    changed_end_ = component_.items[item].end_section;
  }

  void change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least) {
    trail_.push_back({item, state_[item]});
    state_[item] = {stage, state_[item].support, rest, least};
    changed_begin_ = std::min(changed_begin_, component_.items[item].first_section);
    changed_end_ = std::max(changed_end_, component_.items[item].end_section);
  }

  bool follow_up() { return lift_skipped() && sections_fit(); }

  // Starts with unbounded offsets for the skipped items and lowers them as far as the others allow, until
  // nothing changes: two items that only support each other stay unbounded.
  bool lift_skipped() {
    const auto count = static_cast<std::uint32_t>(component_.items.size());
    lifted_.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (state_[i].stage == Stage::skipped) {
        lifted_.emplace_back(i, std::exchange(state_[i].least, u64_max));
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [item, before] : lifted_) {
        const std::uint64_t least = least_when_lifted(item);
        changed = changed || least != state_[item].least;
        state_[item].least = least;
      }
    }
    std::uint32_t failed = none;
    // Record the changes on the trail with the previous values.
    for (const auto& [item, before] : lifted_) {
      const std::uint64_t now = std::exchange(state_[item].least, before);
      if (now != before) {
        change(item, Stage::skipped, state_[item].rest, now);
      }
      if (failed == none && !has_room(item, now)) {
        failed = item;
      }
    }
    if (failed != none) {
      explain({&failed, 1});
    }
    return failed == none;
  }

  std::uint64_t least_when_lifted(std::uint32_t item) const {
    const std::uint64_t way = state_[item].rest + component_.items[item].size;
    std::uint64_t lowest_top = u64_max;
    for (const std::uint32_t other : overlaps_.of[item]) {
      if (state_[other].stage != Stage::placed && state_[other].least < way &&
          has_room(other, state_[other].least)) {
        lowest_top = std::min(lowest_top, state_[other].least + component_.items[other].size);
      }
    }
    return std::max(state_[item].rest,
                    aligned_up(lowest_top, component_.items[item].alignment).value_or(u64_max));
  }

  bool has_room(std::uint32_t item, std::uint64_t offset) const {
    return offset <= capacity_ - component_.items[item].size;
  }

  bool sections_fit() {
    for (std::uint32_t s = changed_begin_; s < changed_end_; ++s) {
      if (to_come_[s] > 0 && !section_fits(s)) {
        return false;
      }
    }
    return true;
  }

  // A section fits if one remaining item has a low enough least offset. The last witness usually still has one,
  // so the section's items are rarely scanned.
  bool section_fits(std::uint32_t section) {
    const std::uint64_t highest_floor = capacity_ - to_come_[section];
    const auto serves = [&](std::uint32_t item) {
      return state_[item].stage != Stage::placed && state_[item].least <= highest_floor;
    };
    if (serves(witness_[section])) {
      return true;
    }
    const std::vector<std::uint32_t>& items = overlaps_.in[section];
    const auto found = std::find_if(items.begin(), items.end(), serves);
    if (found != items.end()) {
      witness_[section] = *found;
      return true;
    }
    explain(items);
    return false;
  }

  // Computes the conflict: the decisions that keep the remaining ones of `items` at or above their least
  // offsets. These concern the items that they rest on, down to the floor; for a lifted item also its skip and
  // the decisions that keep the overlapping items up.
  void explain(std::span<const std::uint32_t> items) {
    conflict_.clear();
    explained_.clear();
    to_explain_.assign(items.begin(), items.end());
    while (!to_explain_.empty()) {
      const std::uint32_t item = to_explain_.back();
      to_explain_.pop_back();
      if (state_[item].stage == Stage::placed || explained_.has(item)) {
        continue;
      }
      explained_.add(item);
      for (std::uint32_t below = state_[item].support; below != none && !conflict_.has(below);
           below = state_[below].support) {
        conflict_.add(below);
      }
      if (state_[item].least > state_[item].rest) {
        conflict_.add(item);
        const std::vector<std::uint32_t>& others = overlaps_.of[item];
        to_explain_.insert(to_explain_.end(), others.begin(), others.end());
      }
    }
  }

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const std::uint64_t capacity_;
  const std::vector<std::uint32_t> order_;

  std::vector<State> state_;           // by item
  std::vector<std::uint64_t> to_come_; // by section: bytes not yet placed
  std::vector<std::uint32_t> witness_; // by section: the item that last proved that it fits
  std::vector<Change> trail_;
  std::uint32_t changed_begin_ = 0; // sections that the current decision changed
  std::uint32_t changed_end_ = 0;
  ItemSet conflict_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lifted_; // for lift_skipped: item, previous least
  ItemSet explained_;
  std::vector<std::uint32_t> to_explain_;

  std::vector<Decision> decisions_;
  std::vector<ItemSet> first_conflicts_; // by depth
  ArenaVerdict verdict_ = ArenaVerdict::running;
  std::uint64_t nodes_ = 0; // decisions taken
};

} // namespace

ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes) {
  constexpr std::uint64_t longest_slice = 8192;
  ArenaAttempt attempt;
  std::array<std::optional<ArenaSearch>, preorders.size()> searches; // constructed at their first slice
  // The searches take turns. Slices grow, so that an easy search ends in the first one.
  std::uint64_t slice = 2 * component.items.size();
  while (attempt.nodes < nodes) {
    slice = std::min(slice, (nodes - attempt.nodes + searches.size() - 1) / searches.size());
    for (std::size_t i = 0; i < searches.size(); ++i) {
      ArenaSearch& search =
          searches[i] ? *searches[i] : searches[i].emplace(component, overlaps, preorders[i], capacity_bytes);
      const std::uint64_t before = search.nodes();
      attempt.verdict = search.run(slice);
      attempt.nodes += search.nodes() - before;
      if (attempt.verdict != ArenaVerdict::running) {
        attempt.offsets = search.offsets();
        return attempt;
      }
    }
    slice = std::max(slice, std::min(2 * slice, longest_slice));
  }
  return attempt;
}

} // namespace tidegate::planning
