#ifndef FOCUSED
#define FOCUSED runs_ % 4 != 3
#endif
#ifndef UNIT
#define UNIT 512
#endif
#ifndef DECAY
#define DECAY 4
#endif
#include <tidegate/planning/arena_search.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace tidegate::planning {
namespace {

// The table of failed states starts small, because most searches end at once, and grows to 4 MiB.
constexpr std::size_t fewest_failed_states = std::size_t{1} << 6U;
constexpr std::size_t most_failed_states = std::size_t{1} << 17U;

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014): one input bit flips half of the output bits.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

// Luby, Sinclair and Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993: 1 1 2 1 1 2 4 1 1 2 ...
std::uint64_t luby(std::uint64_t index) {
  for (std::uint64_t power = 1;; power *= 2) {
    if (index == 2 * power - 1) {
      return power;
    }
    if (index < 2 * power - 1) {
      return luby(index - (power - 1));
    }
  }
}

constexpr std::uint32_t u32_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t restart_unit = UNIT; // nodes
constexpr std::uint64_t blame_weight = 1024;

} // namespace

ArenaOverlaps arena_overlaps(const ArenaComponent& component) {
  const auto count = static_cast<std::uint32_t>(component.items.size());
  ArenaOverlaps result;
  result.from.reserve(count + 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    result.from.push_back(static_cast<std::uint32_t>(result.items.size()));
    const ArenaItem& item = component.items[i];
    for (std::uint32_t j = 0; j < count && component.items[j].first_section < item.end_section; ++j) {
      if (j != i && item.first_section < component.items[j].end_section) {
        result.items.push_back(j);
      }
    }
  }
  result.from.push_back(static_cast<std::uint32_t>(result.items.size()));
  return result;
}

ArenaSearch::ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                         const ArenaStrategy& strategy, std::uint64_t capacity_bytes,
                         const ArenaTechniques& techniques)
    : component_(component), overlaps_(overlaps), techniques_(techniques), capacity_(capacity_bytes),
      strategy_(strategy), rest_(component.items.size(), 0),
      least_(component.items.size(), 0), stage_(component.items.size(), Stage::undecided),
      to_come_(component.section_bytes), weight_(component.section_bytes.size()), changed_at_(component.section_bytes.size()) {
  const auto count = static_cast<std::uint32_t>(component.items.size());
  for (const ArenaItem& item : component.items) {
    size_.push_back(item.size);
  }
  late_.resize(count);
  placed_in_.resize(weight_.size());
  support_.assign(count, u32_max);
  explained_at_.assign(count, 0);
  conflict_.resize((count + 63) / 64);
  for (std::uint32_t s = 0; s < weight_.size(); ++s) {
    section_from_.push_back(static_cast<std::uint32_t>(section_items_.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (component.items[i].first_section <= s && s < component.items[i].end_section) {
        section_items_.push_back(i);
      }
    }
  }
  section_from_.push_back(static_cast<std::uint32_t>(section_items_.size()));
  tops_.resize(section_items_.size());
  if (techniques_.failed_states) {
    failed_states_.resize(fewest_failed_states);
  }
  restart();
}

// Takes everything back but what was learned: the failed states, and half of each weight, so that what failed
// of late counts most.
void ArenaSearch::restart() {
  undo(0);
  frames_.clear();
  children_.clear();
  const auto count = static_cast<std::uint32_t>(component_.items.size());
  members_.resize(count);
  std::iota(members_.begin(), members_.end(), 0U);
  for (std::uint64_t& weight : weight_) {
    weight = weight * DECAY / 8;
  }
  std::fill(changed_at_.begin(), changed_at_.end(), nodes_);
  Group whole{.members = {0, count}};
  if (look(whole)) {
    enter(whole);
  } else {
    verdict_ = ArenaVerdict::impossible;
  }
  ++runs_;
  next_restart_ = techniques_.restarts ? nodes_ + restart_unit * luby(runs_) : u64_max;
}

void ArenaSearch::blame(std::uint32_t section) {
  weight_[section] += blame_weight;
  last_blamed_ = section;
}

// For an item that has no place: the fullest of its sections.
void ArenaSearch::blame_item(std::uint32_t item) {
  const auto begin = to_come_.begin() + component_.items[item].first_section;
  const auto end = to_come_.begin() + component_.items[item].end_section;
  blame(static_cast<std::uint32_t>(std::max_element(begin, end) - to_come_.begin()));
}

void ArenaSearch::change(std::uint32_t item, Stage stage, std::uint64_t rest, std::uint64_t least) {
  trail_.push_back({item, stage_[item], support_[item], rest_[item], least_[item]});
  stage_[item] = stage;
  rest_[item] = rest;
  least_[item] = least;
  const ArenaItem& changed = component_.items[item];
  std::fill(changed_at_.begin() + changed.first_section, changed_at_.begin() + changed.end_section, nodes_);
}

void ArenaSearch::begin_conflict() {
  std::fill(conflict_.begin(), conflict_.end(), 0);
  ++explanation_;
}

void ArenaSearch::add_to_conflict(std::uint32_t item) {
  conflict_[item / 64] |= std::uint64_t{1} << item % 64;
}

bool ArenaSearch::in_conflict(std::uint32_t item) const {
  return (conflict_[item / 64] >> item % 64 & 1U) != 0;
}

// Adds the decisions that keep an item from lying below its least offset: those about the items it rests on,
// one on the other; and when it is skipped, that and what keeps the overlapping ones up.
void ArenaSearch::explain(std::uint32_t item) {
  to_explain_.push_back(item);
  while (!to_explain_.empty()) {
    item = to_explain_.back();
    to_explain_.pop_back();
    if (explained_at_[item] == explanation_) {
      continue;
    }
    explained_at_[item] = explanation_;
    for (std::uint32_t below = support_[item]; below != u32_max && !in_conflict(below); below = support_[below]) {
      add_to_conflict(below);
    }
    if (stage_[item] == Stage::skipped && least_[item] > rest_[item]) {
      add_to_conflict(item);
      for (const std::uint32_t other : overlaps_.of(item)) {
        if (stage_[other] != Stage::placed) {
          to_explain_.push_back(other);
        }
      }
    }
  }
}

// Puts an item at its rest and lifts what overlaps it. False when something no longer fits below the
// capacity.
bool ArenaSearch::place(std::uint32_t item) {
  const ArenaItem& placed = component_.items[item];
  change(item, Stage::placed, rest_[item], 0);
  const std::uint64_t top = rest_[item] + placed.size;
  for (std::uint32_t s = placed.first_section; s < placed.end_section; ++s) {
    to_come_[s] -= placed.size;
    tops_[section_from_[s] + placed_in_[s]++] = top;
  }
  bool fits = true;
  for (const std::uint32_t other : overlaps_.of(item)) {
    if (stage_[other] != Stage::placed && (rest_[other] < top || stage_[other] == Stage::skipped)) {
      const ArenaItem& lifted = component_.items[other];
      const std::uint64_t rest = std::max(rest_[other], aligned_up(top, lifted.alignment).value_or(u64_max));
      const bool higher = rest > rest_[other];
      change(other, Stage::undecided, rest, rest);
      support_[other] = higher ? item : support_[other];
      if (fits && rest > capacity_ - lifted.size) {
        blame_item(other);
        begin_conflict();
        explain(other);
        fits = false;
      }
    }
  }
  return fits;
}

void ArenaSearch::undo(std::uint32_t trail_mark) {
  while (trail_.size() > trail_mark) {
    const Change& change = trail_.back();
    if (stage_[change.item] == Stage::placed) {
      const ArenaItem& item = component_.items[change.item];
      for (std::uint32_t s = item.first_section; s < item.end_section; ++s) {
        to_come_[s] += item.size;
        --placed_in_[s];
      }
    }
    stage_[change.item] = change.stage;
    rest_[change.item] = change.rest;
    least_[change.item] = change.least;
    support_[change.item] = change.support;
    trail_.pop_back();
  }
}

// Lists the groups that the frame's group falls into now, as children. False when one of them has no
// solution.
bool ArenaSearch::split(Frame& frame) {
  std::uint32_t end_section = 0;
  for (std::uint32_t m = frame.group.members.begin; m < frame.group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    if (stage_[item] == Stage::placed) {
      continue;
    }
    const ArenaItem& member = component_.items[item];
    const auto position = static_cast<std::uint32_t>(members_.size());
    const bool first = children_.size() == frame.children_mark;
    if (first || (techniques_.decomposition && member.first_section >= end_section)) {
      children_.push_back({.members = {position, position}});
    }
    end_section = std::max(end_section, member.end_section);
    members_.push_back(item);
    ++children_.back().members.end;
  }
  const auto begin = children_.begin() + frame.children_mark;
  for (auto child = begin; child != children_.end(); ++child) {
    if (!look(*child)) {
      return false;
    }
  }
  // The group with the least room is the most likely one to fail.
  std::stable_sort(begin, children_.end(), [](const Group& a, const Group& b) { return a.slack < b.slack; });
  frame.children = {frame.children_mark, static_cast<std::uint32_t>(children_.size())};
  return true;
}

// Fills in what is known of a group; false when it cannot be solved.
bool ArenaSearch::look(Group& group) {
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    if (rest_[item] > capacity_ || component_.items[item].size > capacity_ - rest_[item]) {
      blame_item(item);
      begin_conflict();
      explain(item);
      return false;
    }
  }
  return (!techniques_.lifted_floor || lift(group)) && sections_fit(group) &&
         !(techniques_.failed_states && known_to_fail(group));
}

// A skipped item waits for an overlapping one that goes below it. Either that one slips under the item's
// rest, or it lies low enough to be in the way there (dominance) and the item comes to lie on it.
bool ArenaSearch::lift(const Group& group) {
  waiting_.clear();
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    if (stage_[item] == Stage::skipped) {
      waiting_.emplace_back(item, least_[item]);
      least_[item] = rest_[item];
    }
  }
  bool fits = true;
  for (const auto& [item, before] : waiting_) {
    const std::uint64_t size = component_.items[item].size;
    std::uint64_t lowest_top = u64_max;
    for (const std::uint32_t other : overlaps_.of(item)) {
      if (stage_[other] != Stage::placed) {
        const std::uint64_t offset = least_[other];
        if (component_.items[other].size <= capacity_ - offset) {
          lowest_top = std::min(lowest_top, offset + component_.items[other].size);
        }
      }
    }
    const std::uint64_t least =
        std::max(rest_[item], aligned_up(lowest_top, component_.items[item].alignment).value_or(u64_max));
    if (fits && (least > capacity_ || size > capacity_ - least)) {
      blame_item(item);
      begin_conflict();
      least_[item] = u64_max;
      explain(item);
      fits = false;
    }
    least_[item] = fits ? least : rest_[item];
  }
  for (const auto& [item, before] : waiting_) {
    const std::uint64_t least = least_[item];
    least_[item] = before;
    if (fits && least != before) {
      change(item, Stage::skipped, rest_[item], least);
    }
  }
  return fits;
}

bool ArenaSearch::sections_fit(Group& group) {
  // What refuted last is the most likely to refute again.
  if (techniques_.section_bound && changed_at_[last_blamed_] == nodes_ && !section_fits(last_blamed_)) {
    blame(last_blamed_);
    return false;
  }
  std::uint32_t begin = component_.items[members_[group.members.begin]].first_section;
  group.slack = u64_max;
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    // Section by section; what lies between two members' lives is no part of the group.
    const ArenaItem& member = component_.items[members_[m]];
    begin = std::max(begin, member.first_section);
    for (; begin < member.end_section; ++begin) {
      group.slack = std::min(group.slack, capacity_ - to_come_[begin]);
      if (techniques_.section_bound && changed_at_[begin] == nodes_ && !section_fits(begin)) {
        blame(begin);
        return false;
      }
    }
  }
  return true;
}

// Only buffers too high to have everything still to come above them can make a section overflow.
bool ArenaSearch::section_fits(std::uint32_t section) {
  begin_conflict();
  if (to_come_[section] > capacity_) {
    return false; // whatever was decided
  }
  const std::uint64_t room = capacity_ - to_come_[section];
  std::uint64_t late_bytes = 0;
  std::size_t late = 0;
  const auto items =
      std::span(section_items_).subspan(section_from_[section], section_from_[section + 1] - section_from_[section]);
  for (const std::uint32_t item : items) {
    if (least_[item] > room) {
      late_[late++] = {least_[item], item};
      late_bytes += size_[item];
    }
  }
  if (late == 0 || (!techniques_.release_bound && late_bytes != to_come_[section])) {
    return true;
  }
  std::sort(late_.begin(), late_.begin() + static_cast<std::ptrdiff_t>(late));
  std::uint64_t top = 0;
  std::size_t from = 0; // above the last gap
  for (std::size_t i = 0; i < late; ++i) {
    if (late_[i].first > top) {
      top = late_[i].first;
      from = i;
    }
    top += size_[late_[i].second];
  }
  if (top <= capacity_) {
    return true;
  }
  for (; from < late; ++from) {
    explain(late_[from].second);
  }
  return false;
}

bool ArenaSearch::known_to_fail(Group& group) {
  group.key = {};
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    const std::uint64_t word =
        mixed(rest_[item] + mixed(2 * std::uint64_t{item} + (stage_[item] == Stage::skipped ? 3 : 2)));
    group.key.low ^= word;
    group.key.high ^= mixed(word + 0x9e3779b97f4a7c15U);
  }
  if (failed_states_[group.key.low & (failed_states_.size() - 1)] != group.key) {
    return false;
  }
  begin_conflict();
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    explain(members_[m]);
    if (stage_[members_[m]] == Stage::skipped) {
      add_to_conflict(members_[m]);
    }
  }
  return true;
}

void ArenaSearch::remember_failure(const Group& group) {
  if (++failures_ > failed_states_.size() && failed_states_.size() < most_failed_states) {
    std::vector<StateKey> larger(2 * failed_states_.size());
    for (const StateKey& key : failed_states_) {
      larger[key.low & (larger.size() - 1)] = key;
    }
    failed_states_ = std::move(larger);
  }
  failed_states_[group.key.low & (failed_states_.size() - 1)] = group.key;
}

bool ArenaSearch::before(std::uint32_t a, std::uint32_t b) const {
  return least_[a] != least_[b] ? least_[a] < least_[b] : strategy_.rank_of_item[a] < strategy_.rank_of_item[b];
}

// The member of the group to decide about: undecided, and as low as its rest can be. The number of items when
// every member waits for another one.
std::uint32_t ArenaSearch::choose(const Group& group) const {
  // Three runs in four are focused; the fourth works on all sections alike.
  const auto none = static_cast<std::uint32_t>(component_.items.size());
  std::uint32_t chosen = none;
  if (techniques_.focus && (FOCUSED)) {
    const std::uint32_t item = lowest_below(focus_of(group));
    chosen = stage_[item] == Stage::undecided ? item : none;
  }
  if (chosen == none) {
    for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
      const std::uint32_t item = members_[m];
      if (stage_[item] == Stage::undecided && (chosen == none || before(item, chosen))) {
        chosen = item;
      }
    }
  }
  return chosen != none && strategy_.niche ? best_in_niche(group, chosen) : chosen;
}

std::uint64_t ArenaSearch::top_of(std::uint32_t section) const {
  return placed_in_[section] == 0 ? 0 : tops_[section_from_[section] + placed_in_[section] - 1];
}

// The niche is the run of sections around the item that are no higher than its rest. Among the items that rest
// as low and fit in, the one that touches most of the niche's sides, each more closely when it ends at the
// height of what is beyond: buffers handed over from one to the next lie side by side.
std::uint32_t ArenaSearch::best_in_niche(const Group& group, std::uint32_t item) const {
  const std::uint64_t rest = rest_[item];
  const std::uint32_t sections = static_cast<std::uint32_t>(weight_.size());
  std::uint32_t begin = component_.items[item].first_section;
  std::uint32_t end = component_.items[item].end_section;
  while (begin > 0 && top_of(begin - 1) <= rest) {
    --begin;
  }
  while (end < sections && top_of(end) <= rest) {
    ++end;
  }
  std::uint32_t chosen = item;
  unsigned most = 0;
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t other = members_[m];
    const ArenaItem& candidate = component_.items[other];
    if (stage_[other] == Stage::undecided && rest_[other] == rest && candidate.first_section < end &&
        candidate.end_section > begin) {
      const std::uint64_t top = rest + candidate.size;
      unsigned touches = 0;
      if (candidate.first_section == begin) {
        touches += begin == 0 || top_of(begin - 1) == top ? 3 : 2;
      }
      if (candidate.end_section == end) {
        touches += end == sections || top_of(end) == top ? 3 : 2;
      }
      if (touches > most || (touches == most && strategy_.rank_of_item[other] < strategy_.rank_of_item[chosen])) {
        most = touches;
        chosen = other;
      }
    }
  }
  return chosen;
}

// The section that refuted the most decisions of late.
std::uint32_t ArenaSearch::focus_of(const Group& group) const {
  std::uint32_t section = component_.items[members_[group.members.begin]].first_section;
  std::uint32_t focus = section;
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const ArenaItem& member = component_.items[members_[m]];
    for (section = std::max(section, member.first_section); section < member.end_section; ++section) {
      focus = weight_[section] > weight_[focus] ? section : focus;
    }
  }
  return focus;
}

// From the lowest item still to come in the section down to one that overlaps it and lies lower, and so on.
std::uint32_t ArenaSearch::lowest_below(std::uint32_t section) const {
  std::optional<std::uint32_t> lowest;
  for (std::uint32_t k = section_from_[section]; k < section_from_[section + 1]; ++k) {
    const std::uint32_t item = section_items_[k];
    if (stage_[item] != Stage::placed && (!lowest || before(item, *lowest))) {
      lowest = item;
    }
  }
  for (std::uint32_t from = u32_max; from != *lowest;) {
    from = *lowest;
    for (const std::uint32_t other : overlaps_.of(from)) {
      if (stage_[other] != Stage::placed && before(other, *lowest)) {
        lowest = other;
      }
    }
  }
  return *lowest;
}

void ArenaSearch::enter(Group group) {
  if (conflicts_.size() < (frames_.size() + 1) * conflict_.size()) {
    conflicts_.resize(2 * (frames_.size() + 1) * conflict_.size());
  }
  frames_.push_back({.group = group,
                     .item = choose(group),
                     .stage = Stage::undecided,
                     .children = {},
                     .members_mark = static_cast<std::uint32_t>(members_.size()),
                     .children_mark = static_cast<std::uint32_t>(children_.size()),
                     .trail_mark = static_cast<std::uint32_t>(trail_.size())});
}

// Takes the next decision about the frame's item; false when it refutes itself at once.
bool ArenaSearch::decide(Frame& frame) {
  ++nodes_; // first, since change() marks sections with it
  if (frame.stage == Stage::undecided) {
    frame.stage = Stage::placed;
    return place(frame.item) && split(frame);
  }
  frame.stage = Stage::skipped;
  change(frame.item, Stage::skipped, rest_[frame.item], rest_[frame.item]);
  children_.push_back({.members = frame.group.members});
  frame.children = {frame.children_mark, frame.children_mark + 1};
  return look(children_.back());
}

// Goes to the next group that is still open after the top frame's decision turned out sound, and drops the
// frames whose groups are solved. Their placements stay until a frame below takes its own decision back.
void ArenaSearch::descend() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.children.begin < frame.children.end) {
      enter(children_[frame.children.begin++]);
      return;
    }
    frames_.pop_back();
  }
  verdict_ = ArenaVerdict::found;
}

// The branch that the top frame is in has failed, for what conflict_ says. Drops the frames that this settles;
// the one that is left has its other branch to try.
void ArenaSearch::backtrack() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    undo(frame.trail_mark);
    members_.resize(frame.members_mark);
    children_.resize(frame.children_mark);
    const std::size_t depth = frames_.size() - 1;
    const auto kept = conflicts_.begin() + static_cast<std::ptrdiff_t>(depth * conflict_.size());
    const bool involved = !techniques_.backjumping || (frame.item < component_.items.size() && in_conflict(frame.item));
    if (frame.stage == Stage::placed && involved) {
      std::copy(conflict_.begin(), conflict_.end(), kept);
      return;
    }
    if (frame.stage == Stage::skipped && involved) {
      std::transform(conflict_.begin(), conflict_.end(), kept, conflict_.begin(), std::bit_or<>());
      conflict_[frame.item / 64] &= ~(std::uint64_t{1} << frame.item % 64);
    }
    if (techniques_.failed_states) {
      remember_failure(frame.group);
    }
    frames_.pop_back();
  }
  verdict_ = ArenaVerdict::impossible;
}

ArenaVerdict ArenaSearch::run(std::uint64_t nodes) {
  const std::uint64_t last_node = nodes > u64_max - nodes_ ? u64_max : nodes_ + nodes;
  while (verdict_ == ArenaVerdict::running && nodes_ < last_node) {
    if (nodes_ >= next_restart_) {
      restart();
      continue;
    }
    Frame& frame = frames_.back();
    if (frame.item == component_.items.size()) { // all wait for one another
      ++nodes_;
      begin_conflict();
      for (std::uint32_t m = frame.group.members.begin; m < frame.group.members.end; ++m) {
        add_to_conflict(members_[m]);
      }
      backtrack();
    } else if (decide(frame)) {
      descend();
    } else {
      backtrack();
    }
  }
  return verdict_;
}

} // namespace tidegate::planning
