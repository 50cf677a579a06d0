#include <tidegate/planning/arena_search.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
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
                         std::span<const std::uint32_t> rank_of_item, std::uint64_t capacity_bytes,
                         const ArenaTechniques& techniques)
    : component_(component), overlaps_(overlaps), techniques_(techniques), capacity_(capacity_bytes),
      rank_(rank_of_item.begin(), rank_of_item.end()), rest_(component.items.size(), 0),
      least_(component.items.size(), 0), placed_(component.items.size(), 0),
      to_come_(component.section_bytes), witness_(component.section_bytes.size()) {
  const auto count = static_cast<std::uint32_t>(component.items.size());
  for (std::uint32_t s = 0; s < witness_.size(); ++s) {
    section_from_.push_back(static_cast<std::uint32_t>(section_items_.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (component.items[i].first_section <= s && s < component.items[i].end_section) {
        section_items_.push_back(i);
      }
    }
    witness_[s] = section_items_[section_from_.back()];
  }
  section_from_.push_back(static_cast<std::uint32_t>(section_items_.size()));
  if (techniques_.failed_states) {
    failed_states_.resize(fewest_failed_states);
  }
  members_.resize(count);
  std::iota(members_.begin(), members_.end(), 0U);
  Group whole{.members = {0, count}};
  if (look(whole, {})) {
    enter(whole);
  } else {
    verdict_ = ArenaVerdict::impossible;
  }
}

// Puts an item at its rest and lifts what overlaps it. False when something no longer fits below the
// capacity.
bool ArenaSearch::place(std::uint32_t item) {
  ++nodes_;
  const ArenaItem& placed = component_.items[item];
  placed_[item] = 1;
  trail_.push_back({.item = item, .placed = true, .rest = rest_[item]});
  for (std::uint32_t s = placed.first_section; s < placed.end_section; ++s) {
    to_come_[s] -= placed.size;
  }
  const std::uint64_t top = rest_[item] + placed.size;
  bool fits = true;
  for (const std::uint32_t other : overlaps_.of(item)) {
    if (placed_[other] == 0 && rest_[other] < top) {
      trail_.push_back({.item = other, .placed = false, .rest = rest_[other]});
      const ArenaItem& lifted = component_.items[other];
      rest_[other] = aligned_up(top, lifted.alignment).value_or(u64_max);
      fits = fits && rest_[other] <= capacity_ - lifted.size;
    }
  }
  return fits;
}

void ArenaSearch::undo(std::uint32_t trail_mark) {
  while (trail_.size() > trail_mark) {
    const Change& change = trail_.back();
    if (change.placed) {
      placed_[change.item] = 0;
      const ArenaItem& item = component_.items[change.item];
      for (std::uint32_t s = item.first_section; s < item.end_section; ++s) {
        to_come_[s] += item.size;
      }
    }
    rest_[change.item] = change.rest;
    trail_.pop_back();
  }
}

// Lists the groups that the frame's group falls into now, as children. False when one of them has no
// solution.
bool ArenaSearch::split(const Frame& frame, Limit limit) {
  std::uint32_t end_section = 0;
  for (std::uint32_t m = frame.group.members.begin; m < frame.group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    if (placed_[item] != 0) {
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
    if (!look(*child, limit)) {
      return false;
    }
  }
  // The group with the least room is the most likely one to fail.
  std::stable_sort(begin, children_.end(), [](const Group& a, const Group& b) { return a.slack < b.slack; });
  return true;
}

// Fills in what is known of a group; false when it cannot be solved.
bool ArenaSearch::look(Group& group, Limit limit) {
  group.limit = {u64_max, 0};
  group.roof = u64_max;
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    const std::uint64_t rest = rest_[item];
    if (rest > capacity_ || component_.items[item].size > capacity_ - rest) {
      return false;
    }
    least_[item] = rest;
    if (techniques_.dominance) {
      group.roof = std::min(group.roof, rest + component_.items[item].size);
    }
    const Limit here{rest, rank_[item]};
    if (here >= limit || !techniques_.canonical_order) {
      group.limit = std::min(group.limit, here);
    }
  }
  if (group.limit.offset >= group.roof || group.limit.offset == u64_max) {
    return false;
  }
  const bool lifts = techniques_.lifted_floor && techniques_.canonical_order;
  return (!lifts || lift(group)) && sections_fit(group) &&
         !(techniques_.failed_states && known_to_fail(group));
}

// A skipped item waits for an overlapping one that lies low enough to be placed before the item's own rest
// rules it out (dominance); the lowest top of those is the least the item can rest on.
bool ArenaSearch::lift(const Group& group) {
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    if (Limit{rest_[item], rank_[item]} >= group.limit) {
      continue;
    }
    const std::uint64_t roof = techniques_.dominance ? rest_[item] + component_.items[item].size : u64_max;
    std::uint64_t lowest_top = u64_max;
    for (const std::uint32_t other : overlaps_.of(item)) {
      if (placed_[other] == 0) {
        const std::uint64_t offset = std::max(rest_[other], group.limit.offset);
        const std::uint64_t size = component_.items[other].size;
        if (offset < roof && size <= capacity_ - offset) {
          lowest_top = std::min(lowest_top, offset + size);
        }
      }
    }
    least_[item] = aligned_up(lowest_top, component_.items[item].alignment).value_or(u64_max);
    if (least_[item] > capacity_ || component_.items[item].size > capacity_ - least_[item]) {
      return false;
    }
  }
  return true;
}

// A section whose floor must not be above some height needs one item still to come that is not. That witness
// mostly is the one that served last time, so the section's items are rarely looked through.
bool ArenaSearch::sections_fit(Group& group) {
  const std::uint64_t monotone = techniques_.monotone_floor ? group.limit.offset : 0;
  std::uint32_t begin = component_.items[members_[group.members.begin]].first_section;
  group.slack = u64_max;
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    // Section by section; what lies between two members' lives is no part of the group.
    const ArenaItem& member = component_.items[members_[m]];
    begin = std::max(begin, member.first_section);
    for (; begin < member.end_section; ++begin) {
      const std::uint64_t needed = techniques_.section_bound ? to_come_[begin] : 0;
      if (needed > capacity_ - monotone) {
        return false;
      }
      group.slack = std::min(group.slack, capacity_ - monotone - needed);
      if (techniques_.unplaced_floor && !has_witness(begin, capacity_ - needed)) {
        return false;
      }
    }
  }
  return true;
}

bool ArenaSearch::has_witness(std::uint32_t section, std::uint64_t highest_floor) {
  std::uint32_t& witness = witness_[section];
  if (placed_[witness] == 0 && least_[witness] <= highest_floor) {
    return true;
  }
  const auto lowest = std::min_element(
      section_items_.begin() + section_from_[section], section_items_.begin() + section_from_[section + 1],
      [this](std::uint32_t a, std::uint32_t b) {
        return placed_[a] != placed_[b] ? placed_[a] < placed_[b] : least_[a] < least_[b];
      });
  witness = *lowest;
  return placed_[witness] == 0 && least_[witness] <= highest_floor;
}

bool ArenaSearch::known_to_fail(Group& group) const {
  group.key = {};
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    const std::uint64_t word = mixed(rest_[item] + mixed(item + 1));
    group.key.low ^= word;
    group.key.high ^= mixed(word + 0x9e3779b97f4a7c15U);
  }
  const FailedState& state = failed_states_[group.key.low & (failed_states_.size() - 1)];
  return state.key == group.key && state.limit <= group.limit;
}

void ArenaSearch::remember_failure(const Group& group) {
  if (++failures_ > failed_states_.size() && failed_states_.size() < most_failed_states) {
    std::vector<FailedState> larger(2 * failed_states_.size());
    for (const FailedState& state : failed_states_) {
      larger[state.key.low & (larger.size() - 1)] = state;
    }
    failed_states_ = std::move(larger);
  }
  failed_states_[group.key.low & (failed_states_.size() - 1)] = {group.key, group.limit};
}

void ArenaSearch::enter(Group group) {
  const auto first = static_cast<std::uint32_t>(candidates_.size());
  for (std::uint32_t m = group.members.begin; m < group.members.end; ++m) {
    const std::uint32_t item = members_[m];
    const bool in_order = !techniques_.canonical_order || Limit{rest_[item], rank_[item]} >= group.limit;
    if (in_order && rest_[item] < group.roof) {
      candidates_.push_back(item);
    }
  }
  const bool by_rest = techniques_.lowest_first;
  std::sort(candidates_.begin() + first, candidates_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return Limit{by_rest ? rest_[a] : 0, rank_[a]} < Limit{by_rest ? rest_[b] : 0, rank_[b]};
  });
  frames_.push_back({.group = group,
                     .candidates_mark = first,
                     .candidates = {first, static_cast<std::uint32_t>(candidates_.size())},
                     .children = {},
                     .members_mark = static_cast<std::uint32_t>(members_.size()),
                     .children_mark = static_cast<std::uint32_t>(children_.size()),
                     .trail_mark = static_cast<std::uint32_t>(trail_.size())});
}

// Takes back the candidate on trial and puts the next one in its place: `sound` unless that one refutes
// itself at once, `none` when there is no other.
ArenaSearch::Trial ArenaSearch::try_next_candidate(Frame& frame) {
  undo(frame.trail_mark);
  members_.resize(frame.members_mark);
  children_.resize(frame.children_mark);
  if (frame.candidates.begin == frame.candidates.end) {
    return Trial::none;
  }
  const std::uint32_t item = candidates_[frame.candidates.begin++];
  const Limit limit{rest_[item], rank_[item]};
  if (!place(item) || !split(frame, limit)) {
    return Trial::refuted;
  }
  frame.children = {frame.children_mark, static_cast<std::uint32_t>(children_.size())};
  return Trial::sound;
}

// Goes to the next group that is still open after the top frame's candidate turned out sound, and drops the
// frames whose groups are solved. Their placements stay until a frame below takes its own candidate back.
void ArenaSearch::descend() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.children.begin < frame.children.end) {
      enter(children_[frame.children.begin++]);
      return;
    }
    candidates_.resize(frame.candidates_mark);
    frames_.pop_back();
  }
  verdict_ = ArenaVerdict::found;
}

ArenaVerdict ArenaSearch::run(std::uint64_t nodes) {
  const std::uint64_t last_node = nodes > u64_max - nodes_ ? u64_max : nodes_ + nodes;
  while (verdict_ == ArenaVerdict::running && nodes_ < last_node) {
    Frame& frame = frames_.back();
    switch (try_next_candidate(frame)) {
    case Trial::refuted: break;
    case Trial::sound: descend(); break;
    case Trial::none:
      if (techniques_.failed_states) {
        remember_failure(frame.group);
      }
      candidates_.resize(frame.candidates_mark);
      frames_.pop_back();
      if (frames_.empty()) {
        verdict_ = ArenaVerdict::impossible;
      }
    }
  }
  return verdict_;
}

} // namespace tidegate::planning
