// Enumerates the loads of one group, and schedules by the most valuable load.
#include "planning/compact/load_schedule.hpp"

#include "planning/compact/branch_and_bound.hpp"
#include "planning/compact/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

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
    // Saturates; it is only compared with the room of a group.
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
    // Forced candidates come first, so a missing one did not fit.
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

// Leaves out the last item taken and refills from there. Returns false after the last load.
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
    // If all following items together leave room for a refused one, no further load is maximal.
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

// An item is blocked if an item of the same size that can replace it was refused.
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

// Returns true if a better item that was left out can replace an item of the load.
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

// Tests the lower bounds of the remaining items, and computes the score.
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

namespace {

struct ReadyItem {
  std::uint32_t item = 0;
  double value = 0;
  double density = 0; // value per byte
  std::uint64_t size = 0;

  friend bool operator<(const ReadyItem& a, const ReadyItem& b) {
    return a.density != b.density ? a.density > b.density : a.item < b.item;
  }
};

// Finds the most valuable load of one group: depth first, densest items first, bounded by the value that the
// rest can add. The stack is explicit, because a group may hold very many items.
class LoadSearch {
public:
  // `ready` is sorted by density. Returns indices into `ready`, ascending.
  const std::vector<std::uint32_t>& best_load(const std::vector<ReadyItem>& ready, std::uint64_t capacity,
                                              std::uint64_t most_choices, std::uint64_t& choices) {
    remember_suffixes(ready);
    taken_.clear();
    best_.clear();
    std::uint64_t room = capacity;
    double value = 0;
    double best_value = -1;
    std::size_t place = 0;
    for (;;) {
      while (place < ready.size() && suffixes_[place].least_size <= room && choices < most_choices &&
             can_beat(ready[place], value, room, suffixes_[place].value, best_value)) {
        ++choices;
        if (ready[place].size <= room) {
          room -= ready[place].size;
          value += ready[place].value;
          taken_.push_back(static_cast<std::uint32_t>(place));
          if (value > best_value) {
            best_value = value;
            best_ = taken_;
          }
        }
        ++place;
      }
      if (taken_.empty() || choices >= most_choices) {
        return best_;
      }
      place = taken_.back();
      taken_.pop_back();
      room += ready[place].size;
      value -= ready[place].value;
      ++place;
      ++choices;
    }
  }

private:
  // Totals of the ready items from an index on.
  struct Suffix {
    double value = 0;
    std::uint64_t least_size = std::numeric_limits<std::uint64_t>::max();
  };

  void remember_suffixes(const std::vector<ReadyItem>& ready) {
    suffixes_.assign(ready.size() + 1, {});
    for (std::size_t i = ready.size(); i-- > 0;) {
      suffixes_[i] = {.value = suffixes_[i + 1].value + ready[i].value,
                      .least_size = std::min(suffixes_[i + 1].least_size, ready[i].size)};
    }
  }

  static bool can_beat(const ReadyItem& next, double value, std::uint64_t room, double rest, double best) {
    constexpr double rounding = 1e-12;
    return value + std::min(rest, next.density * static_cast<double>(room)) > best + rounding;
  }

  std::vector<Suffix> suffixes_;
  std::vector<std::uint32_t> taken_;
  std::vector<std::uint32_t> best_;
};

class Schedule {
public:
  Schedule(const PackingProblem& problem, std::span<const double> value)
      : problem_(problem), value_(value), waiting_for_(problem.count()) {
    packing_.group_of.resize(problem.count());
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      waiting_for_[item] = static_cast<std::uint32_t>(problem.predecessors[item].size());
      if (waiting_for_[item] == 0) {
        add_ready(item);
      }
    }
    std::sort(ready_.begin(), ready_.end());
  }

  std::optional<Packing> run(const LoadLimits& limits, std::uint64_t& effort) {
    while (!ready_.empty()) {
      std::uint64_t steps = 0;
      choose(search_.best_load(ready_, problem_.capacity, limits.choices_per_group, steps));
      steps += ready_.size() + members_.size();
      if (packing_.groups >= limits.most_groups || effort <= steps) {
        spend(effort, steps);
        return {};
      }
      effort -= steps;
      close_group();
    }
    return std::move(packing_);
  }

private:
  void add_ready(std::uint32_t item) {
    const std::uint64_t size = problem_.size[item];
    ready_.push_back({.item = item,
                      .value = value_[item],
                      .density = value_[item] / static_cast<double>(std::max<std::uint64_t>(size, 1)),
                      .size = size});
  }

  // Takes the load and anything else that fits: a search that was cut short may have left room.
  void choose(const std::vector<std::uint32_t>& load) {
    members_.clear();
    rest_.clear();
    std::uint64_t room = problem_.capacity;
    for (const std::uint32_t place : load) {
      room -= ready_[place].size;
    }
    auto next = load.begin();
    for (std::size_t place = 0; place < ready_.size(); ++place) {
      if (next != load.end() && *next == place) {
        ++next;
        members_.push_back(ready_[place].item);
      } else if (ready_[place].size <= room) {
        room -= ready_[place].size;
        members_.push_back(ready_[place].item);
      } else {
        rest_.push_back(ready_[place]);
      }
    }
  }

  void close_group() {
    ready_.swap(rest_);
    const auto old_items = static_cast<std::ptrdiff_t>(ready_.size());
    for (const std::uint32_t item : members_) {
      packing_.group_of[item] = packing_.groups;
      for (const std::uint32_t successor : problem_.successors[item]) {
        if (--waiting_for_[successor] == 0) {
          add_ready(successor);
        }
      }
    }
    ++packing_.groups;
    std::sort(ready_.begin() + old_items, ready_.end());
    std::inplace_merge(ready_.begin(), ready_.begin() + old_items, ready_.end());
  }

  const PackingProblem& problem_;
  std::span<const double> value_;
  Packing packing_;
  std::vector<std::uint32_t> waiting_for_;
  std::vector<ReadyItem> ready_, rest_; // by density
  std::vector<std::uint32_t> members_;  // of the group being filled
  LoadSearch search_;
};

} // namespace

std::optional<Packing> schedule_by_load(const PackingProblem& problem, std::span<const double> value,
                                        const LoadLimits& limits, std::uint64_t& effort) {
  return Schedule(problem, value).run(limits, effort);
}

namespace {

enum class Urgency : std::uint8_t { bytes_after, root_of_bytes_after, tail };

// Weights of the terms in the value of an item of s bytes, in units of a group:
//
//     s + of_size s^2 + of_urgency urgency + of_followers s (followers / most followers), with some noise
struct Weights {
  bool backwards = false;
  Urgency urgency = Urgency::tail;
  double of_size = 0;
  double of_urgency = 0;
  double of_followers = 0;
  double noise = 0; // relative
};

class Draws {
public:
  double between(double least, double most) {
    constexpr double scale = 1.0 / 9'007'199'254'740'992.0; // 2^-53
    return least + (most - least) * static_cast<double>(engine_() >> 11U) * scale;
  }
  // Uniform over `steps` steps of a tenth, upwards from `least`.
  double magnitude(double least, int steps) {
    for (int step = static_cast<int>(between(0, steps)); step > 0; --step) {
      least *= 1.1;
    }
    return least;
  }
  bool chance(double share) { return between(0, 1) < share; }

private:
  std::mt19937_64 engine_{20'261'121};
};

Weights drawn(Draws& draws) {
  Weights weights;
  weights.backwards = draws.chance(0.5);
  weights.urgency = static_cast<Urgency>(static_cast<int>(draws.between(0, 3)));
  weights.of_size = draws.chance(0.3) ? 0 : draws.between(0, 0.5);
  weights.of_urgency = draws.chance(0.3) ? 0 : draws.magnitude(0.002, 56);
  weights.of_followers = draws.chance(0.3) ? 0 : draws.magnitude(0.03, 49);
  weights.noise = draws.chance(0.5) ? 0 : draws.between(0, 0.1);
  return weights;
}

// Returns weights near the best ones so far.
Weights varied(Draws& draws, Weights weights) {
  for (double* weight : {&weights.of_size, &weights.of_urgency, &weights.of_followers}) {
    *weight *= draws.chance(0.5) ? draws.magnitude(0.6, 11) : 1;
  }
  weights.noise = draws.between(0, 0.1);
  return weights;
}

// The constants of all schedules in one direction of time.
struct End {
  const PackingProblem* problem = nullptr;
  const std::vector<std::uint32_t>* tail = nullptr;
  std::vector<double> size;        // in groups
  std::vector<double> bytes_after; // of all descendants, in groups
  std::vector<double> followers;   // descendants, as a share of the most
};

// With too many items to count every descendant, uses the tails instead.
void measure_descendants(End& end, const PackingProblem& reverse) {
  const std::uint32_t count = end.problem->count();
  end.bytes_after.assign(end.tail->begin(), end.tail->end());
  end.followers = end.bytes_after;
  if (count <= most_items_with_closure) {
    const BitMatrix descendants = ancestors(reverse); // items counted from the other end
    for (std::uint32_t item = 0; item < count; ++item) {
      end.bytes_after[item] = 0;
      end.followers[item] = 0;
      for_each_bit(descendants.row(count - 1 - item), [&](std::uint32_t other) {
        end.bytes_after[item] += end.size[count - 1 - other];
        end.followers[item] += 1;
      });
    }
  }
  const double most = std::max(1.0, *std::max_element(end.followers.begin(), end.followers.end()));
  for (double& share : end.followers) {
    share /= most;
  }
}

End end_of(const PackingProblem& problem, const PackingProblem& reverse, const LowerBounds& bounds) {
  End end{.problem = &problem, .tail = &bounds.groups.tail};
  for (const std::uint64_t size : problem.size) {
    end.size.push_back(static_cast<double>(size) /
                       static_cast<double>(std::max<std::uint64_t>(problem.capacity, 1)));
  }
  measure_descendants(end, reverse);
  return end;
}

double urgency(const End& end, std::uint32_t item, Urgency kind) {
  switch (kind) {
  case Urgency::bytes_after: return end.bytes_after[item] + end.size[item];
  case Urgency::root_of_bytes_after: return std::sqrt(end.bytes_after[item]);
  case Urgency::tail: break;
  }
  return (*end.tail)[item];
}

std::vector<double> values(const End& end, const Weights& weights, Draws& draws) {
  constexpr double least = 1e-6; // so that packing an item of 0 bytes pays
  std::vector<double> result(end.size.size());
  for (std::uint32_t item = 0; item < result.size(); ++item) {
    const double size = end.size[item];
    const double value = size + weights.of_size * size * size +
                         weights.of_urgency * urgency(end, item, weights.urgency) +
                         weights.of_followers * size * end.followers[item] + least;
    result[item] = value * (1 + weights.noise * draws.between(-0.5, 0.5));
  }
  return result;
}

} // namespace

Packing best_load_schedule(const TwoEnds& ends, Packing best, std::uint64_t lower, std::uint64_t& effort) {
  constexpr std::uint64_t choices_per_group = 2000;
  const End forwards = end_of(ends.problem, ends.reverse, ends.bounds);
  const End backwards = end_of(ends.reverse, ends.problem, ends.reverse_bounds);
  Draws draws;
  std::optional<Weights> best_weights;
  for (std::uint64_t round = 1; best.groups > lower && effort > 0; ++round) {
    const bool vary = best_weights && round % 3 == 0;
    const Weights weights = vary ? varied(draws, *best_weights) : drawn(draws);
    const End& end = weights.backwards ? backwards : forwards;
    const std::vector<double> value = values(end, weights, draws);
    spend(effort, value.size());
    std::optional<Packing> packing = schedule_by_load(
        *end.problem, value, {.choices_per_group = choices_per_group, .most_groups = best.groups}, effort);
    if (packing && (packing->groups < best.groups || !best_weights)) {
      best_weights = weights;
      best = weights.backwards ? mirrored(*packing) : std::move(*packing);
    }
  }
  return best;
}

} // namespace tidegate::planning
