// Derives the consequences of a decision, and explains failures.
#include "planning/arena/branch.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace tidegate::planning {
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
