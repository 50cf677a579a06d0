#include <tidegate/planning/branch_and_bound.hpp>
#include <tidegate/planning/load_enumeration.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();

} // namespace

void LoadChoice::reset(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups_left) {
  problem_ = &problem;
  bounds_ = &bounds;
  groups_left_ = groups_left;
  open_count_ = 0;
  open_weight_.resize(bounds.measures.size());
  for (std::vector<std::uint64_t>& weights : open_weight_) {
    weights.clear();
  }
  open_full_.assign(bounds.cliques.size(), 0);
  open_chain_.assign(bounds.cliques.size(), 0);
  place_of_.assign(problem.count(), no_place);
  candidates_.clear();
}

void LoadChoice::add_open(std::uint32_t item, std::uint32_t tail) {
  ++open_count_;
  for (std::size_t i = 0; i < open_weight_.size(); ++i) {
    if (open_weight_[i].size() <= tail) {
      open_weight_[i].resize(std::size_t{tail} + 1);
    }
    open_weight_[i][tail] += bounds_->measures[i].weight[item];
  }
  for (std::size_t i = 0; i < open_full_.size(); ++i) {
    const Clique& clique = bounds_->cliques[i];
    open_full_[i] += clique.full[item];
    open_chain_[i] = std::max(open_chain_[i], clique.below[item] + clique.counted[item]);
  }
}

void LoadChoice::add_ready(std::uint32_t item, std::uint32_t tail, bool forced) {
  candidates_.push_back({.item = item, .tail = tail, .size = problem_->size[item], .forced = forced});
}

bool LoadChoice::close() {
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return a.forced != b.forced ? a.forced
           : a.tail != b.tail   ? a.tail > b.tail
           : a.size != b.size   ? a.size > b.size
                                : a.item < b.item;
  });
  size_from_.assign(candidates_.size() + 1, 0);
  for (std::size_t i = candidates_.size(); i-- > 0;) {
    place_of_[candidates_[i].item] = static_cast<std::uint32_t>(i);
    // Saturating: only compared with the room of a group.
    if (__builtin_add_overflow(size_from_[i + 1], candidates_[i].size, &size_from_[i])) {
      size_from_[i] = std::numeric_limits<std::uint64_t>::max();
    }
  }
  for (std::size_t i = 0; i < open_full_.size(); ++i) {
    if (open_full_[i] + open_chain_[i] > groups_left_ + 1) {
      return false;
    }
  }
  for (std::size_t i = 0; i < open_weight_.size(); ++i) {
    std::uint64_t weight = 0;
    for (std::size_t tail = open_weight_[i].size(); tail-- > 0;) {
      weight = open_weight_[i][tail] += weight;
      if (weight > (std::uint64_t{groups_left_} + 1 - tail) * bounds_->measures[i].capacity) {
        return false;
      }
    }
  }
  return true;
}

LoadEnumeration::LoadEnumeration(const LoadChoice& choice, const Replacements& replacements,
                                 std::uint64_t most_steps)
    : choice_(choice), replacements_(replacements), state_(choice.candidates_.size(), State::skipped),
      room_(choice.problem_->capacity), most_steps_(most_steps) {}

bool LoadEnumeration::next() {
  bool going_on = true;
  if (begun_) {
    going_on = retreat();
  } else {
    begun_ = true;
    take_what_fits(0);
    const auto is_forced = [](const Candidate& candidate) { return candidate.forced; };
    const auto forced = std::count_if(choice_.candidates_.begin(), choice_.candidates_.end(), is_forced);
    // The forced ones come first, so the first that is missing has found no room.
    going_on = !taken_.empty() &&
               (forced == 0 || state_[static_cast<std::size_t>(forced) - 1] == State::taken) &&
               std::all_of(state_.begin(), state_.begin() + forced,
                           [](State state) { return state == State::taken; });
  }
  while (going_on && !(is_maximal() && !is_dominated() && leaves_what_fits())) {
    going_on = !gave_up() && retreat();
  }
  if (going_on) {
    load_.clear();
    for (const std::uint32_t candidate : taken_) {
      load_.push_back(choice_.candidates_[candidate].item);
    }
  }
  return going_on;
}

void LoadEnumeration::take_what_fits(std::size_t from) {
  for (std::size_t i = from; i < choice_.candidates_.size(); ++i) {
    state_[i] = State::skipped;
    if (choice_.candidates_[i].size <= room_ && !is_blocked(i)) {
      state_[i] = State::taken;
      room_ -= choice_.candidates_[i].size;
      taken_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  steps_ += choice_.candidates_.size() - from + 1;
}

// Leaves out the last item taken and fills up behind it. False when every load has been visited.
bool LoadEnumeration::retreat() {
  while (!taken_.empty() && !choice_.candidates_[taken_.back()].forced) {
    const std::uint32_t last = taken_.back();
    taken_.pop_back();
    room_ += choice_.candidates_[last].size;
    while (!refused_.empty() && refused_.back() > last) {
      refused_.pop_back();
    }
    refused_.push_back(last);
    state_[last] = State::refused;
    ++steps_;
    // When all that follows leaves room for a refused item, no load from here on is maximal.
    const std::uint64_t following = choice_.size_from_[last + std::size_t{1}];
    const bool can_fill = std::all_of(refused_.begin(), refused_.end(), [&](std::uint32_t candidate) {
      return room_ < following || room_ - following < choice_.candidates_[candidate].size;
    });
    if (can_fill) {
      take_what_fits(last + std::size_t{1});
      return true;
    }
  }
  return false;
}

// An item waits while one that could stand for it, of the same size, was refused.
bool LoadEnumeration::is_blocked(std::size_t candidate) const {
  const std::span<const std::uint32_t> others = replacements_.of(choice_.candidates_[candidate].item);
  return std::any_of(others.begin(), others.end(), [&](std::uint32_t other) {
    const std::uint32_t place = choice_.place_of_[other];
    return place < candidate && state_[place] == State::refused &&
           choice_.candidates_[place].size == choice_.candidates_[candidate].size;
  });
}

bool LoadEnumeration::is_maximal() const {
  return std::all_of(refused_.begin(), refused_.end(),
                     [&](std::uint32_t candidate) { return choice_.candidates_[candidate].size > room_; });
}

// Some item of the load could give its place to a better one that was left out.
bool LoadEnumeration::is_dominated() const {
  return std::any_of(taken_.begin(), taken_.end(), [&](std::uint32_t candidate) {
    const Candidate& own = choice_.candidates_[candidate];
    const std::span<const std::uint32_t> others = replacements_.of(own.item);
    return !own.forced && std::any_of(others.begin(), others.end(), [&](std::uint32_t other) {
      const std::uint32_t place = choice_.place_of_[other];
      return place != no_place && state_[place] != State::taken &&
             choice_.candidates_[place].size - own.size <= room_;
    });
  });
}

// The tests of the lower bound over what stays behind, and the score.
bool LoadEnumeration::leaves_what_fits() {
  score_ = 0;
  for (std::size_t i = 0; i < choice_.open_weight_.size(); ++i) {
    const Measure& measure = choice_.bounds_->measures[i];
    const std::vector<std::uint64_t>& open = choice_.open_weight_[i];
    load_weight_.assign(open.size(), 0);
    for (const std::uint32_t candidate : taken_) {
      load_weight_[choice_.candidates_[candidate].tail] +=
          measure.weight[choice_.candidates_[candidate].item];
    }
    std::uint64_t taken = 0;
    for (std::size_t tail = open.size(); tail-- > 0;) {
      taken += load_weight_[tail];
      const std::uint64_t rest = open[tail] - taken;
      if (rest == 0) {
        continue;
      }
      if (tail >= choice_.groups_left_ || rest > (choice_.groups_left_ - tail) * measure.capacity) {
        return false;
      }
      const float needed =
          static_cast<float>(tail) + static_cast<float>(rest) / static_cast<float>(measure.capacity);
      score_ = std::max(score_, needed);
    }
    steps_ += open.size() / 4 + taken_.size();
  }
  return true;
}

} // namespace tidegate::planning
