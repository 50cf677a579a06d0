// List schedules, which choose items with a tournament tree over the ready items or over the groups, and schedules by
// load, which choose the items of a whole group at once.
#include "planning/compact/problem.hpp"
#include "planning/compact/searches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace tidegate::planning {

namespace {

// Finds the first slot that holds at most a given number. A complete binary tree in one array: node i has the
// children 2 i and 2 i + 1 and holds the smaller of their values; the slots are the leaves.
class TournamentTree {
public:
  static constexpr std::uint64_t nothing = std::numeric_limits<std::uint64_t>::max();

  explicit TournamentTree(std::size_t slots)
      : leaves_(std::bit_ceil(std::max<std::size_t>(slots, 1))), least_(2 * leaves_, nothing) {}

  void set(std::size_t slot, std::uint64_t value) {
    std::size_t node = leaves_ + slot;
    least_[node] = value;
    while (node > 1) {
      node /= 2;
      const std::uint64_t least = std::min(least_[2 * node], least_[2 * node + 1]);
      if (least_[node] == least) {
        return;
      }
      least_[node] = least;
    }
  }

  bool any(std::uint64_t limit) const { return least_[1] <= std::min(limit, nothing - 1); }

  // Returns the first slot at or after `from` that holds at most `limit`; it must exist.
  std::size_t first(std::size_t from, std::uint64_t limit) const {
    limit = std::min(limit, nothing - 1);
    std::size_t node = leaves_ + from;
    while (least_[node] > limit) {
      while (node % 2 == 1) {
        node /= 2;
      }
      ++node;
    }
    while (node < leaves_) {
      node = 2 * node + (least_[2 * node] <= limit ? 0 : 1);
    }
    return node - leaves_;
  }

private:
  std::size_t leaves_;
  std::vector<std::uint64_t> least_;
};

// Stores 2^64 - 1 bytes as one byte less, because the tree reserves that number; the schedules check the real
// size.
std::uint64_t storable(std::uint64_t size) {
  return std::min(size, TournamentTree::nothing - 1);
}

} // namespace

Packing schedule_by_group(const PackingProblem& problem, std::span<const std::uint32_t> preference) {
  const std::uint32_t count = problem.count();
  std::vector<std::uint32_t> rank(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    rank[preference[i]] = i;
  }
  TournamentTree ready(count);
  std::vector<std::uint32_t> waiting_for(count);
  for (std::uint32_t item = 0; item < count; ++item) {
    waiting_for[item] = static_cast<std::uint32_t>(problem.predecessors[item].size());
    if (waiting_for[item] == 0) {
      ready.set(rank[item], storable(problem.size[item]));
    }
  }
  Packing packing{.group_of = std::vector<std::uint32_t>(count)};
  std::vector<std::uint32_t> members;
  for (std::uint32_t placed = 0; placed < count; ++packing.groups) {
    members.clear();
    std::uint64_t room = problem.capacity;
    while (ready.any(room)) {
      const std::size_t slot = ready.first(0, room);
      const std::uint32_t item = preference[slot];
      if (problem.size[item] > room) {
        break;
      }
      ready.set(slot, TournamentTree::nothing);
      packing.group_of[item] = packing.groups;
      room -= problem.size[item];
      members.push_back(item);
    }
    placed += static_cast<std::uint32_t>(members.size());
    for (const std::uint32_t item : members) {
      for (const std::uint32_t successor : problem.successors[item]) {
        if (--waiting_for[successor] == 0) {
          ready.set(rank[successor], storable(problem.size[successor]));
        }
      }
    }
  }
  return packing;
}

Packing schedule_by_item(const PackingProblem& problem, std::span<const std::uint32_t> preference) {
  const std::uint32_t count = problem.count();
  Packing packing{.group_of = std::vector<std::uint32_t>(count)};
  std::vector<std::uint32_t> earliest(count);
  TournamentTree used(count); // bytes; slots past packing.groups are empty groups
  for (std::uint32_t group = 0; group < count; ++group) {
    used.set(group, 0);
  }
  std::vector<std::uint64_t> bytes(count);
  for (const std::uint32_t item : preference) {
    const std::uint64_t limit = std::min(problem.capacity - problem.size[item], TournamentTree::nothing - 2);
    const auto group = static_cast<std::uint32_t>(used.first(earliest[item], limit));
    packing.group_of[item] = group;
    packing.groups = std::max(packing.groups, group + 1);
    bytes[group] += problem.size[item];
    used.set(group, storable(bytes[group]));
    for (const std::uint32_t successor : problem.successors[item]) {
      earliest[successor] = std::max(earliest[successor], group + 1);
    }
  }
  return packing;
}

namespace {

// Returns the items in order of decreasing keys; of equal keys the lowest wave comes first.
template <class Key>
std::vector<std::uint32_t> by_decreasing(const PackingProblem& problem, Key key) {
  std::vector<std::uint32_t> order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, std::greater(), [&](std::uint32_t item) {
    return std::tuple_cat(key(item), std::tuple(~problem.wave[item]));
  });
  return order;
}

} // namespace

std::vector<std::uint32_t> by_tail_then_size(const PackingProblem& problem,
                                             std::span<const std::uint32_t> tail) {
  return by_decreasing(problem,
                       [&](std::uint32_t item) { return std::tuple(tail[item], problem.size[item]); });
}

std::vector<std::uint32_t> by_size_then_tail(const PackingProblem& problem,
                                             std::span<const std::uint32_t> tail) {
  return by_decreasing(problem,
                       [&](std::uint32_t item) { return std::tuple(problem.size[item], tail[item]); });
}

// Schedules by load: each group takes the load, a set of ready items, with the greatest total value.

namespace {

struct ValuedItem {
  std::uint32_t item = 0;
  double value = 0;
  double density = 0; // value per byte
  std::uint64_t size = 0;

  friend bool operator<(const ValuedItem& a, const ValuedItem& b) {
    return a.density != b.density ? a.density > b.density : a.item < b.item;
  }
};

// Finds the most valuable load of one group: depth first, densest items first, bounded by the value that the
// rest can add. The stack is explicit, because a group may hold very many items.
class LoadSearch {
public:
  // `ready` is sorted by density. Returns indices into `ready`, ascending.
  const std::vector<std::uint32_t>& best_load(const std::vector<ValuedItem>& ready, std::uint64_t capacity,
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

  void remember_suffixes(const std::vector<ValuedItem>& ready) {
    suffixes_.assign(ready.size() + 1, {});
    for (std::size_t i = ready.size(); i-- > 0;) {
      suffixes_[i] = {.value = suffixes_[i + 1].value + ready[i].value,
                      .least_size = std::min(suffixes_[i + 1].least_size, ready[i].size)};
    }
  }

  static bool can_beat(const ValuedItem& next, double value, std::uint64_t room, double rest, double best) {
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
  std::vector<ValuedItem> ready_, rest_; // by density
  std::vector<std::uint32_t> members_;   // of the group being filled
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
  // Returns `least` times 1.1^n, where n is uniform in [0, steps).
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

// Values of the items that all schedules of one direction (forwards or backwards in time) share.
struct End {
  const PackingProblem* problem = nullptr;
  const std::vector<std::uint32_t>* tail = nullptr;
  std::vector<double> size;        // divided by the capacity of a group
  std::vector<double> bytes_after; // of all descendants, divided by the capacity
  std::vector<double> followers;   // descendants, divided by the most of any item
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
  constexpr double least = 1e-6; // gives items of 0 bytes a value, too
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
