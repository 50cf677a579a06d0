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
// Branch derives the consequences of the decisions; the search makes and reverts them:
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

// A branch: the decisions so far, the bounds that follow from them and, if it cannot be completed, the decisions
// responsible.
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
class Branch {
public:
  enum class Stage : std::uint8_t { undecided, placed, skipped };

  // Requires that no section has more bytes than the capacity.
  Branch(const ArenaComponent& component, const ArenaOverlaps& overlaps, std::uint64_t capacity_bytes)
      : component_(component), overlaps_(overlaps), capacity_(capacity_bytes),
        stage_(component.items.size(), Stage::undecided), rest_(component.items.size(), 0),
        least_(component.items.size(), 0), support_(component.items.size(), none),
        to_come_(component.section_bytes), witness_(component.section_bytes.size()),
        conflict_(component.items.size()), explained_(component.items.size()) {
    for (std::uint32_t s = 0; s < witness_.size(); ++s) {
      witness_[s] = overlaps.in(s).front();
    }
  }

  // Decides about an undecided item. Returns false if the branch has no solution: conflict() then holds the
  // reason, and the decision must be undone.
  bool place(std::uint32_t item) {
    begin_decision(item);
    change(item, Stage::placed, rest_[item], rest_[item]);
    const ArenaItem& placed = component_.items[item];
    const std::uint64_t top = rest_[item] + placed.size;
    for (std::uint32_t s = placed.first_section; s < placed.end_section; ++s) {
      to_come_[s] -= placed.size;
    }
    for (const std::uint32_t other : overlaps_.of(item)) {
      if (stage_[other] == Stage::placed || (stage_[other] == Stage::undecided && rest_[other] >= top)) {
        continue;
      }
      // A skipped item now has the item below that it waited for.
      const std::uint64_t rest = aligned_up(top, component_.items[other].alignment).value_or(u64_max);
      const std::uint64_t before = rest_[other];
      change(other, Stage::undecided, std::max(before, rest), std::max(before, rest));
      support_[other] = rest > before ? item : support_[other];
      if (!has_room(other, rest_[other])) {
        explain({&other, 1});
        return false;
      }
    }
    return follow_up();
  }

  bool skip(std::uint32_t item) {
    begin_decision(item);
    change(item, Stage::skipped, rest_[item], rest_[item]);
    return follow_up();
  }

  std::size_t mark() const { return trail_.size(); }

  // Reverts everything decided since mark() returned that value.
  void undo(std::size_t mark) {
    while (trail_.size() > mark) {
      const Change& before = trail_.back();
      if (stage_[before.item] == Stage::placed) {
        const ArenaItem& item = component_.items[before.item];
        for (std::uint32_t s = item.first_section; s < item.end_section; ++s) {
          to_come_[s] += item.size;
        }
      }
      stage_[before.item] = before.stage;
      rest_[before.item] = before.rest;
      least_[before.item] = before.least;
      support_[before.item] = before.support;
      trail_.pop_back();
    }
  }

  // Call once no item is undecided. Returns true if all are placed; otherwise the branch has no solution,
  // because each remaining item waits for another one.
  bool complete() {
    conflict_.clear();
    bool complete = true;
    for (std::uint32_t i = 0; i < stage_.size(); ++i) {
      if (stage_[i] == Stage::skipped) {
        conflict_.add(i);
        complete = false;
      }
    }
    return complete;
  }

  // Returns the items whose decisions contradict each other.
  const ItemSet& conflict() const { return conflict_; }

  Stage stage(std::uint32_t item) const { return stage_[item]; }
  std::uint64_t rest(std::uint32_t item) const { return rest_[item]; }
  // Offsets by item, once all are placed.
  const std::vector<std::uint64_t>& offsets() const { return rest_; }

private:
  struct Change { // the state of an item before it changed
    std::uint32_t item;
    Stage stage;
    std::uint32_t support;
    std::uint64_t rest;
    std::uint64_t least;
  };

  void begin_decision(std::uint32_t item) {
    changed_begin_ = component_.items[item].first_section;
    changed_end_ = component_.items[item].end_section;
  }

  void change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least) {
    trail_.push_back({item, stage_[item], support_[item], rest_[item], least_[item]});
    stage_[item] = stage;
    rest_[item] = rest;
    least_[item] = least;
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
      if (stage_[i] == Stage::skipped) {
        lifted_.emplace_back(i, std::exchange(least_[i], u64_max));
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [item, before] : lifted_) {
        const std::uint64_t least = least_when_lifted(item);
        changed = changed || least != least_[item];
        least_[item] = least;
      }
    }
    std::uint32_t failed = none;
    // Record the changes on the trail with the previous values.
    for (const auto& [item, before] : lifted_) {
      const std::uint64_t now = std::exchange(least_[item], before);
      if (now != before) {
        change(item, Stage::skipped, rest_[item], now);
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
    const std::uint64_t way = rest_[item] + component_.items[item].size;
    std::uint64_t lowest_top = u64_max;
    for (const std::uint32_t other : overlaps_.of(item)) {
      if (stage_[other] != Stage::placed && least_[other] < way && has_room(other, least_[other])) {
        lowest_top = std::min(lowest_top, least_[other] + component_.items[other].size);
      }
    }
    return std::max(rest_[item], aligned_up(lowest_top, component_.items[item].alignment).value_or(u64_max));
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
      return stage_[item] != Stage::placed && least_[item] <= highest_floor;
    };
    if (serves(witness_[section])) {
      return true;
    }
    const auto items = overlaps_.in(section);
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
      if (stage_[item] == Stage::placed || explained_.has(item)) {
        continue;
      }
      explained_.add(item);
      for (std::uint32_t below = support_[item]; below != none && !conflict_.has(below);
           below = support_[below]) {
        conflict_.add(below);
      }
      if (least_[item] > rest_[item]) {
        conflict_.add(item);
        const auto others = overlaps_.of(item);
        to_explain_.insert(to_explain_.end(), others.begin(), others.end());
      }
    }
  }

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const std::uint64_t capacity_;

  // These are indexed by item.
  std::vector<Stage> stage_;
  std::vector<std::uint64_t> rest_;    // the offset of a placed item
  std::vector<std::uint64_t> least_;   // the least possible offset: the rest, or more if skipped
  std::vector<std::uint32_t> support_; // the placed item that it rests on, or none

  // These are indexed by section.
  std::vector<std::uint64_t> to_come_; // bytes not yet placed
  std::vector<std::uint32_t> witness_; // the item that last proved that the section fits

  std::vector<Change> trail_;
  std::uint32_t changed_begin_ = 0; // sections that the current decision changed
  std::uint32_t changed_end_ = 0;
  ItemSet conflict_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> lifted_; // for lift_skipped: item, previous least
  ItemSet explained_;
  std::vector<std::uint32_t> to_explain_;
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

// A permutation; the lowest rank goes first.
std::vector<std::uint32_t> ranks(const ArenaComponent& component, const ArenaSortKeys& order) {
  std::vector<std::uint32_t> result(component.items.size());
  std::uint32_t rank = 0;
  for (const std::uint32_t item : items_in_order(component, order)) {
    result[item] = rank++;
  }
  return result;
}

// The exact search with one preorder. Its stack is explicit, so the search can pause and resume.
class ArenaSearch {
public:
  ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps, const ArenaSortKeys& preorder,
              std::uint64_t capacity_bytes)
      : component_(component), rank_(ranks(component, preorder)),
        branch_(component, overlaps, capacity_bytes) {}

  // Continues until there is a verdict or about `nodes` more decisions have been made.
  ArenaVerdict run(std::uint64_t nodes) {
    const std::uint64_t last_node = nodes > u64_max - nodes_ ? u64_max : nodes_ + nodes;
    while (verdict_ == ArenaVerdict::running && nodes_ < last_node) {
      if (const auto item = choose()) {
        decide(*item);
      } else if (branch_.complete()) {
        verdict_ = ArenaVerdict::found;
      } else {
        backtrack();
      }
    }
    return verdict_;
  }

  std::uint64_t nodes() const { return nodes_; }
  // Returns the offsets of the items; valid after `found`.
  const std::vector<std::uint64_t>& offsets() const { return branch_.offsets(); }

private:
  struct Decision {
    std::uint32_t item = 0;
    bool skipped = false; // placing it failed, with the conflict in first_conflicts_ at this depth
    std::size_t mark = 0; // of the branch before the decision
  };

  void decide(std::uint32_t item) {
    ++nodes_;
    decisions_.push_back({.item = item, .skipped = false, .mark = branch_.mark()});
    if (!branch_.place(item)) {
      backtrack();
    }
  }

  // The branch failed because of the decisions in its conflict. Discards the decisions that this settles and
  // skips the item of the last one left.
  void backtrack() {
    ItemSet conflict = branch_.conflict();
    while (!decisions_.empty()) {
      Decision& last = decisions_.back();
      const std::size_t depth = decisions_.size() - 1;
      branch_.undo(last.mark);
      const bool involved = conflict.has(last.item);
      if (involved && !last.skipped) {
        first_conflicts_.resize(std::max(first_conflicts_.size(), depth + 1));
        first_conflicts_[depth] = conflict;
        last.skipped = true;
        ++nodes_;
        if (branch_.skip(last.item)) {
          return;
        }
        conflict = branch_.conflict();
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

  // Chooses the next item to decide: the lowest rest first, ties by the preorder. Returns nothing if no item
  // is undecided.
  std::optional<std::uint32_t> choose() const {
    const auto key = [this](std::uint32_t item) { return std::pair(branch_.rest(item), rank_[item]); };
    std::optional<std::uint32_t> lowest;
    for (std::uint32_t i = 0; i < component_.items.size(); ++i) {
      if (branch_.stage(i) == Branch::Stage::undecided && (!lowest || key(i) < key(*lowest))) {
        lowest = i;
      }
    }
    return lowest;
  }

  const ArenaComponent& component_;
  const std::vector<std::uint32_t> rank_;
  Branch branch_;
  std::vector<Decision> decisions_;
  std::vector<ItemSet> first_conflicts_; // by depth
  ArenaVerdict verdict_ = ArenaVerdict::running;
  std::uint64_t nodes_ = 0; // decisions taken
};

} // namespace

ArenaOverlaps arena_overlaps(const ArenaComponent& component) {
  const auto count = static_cast<std::uint32_t>(component.items.size());
  ArenaOverlaps result;
  for (std::uint32_t i = 0; i < count; ++i) {
    result.item_from.push_back(static_cast<std::uint32_t>(result.items.size()));
    const ArenaItem& item = component.items[i];
    for (std::uint32_t j = 0; j < count && component.items[j].first_section < item.end_section; ++j) {
      if (j != i && item.first_section < component.items[j].end_section) {
        result.items.push_back(j);
      }
    }
  }
  result.item_from.push_back(static_cast<std::uint32_t>(result.items.size()));
  for (std::uint32_t s = 0; s < component.section_bytes.size(); ++s) {
    result.section_from.push_back(static_cast<std::uint32_t>(result.section_items.size()));
    for (std::uint32_t i = 0; i < count && component.items[i].first_section <= s; ++i) {
      if (s < component.items[i].end_section) {
        result.section_items.push_back(i);
      }
    }
  }
  result.section_from.push_back(static_cast<std::uint32_t>(result.section_items.size()));
  return result;
}

ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes) {
  constexpr std::uint64_t longest_slice = 8192;
  ArenaAttempt attempt;
  if (component.lower_bound_bytes > capacity_bytes) {
    attempt.verdict = ArenaVerdict::impossible;
    return attempt;
  }
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
