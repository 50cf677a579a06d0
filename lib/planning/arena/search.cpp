// Chooses and reverts the decisions of the exact search, and runs several searches in turn.
#include "planning/arena/search.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <limits>
#include <optional>
#include <utility>

namespace tidegate::planning {

namespace {

// The searches of a portfolio differ in the choice among items with the same rest.
struct BranchingRule {
  std::vector<std::uint32_t> rank_of_item; // a permutation; the lowest rank goes first
  bool niche = false;                      // an item that fits between its neighbours precedes the rank

  friend bool operator==(const BranchingRule&, const BranchingRule&) = default;
};

// The exact search with one branching rule. Its stack is explicit, so the search can pause and resume.
class ArenaSearch {
public:
  // All arguments except the techniques must outlive the search.
  ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps, const BranchingRule& rule,
              std::uint64_t capacity_bytes, const ArenaTechniques& techniques)
      : component_(component), overlaps_(overlaps), rule_(rule), techniques_(techniques),
        branch_(component, overlaps, capacity_bytes, techniques) {
    if (component.lower_bound_bytes > capacity_bytes) {
      verdict_ = ArenaVerdict::impossible;
    }
  }

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

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  // Returns the offsets of the items; valid after `found`.
  [[nodiscard]] const std::vector<std::uint64_t>& offsets() const { return branch_.offsets(); }

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
    ArenaItemSet conflict = branch_.conflict();
    while (!decisions_.empty()) {
      Decision& last = decisions_.back();
      const std::size_t depth = decisions_.size() - 1;
      branch_.undo(last.mark);
      const bool involved = !techniques_.backjumping || conflict.has(last.item);
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

  // Chooses the next item to decide: the lowest rest first, ties by the rule. Returns nothing if no item
  // is undecided.
  std::optional<std::uint32_t> choose() const {
    const auto count = static_cast<std::uint32_t>(component_.items.size());
    std::optional<std::uint32_t> lowest;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (branch_.stage(i) == ArenaBranch::Stage::undecided && (!lowest || goes_before(i, *lowest))) {
        lowest = i;
      }
    }
    return lowest && rule_.niche ? best_in_niche(*lowest) : lowest;
  }

  bool goes_before(std::uint32_t a, std::uint32_t b) const {
    const std::uint64_t rest_a = branch_.rest(a);
    const std::uint64_t rest_b = branch_.rest(b);
    return rest_a != rest_b ? rest_a < rest_b : rule_.rank_of_item[a] < rule_.rank_of_item[b];
  }

  // The niche is the run of sections around the item whose tops are not above its rest. Among the items with
  // the same rest that reach into it, the one that touches most of the niche's sides goes first; a side
  // counts more if the item ends at the height of its neighbour there, so that buffers handed over from one
  // to the next are adjacent.
  std::uint32_t best_in_niche(std::uint32_t item) const {
    const std::uint64_t rest = branch_.rest(item);
    const auto sections = static_cast<std::uint32_t>(component_.section_bytes.size());
    std::uint32_t begin = component_.items[item].first_section;
    std::uint32_t end = component_.items[item].end_section;
    while (begin > 0 && branch_.top(begin - 1) <= rest) {
      --begin;
    }
    while (end < sections && branch_.top(end) <= rest) {
      ++end;
    }
    std::uint32_t chosen = item;
    unsigned most = 0;
    const auto look_at = [&](std::uint32_t other) {
      const ArenaItem& candidate = component_.items[other];
      if (branch_.stage(other) != ArenaBranch::Stage::undecided || branch_.rest(other) != rest) {
        return;
      }
      const std::uint64_t top = rest + candidate.size;
      unsigned touches = 0;
      if (candidate.first_section == begin) {
        touches += begin == 0 || branch_.top(begin - 1) == top ? 3 : 2;
      }
      if (candidate.end_section == end) {
        touches += end == sections || branch_.top(end) == top ? 3 : 2;
      }
      if (touches > most || (touches == most && rule_.rank_of_item[other] < rule_.rank_of_item[chosen])) {
        most = touches;
        chosen = other;
      }
    };
    // First the items alive in the first section, then those that start in the others.
    for (const std::uint32_t other : overlaps_.in(begin)) {
      look_at(other);
    }
    for (std::uint32_t other = overlaps_.in(begin).back() + 1;
         other < component_.items.size() && component_.items[other].first_section < end; ++other) {
      look_at(other);
    }
    return chosen;
  }

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const BranchingRule& rule_;
  const ArenaTechniques techniques_;
  ArenaBranch branch_;
  std::vector<Decision> decisions_;
  std::vector<ArenaItemSet> first_conflicts_; // by depth
  ArenaVerdict verdict_ = ArenaVerdict::running;
  std::uint64_t nodes_ = 0; // decisions taken
};

struct Preorder {
  ArenaSortKeys keys;
  bool niche;
};

// Selected greedily from 56 preorders: those that together solve most of google/minimalloc's instances, their
// mirror images in time and the generated families of the tests, at the least cost, with 20 000 decisions
// each. The published portfolio has three orders, by width, area and total.
constexpr std::array<Preorder, 6> preorders{{{{ArenaKey::end, ArenaKey::size, ArenaKey::area}, false},
                                             {{ArenaKey::area, ArenaKey::total, ArenaKey::size}, true},
                                             {{ArenaKey::total, ArenaKey::width, ArenaKey::area}, false},
                                             {{ArenaKey::area, ArenaKey::total, ArenaKey::size}, false},
                                             {{ArenaKey::start, ArenaKey::size, ArenaKey::area}, false},
                                             {{ArenaKey::end, ArenaKey::width, ArenaKey::area}, false}}};

std::vector<std::uint32_t> ranks(const ArenaComponent& component, const ArenaSortKeys& order) {
  std::vector<std::uint32_t> result(component.items.size());
  std::uint32_t rank = 0;
  for (const std::uint32_t item : items_in_order(component, order)) {
    result[item] = rank++;
  }
  return result;
}

// Returns the rules that are distinct for this component.
std::vector<BranchingRule> branching_rules(const ArenaComponent& component,
                                           const ArenaTechniques& techniques) {
  std::vector<BranchingRule> result;
  for (const Preorder& preorder : preorders) {
    BranchingRule rule{.rank_of_item = ranks(component, preorder.keys),
                       .niche = preorder.niche && techniques.niche};
    if (std::find(result.begin(), result.end(), rule) == result.end()) {
      result.push_back(std::move(rule));
    }
    if (!techniques.portfolio) {
      break;
    }
  }
  return result;
}

// The first slice lets an easy search finish. Slices grow so that easy components cost little and hard ones
// keep the threads busy.
constexpr std::uint64_t first_slice_per_item = 2;
constexpr std::uint64_t longest_slice = 8192;
constexpr std::uint64_t slice_worth_a_thread = 2048;

class Portfolio {
public:
  Portfolio(const ArenaComponent& component, const ArenaOverlaps& overlaps, std::uint64_t capacity_bytes,
            const ArenaTechniques& techniques)
      : component_(component), overlaps_(overlaps), capacity_(capacity_bytes), techniques_(techniques),
        rules_(branching_rules(component, techniques)), searches_(rules_.size()), verdicts_(rules_.size()) {}

  ArenaAttempt run(std::uint64_t nodes, unsigned threads) {
    ArenaAttempt attempt;
    std::uint64_t slice = first_slice_per_item * component_.items.size();
    while (attempt.nodes < nodes) {
      slice = std::min(slice, (nodes - attempt.nodes + searches_.size() - 1) / searches_.size());
      const std::vector<std::uint64_t> before = nodes_so_far();
      sweep(slice, slice < slice_worth_a_thread ? 1 : threads);
      for (std::size_t i = 0; i < searches_.size(); ++i) {
        attempt.nodes += searches_[i]->nodes() - before[i];
        if (verdicts_[i] != ArenaVerdict::running) {
          attempt.verdict = verdicts_[i];
          if (attempt.verdict == ArenaVerdict::found) {
            attempt.offsets = searches_[i]->offsets();
          }
          return attempt;
        }
      }
      slice = std::max(slice, std::min(2 * slice, longest_slice));
    }
    return attempt;
  }

private:
  std::vector<std::uint64_t> nodes_so_far() const {
    std::vector<std::uint64_t> result;
    for (const auto& search : searches_) {
      result.push_back(search ? search->nodes() : 0);
    }
    return result;
  }

  // Gives every search a slice, except those after one that already has a verdict.
  void sweep(std::uint64_t slice, unsigned threads) {
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> decided = searches_.size();
    const auto work = [&] {
      for (std::size_t i = next++; i < decided; i = next++) {
        if (!searches_[i]) {
          searches_[i].emplace(component_, overlaps_, rules_[i], capacity_, techniques_);
        }
        verdicts_[i] = searches_[i]->run(slice);
        if (verdicts_[i] != ArenaVerdict::running) {
          std::size_t earliest = decided;
          while (i < earliest && !decided.compare_exchange_weak(earliest, i)) {
          }
        }
      }
    };
    std::vector<std::future<void>> helpers;
    for (unsigned t = 1; t < std::min<std::size_t>(threads, searches_.size()); ++t) {
      helpers.push_back(std::async(std::launch::async, work));
    }
    work();
    for (std::future<void>& helper : helpers) {
      helper.get();
    }
  }

  const ArenaComponent& component_;
  const ArenaOverlaps& overlaps_;
  const std::uint64_t capacity_;
  const ArenaTechniques& techniques_;
  std::vector<BranchingRule> rules_;
  std::vector<std::optional<ArenaSearch>> searches_; // constructed at their first slice
  std::vector<ArenaVerdict> verdicts_;
};

} // namespace

ArenaAttempt search_arena(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                          std::uint64_t capacity_bytes, std::uint64_t nodes, unsigned threads,
                          const ArenaTechniques& techniques) {
  return Portfolio(component, overlaps, capacity_bytes, techniques).run(nodes, threads);
}

// Derives the consequences of a decision, and explains failures.

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

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

void ArenaItemSet::add(const ArenaItemSet& other) {
  std::transform(words_.begin(), words_.end(), other.words_.begin(), words_.begin(), std::bit_or<>());
}

void ArenaItemSet::clear() {
  std::fill(words_.begin(), words_.end(), 0);
}

ArenaBranch::ArenaBranch(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                         std::uint64_t capacity_bytes, const ArenaTechniques& techniques)
    : component_(component), overlaps_(overlaps), techniques_(techniques), capacity_(capacity_bytes),
      stage_(component.items.size(), Stage::undecided), rest_(component.items.size(), 0),
      least_(component.items.size(), 0), support_(component.items.size(), none),
      to_come_(component.section_bytes), placed_in_(component.section_bytes.size(), 0),
      tops_(overlaps.section_items.size()), witness_(component.section_bytes.size()),
      conflict_(component.items.size()), explained_(component.items.size()) {
  for (std::uint32_t s = 0; s < witness_.size(); ++s) {
    witness_[s] = overlaps.in(s).front();
  }
}

bool ArenaBranch::place(std::uint32_t item) {
  begin_decision(item);
  change(item, Stage::placed, rest_[item], rest_[item]);
  const ArenaItem& placed = component_.items[item];
  const std::uint64_t top = rest_[item] + placed.size;
  for (std::uint32_t s = placed.first_section; s < placed.end_section; ++s) {
    to_come_[s] -= placed.size;
    tops_[overlaps_.section_from[s] + placed_in_[s]++] = top;
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

bool ArenaBranch::skip(std::uint32_t item) {
  begin_decision(item);
  change(item, Stage::skipped, rest_[item], rest_[item]);
  return follow_up();
}

void ArenaBranch::undo(std::size_t mark) {
  while (trail_.size() > mark) {
    const Change& before = trail_.back();
    if (stage_[before.item] == Stage::placed) {
      const ArenaItem& item = component_.items[before.item];
      for (std::uint32_t s = item.first_section; s < item.end_section; ++s) {
        to_come_[s] += item.size;
        --placed_in_[s];
      }
    }
    stage_[before.item] = before.stage;
    rest_[before.item] = before.rest;
    least_[before.item] = before.least;
    support_[before.item] = before.support;
    trail_.pop_back();
  }
}

void ArenaBranch::begin_decision(std::uint32_t item) {
  changed_begin_ = component_.items[item].first_section;
  changed_end_ = component_.items[item].end_section;
}

void ArenaBranch::change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least) {
  trail_.push_back({item, stage_[item], support_[item], rest_[item], least_[item]});
  stage_[item] = stage;
  rest_[item] = rest;
  least_[item] = least;
  changed_begin_ = std::min(changed_begin_, component_.items[item].first_section);
  changed_end_ = std::max(changed_end_, component_.items[item].end_section);
}

bool ArenaBranch::follow_up() {
  return (!techniques_.lifted_floor || lift_skipped()) && (!techniques_.section_bound || sections_fit());
}

// Starts with unbounded offsets for the skipped items and lowers them as far as the others allow, until
// nothing changes: two items that only support each other stay unbounded.
bool ArenaBranch::lift_skipped() {
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

std::uint64_t ArenaBranch::least_when_lifted(std::uint32_t item) const {
  const std::uint64_t way = techniques_.dominance ? rest_[item] + component_.items[item].size : u64_max;
  std::uint64_t lowest_top = u64_max;
  for (const std::uint32_t other : overlaps_.of(item)) {
    if (stage_[other] != Stage::placed && least_[other] < way && has_room(other, least_[other])) {
      lowest_top = std::min(lowest_top, least_[other] + component_.items[other].size);
    }
  }
  return std::max(rest_[item], aligned_up(lowest_top, component_.items[item].alignment).value_or(u64_max));
}

bool ArenaBranch::has_room(std::uint32_t item, std::uint64_t offset) const {
  return offset <= capacity_ - component_.items[item].size;
}

bool ArenaBranch::sections_fit() {
  for (std::uint32_t s = changed_begin_; s < changed_end_; ++s) {
    if (to_come_[s] > 0 && !section_fits(s)) {
      return false;
    }
  }
  return true;
}

// A section fits if one remaining item has a low enough least offset. The last witness usually still has one,
// so the section's items are rarely scanned.
bool ArenaBranch::section_fits(std::uint32_t section) {
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

bool ArenaBranch::complete() {
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

// Computes the conflict: the decisions that keep the remaining ones of `items` at or above their least
// offsets. These concern the items that they rest on, down to the floor; for a lifted item also its skip and
// the decisions that keep the overlapping items up.
void ArenaBranch::explain(std::span<const std::uint32_t> items) {
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

} // namespace tidegate::planning
