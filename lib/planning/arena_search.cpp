#include <tidegate/planning/arena_search.hpp>

#include <algorithm>

namespace tidegate::planning {

ArenaSearch::ArenaSearch(const ArenaComponent& component, const ArenaOverlaps& overlaps,
                         const ArenaStrategy& strategy, std::uint64_t capacity_bytes,
                         const ArenaTechniques& techniques)
    : component_(component), overlaps_(overlaps), strategy_(strategy), techniques_(techniques),
      branch_(component, overlaps, capacity_bytes, techniques) {
  if (component.lower_bound_bytes > capacity_bytes) {
    verdict_ = ArenaVerdict::impossible;
  }
}

ArenaVerdict ArenaSearch::run(std::uint64_t nodes) {
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

void ArenaSearch::decide(std::uint32_t item) {
  ++nodes_;
  decisions_.push_back({.item = item, .skipped = false, .mark = branch_.mark()});
  if (!branch_.place(item)) {
    backtrack();
  }
}

// The branch has failed, for what its conflict says. Drops the decisions that this settles; the last one that
// is left is skipped now.
void ArenaSearch::backtrack() {
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

// The lowest item that can be decided about; the strategy has the say among those that rest as low.
std::optional<std::uint32_t> ArenaSearch::choose() const {
  const auto count = static_cast<std::uint32_t>(component_.items.size());
  std::optional<std::uint32_t> lowest;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (branch_.stage(i) == ArenaBranch::Stage::undecided && (!lowest || goes_before(i, *lowest))) {
      lowest = i;
    }
  }
  return lowest && strategy_.niche ? best_in_niche(*lowest) : lowest;
}

bool ArenaSearch::goes_before(std::uint32_t a, std::uint32_t b) const {
  const std::uint64_t rest_a = branch_.rest(a);
  const std::uint64_t rest_b = branch_.rest(b);
  return rest_a != rest_b ? rest_a < rest_b : strategy_.rank_of_item[a] < strategy_.rank_of_item[b];
}

// The niche is the run of sections around the item that are no higher than its rest. Among the items that
// rest as low and reach into it, the one that touches most of the niche's sides, each more closely when it
// ends at the height of what is beyond: buffers handed over from one to the next lie side by side.
std::uint32_t ArenaSearch::best_in_niche(std::uint32_t item) const {
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
    if (touches > most ||
        (touches == most && strategy_.rank_of_item[other] < strategy_.rank_of_item[chosen])) {
      most = touches;
      chosen = other;
    }
  };
  // What is alive in the first section, then what starts in the others.
  for (const std::uint32_t other : overlaps_.in(begin)) {
    look_at(other);
  }
  for (std::uint32_t other = overlaps_.in(begin).back() + 1;
       other < component_.items.size() && component_.items[other].first_section < end; ++other) {
    look_at(other);
  }
  return chosen;
}

} // namespace tidegate::planning
