// Ejection of items from groups, and bisection of the peak.
#include "planning/compact/problem.hpp"
#include "planning/compact/searches.hpp"
#include <tidegate/planning/wave_dag.hpp>

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

constexpr std::uint32_t in_pool = std::numeric_limits<std::uint32_t>::max();

// Inserts the items of the pool, ejecting others where nothing fits. The draws are the same in every run.
class Ejection {
public:
  Ejection(const PackingProblem& problem, const Packing& packing, std::uint64_t& effort,
           std::mt19937_64& random)
      : problem_(problem), effort_(effort), random_(random), group_of_(packing.group_of),
        members_(packing.groups), load_(packing.groups), refusals_(problem.count(), 1) {
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      members_[group_of_[item]].push_back(item);
      load_[group_of_[item]] += problem.size[item];
    }
  }

  // Puts the items of the lightest group into the pool.
  void dissolve_lightest() {
    const auto lightest = std::min_element(load_.begin(), load_.end());
    const auto group = static_cast<std::uint32_t>(lightest - load_.begin());
    pool_ = members_[group];
    for (const std::uint32_t item : pool_) {
      group_of_[item] = in_pool;
    }
    members_.erase(members_.begin() + group);
    load_.erase(lightest);
    for (std::uint32_t& other : group_of_) {
      other -= other != in_pool && other > group ? 1 : 0;
    }
  }

  // Takes items out of each overfull group: the smallest one that suffices, or else the largest.
  void lighten_overfull() {
    for (std::uint32_t group = 0; group < members_.size(); ++group) {
      while (load_[group] > problem_.capacity) {
        const std::uint64_t excess = load_[group] - problem_.capacity;
        const std::uint32_t item = *std::ranges::min_element(members_[group], {}, [&](std::uint32_t other) {
          const std::uint64_t size = problem_.size[other];
          return size >= excess ? std::pair(false, size) : std::pair(true, ~size);
        });
        leave(item);
        pool_.push_back(item);
      }
    }
  }

  // Returns the packing without empty groups, if there is a place for every item of the pool.
  std::optional<Packing> run() {
    std::sort(pool_.begin(), pool_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(problem_.size[a], a) < std::pair(problem_.size[b], b);
    });
    constexpr std::uint64_t insertions_per_order = 64;
    constexpr int random_moves = 20;
    for (std::uint64_t turn = 1; !pool_.empty() && effort_ > 0; ++turn) {
      const std::uint32_t item = pool_.back();
      pool_.pop_back();
      if (insert(item)) {
        continue;
      }
      if (push_out_for(item)) {
        move_at_random(random_moves);
      }
      if (turn % insertions_per_order == 0) {
        reorder_groups();
      }
    }
    if (!pool_.empty()) {
      return {};
    }
    return without_empty_groups(
        {.group_of = group_of_, .groups = static_cast<std::uint32_t>(members_.size())});
  }

private:
  // The groups open to an item are those after `after` and before `before`; -1 and the number of groups are
  // outside. The item's nearest relatives bound the window until they are ejected.
  struct Window {
    std::int64_t after = -1;
    std::int64_t before = 0;
    std::vector<std::uint32_t> nearest; // items in the group `after` or in the group `before`
  };

  // The cheapest ejection found.
  struct PushOut {
    std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t ties = 0;
    std::uint32_t group = in_pool;
    std::vector<std::uint32_t> items;
  };

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void enter(std::uint32_t item, std::uint32_t group) {
    group_of_[item] = group;
    members_[group].push_back(item);
    load_[group] += problem_.size[item];
  }

  void leave(std::uint32_t item) {
    std::vector<std::uint32_t>& members = members_[group_of_[item]];
    *std::find(members.begin(), members.end(), item) = members.back();
    members.pop_back();
    load_[group_of_[item]] -= problem_.size[item];
    group_of_[item] = in_pool;
  }

  // Visits relatives through those in the pool: an item also waits for what a relative in the pool waits for.
  template <class Visit>
  void visit_relatives(std::uint32_t item, const ItemLists& relatives, Visit visit) {
    std::vector<std::uint32_t>& open = stack_;
    open.assign(1, item);
    for (std::size_t next = 0; next < open.size(); ++next) {
      for (const std::uint32_t other : relatives[open[next]]) {
        if (group_of_[other] != in_pool) {
          visit(other, std::int64_t{group_of_[other]});
        } else if (std::find(open.begin(), open.end(), other) == open.end()) {
          open.push_back(other);
        }
      }
      spend(effort_, 1 + relatives[open[next]].size());
    }
  }

  const Window& window(std::uint32_t item) {
    Window& result = window_;
    result = {.after = -1,
              .before = static_cast<std::int64_t>(members_.size()),
              .nearest = std::move(result.nearest)};
    result.nearest.clear();
    visit_relatives(item, problem_.predecessors,
                    [&](std::uint32_t, std::int64_t group) { result.after = std::max(result.after, group); });
    visit_relatives(item, problem_.successors, [&](std::uint32_t, std::int64_t group) {
      result.before = std::min(result.before, group);
    });
    return result;
  }

  void note_nearest(std::uint32_t item) {
    const auto note = [&](std::int64_t border) {
      return [this, border](std::uint32_t other, std::int64_t group) {
        if (group == border &&
            std::find(window_.nearest.begin(), window_.nearest.end(), other) == window_.nearest.end()) {
          window_.nearest.push_back(other);
        }
      };
    };
    visit_relatives(item, problem_.predecessors, note(window_.after));
    visit_relatives(item, problem_.successors, note(window_.before));
  }

  bool insert(std::uint32_t item) {
    const Window& open = window(item);
    std::uint64_t found = 0;
    std::int64_t chosen = -1;
    for (std::int64_t group = open.after + 1; group < open.before; ++group) {
      if (load_[static_cast<std::size_t>(group)] <= problem_.capacity - problem_.size[item] &&
          below(++found) == 0) {
        chosen = group;
      }
    }
    spend(effort_, static_cast<std::uint64_t>(std::max<std::int64_t>(open.before - open.after, 1)) / 4);
    if (chosen < 0) {
      return false;
    }
    enter(item, static_cast<std::uint32_t>(chosen));
    return true;
  }

  std::uint64_t cost_of(std::uint32_t item) const {
    constexpr double unit = 1000;
    const double size = static_cast<double>(problem_.size[item]) /
                        static_cast<double>(std::max<std::uint64_t>(problem_.capacity, 1));
    return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(refusals_[item])) * (1 + unit * size));
  }

  // Puts an item that fits nowhere in the place of others. Returns false if not even ejecting two items of a
  // group makes room.
  bool push_out_for(std::uint32_t item) {
    ++refusals_[item];
    note_nearest(item);
    PushOut best;
    const auto groups = static_cast<std::int64_t>(members_.size());
    const std::int64_t last = std::min(window_.before, groups - 1);
    for (std::int64_t group = std::max<std::int64_t>(window_.after, 0); group <= last; ++group) {
      consider_group(item, static_cast<std::uint32_t>(group), best);
    }
    if (best.group == in_pool) {
      pool_.insert(pool_.begin(), item);
      reorder_groups();
      return false;
    }
    for (const std::uint32_t other : best.items) {
      leave(other);
      pool_.push_back(other);
    }
    enter(item, best.group);
    return true;
  }

  void consider_group(std::uint32_t item, std::uint32_t group, PushOut& best) {
    constexpr std::size_t most_pushed_out = 2;
    must_leave_.clear();
    may_leave_.clear();
    std::uint64_t cost = 0;
    std::uint64_t room = problem_.capacity - load_[group];
    const bool at_border = group == window_.after || group == window_.before;
    for (const std::uint32_t other : members_[group]) {
      if (at_border &&
          std::find(window_.nearest.begin(), window_.nearest.end(), other) != window_.nearest.end()) {
        must_leave_.push_back(other);
        cost += cost_of(other);
        room += problem_.size[other];
      } else {
        may_leave_.push_back(other);
      }
    }
    spend(effort_, members_[group].size());
    if (must_leave_.size() > most_pushed_out) {
      return;
    }
    const std::uint64_t size = problem_.size[item];
    if (room >= size) {
      consider(group, cost, {}, best);
      return;
    }
    for (std::size_t i = 0; i < may_leave_.size() && must_leave_.size() < most_pushed_out; ++i) {
      const std::uint32_t first = may_leave_[i];
      if (size - room <= problem_.size[first]) {
        consider(group, cost + cost_of(first), {first}, best);
      }
      if (!must_leave_.empty()) {
        continue;
      }
      for (std::size_t j = i + 1; j < may_leave_.size(); ++j) {
        const std::uint32_t second = may_leave_[j];
        // If one of them suffices, the pair is not needed.
        if (size - room > problem_.size[first] && size - room > problem_.size[second] &&
            size - room - problem_.size[first] <= problem_.size[second]) {
          consider(group, cost + cost_of(first) + cost_of(second), {first, second}, best);
        }
      }
      spend(effort_, may_leave_.size() - i);
    }
  }

  void consider(std::uint32_t group, std::uint64_t cost, std::initializer_list<std::uint32_t> more,
                PushOut& best) {
    if (cost > best.cost || (cost == best.cost && below(++best.ties) != 0)) {
      return;
    }
    best.ties = cost < best.cost ? 1 : best.ties;
    best.cost = cost;
    best.group = group;
    best.items = must_leave_;
    best.items.insert(best.items.end(), more.begin(), more.end());
  }

  // Moves items, or swaps two, at random where feasible.
  void move_at_random(int moves) {
    for (; moves > 0; --moves) {
      const auto item = static_cast<std::uint32_t>(below(problem_.count()));
      if (group_of_[item] == in_pool) {
        continue;
      }
      const Window& open = window(item);
      const std::int64_t groups_open = open.before - open.after - 1;
      if (groups_open < 2) {
        continue;
      }
      const auto to = static_cast<std::uint32_t>(
          open.after + 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(groups_open))));
      if (to == group_of_[item]) {
        continue;
      }
      if (load_[to] <= problem_.capacity - problem_.size[item]) {
        leave(item);
        enter(item, to);
      } else {
        trade(item, members_[to][below(members_[to].size())]);
      }
    }
  }

  void trade(std::uint32_t item, std::uint32_t other) {
    const std::uint32_t from = group_of_[item];
    const std::uint32_t to = group_of_[other];
    const std::uint64_t capacity = problem_.capacity;
    if (load_[to] - problem_.size[other] > capacity - problem_.size[item] ||
        load_[from] - problem_.size[item] > capacity - problem_.size[other]) {
      return;
    }
    const Window& open = window(other);
    if (open.after < from && from < open.before) {
      leave(item);
      leave(other);
      enter(item, to);
      enter(other, from);
    }
  }

  // Chooses any order of the groups that keeps the dependencies, including those through the pool: each item
  // of the pool counts as a group.
  void reorder_groups() {
    const auto groups = static_cast<std::uint32_t>(members_.size());
    Packing nodes{.group_of = group_of_, .groups = groups};
    for (const std::uint32_t item : pool_) {
      nodes.group_of[item] = nodes.groups++;
    }
    std::vector<std::vector<std::uint32_t>> members;
    std::vector<std::uint64_t> load;
    const bool stay_close = below(2) == 0; // to the group placed last
    const auto choose = [&](const std::vector<std::uint32_t>& ready) {
      return stay_close ? ready.size() - 1 - below(std::min<std::size_t>(ready.size(), 2))
                        : below(ready.size());
    };
    visit_in_order(problem_, nodes, choose, [&](std::uint32_t node) {
      if (node >= groups) {
        return;
      }
      for (const std::uint32_t item : members_[node]) {
        group_of_[item] = static_cast<std::uint32_t>(members.size());
      }
      members.push_back(std::move(members_[node]));
      load.push_back(load_[node]);
    });
    members_ = std::move(members);
    load_ = std::move(load);
    spend(effort_, problem_.count() + problem_.successors.items.size());
  }

  const PackingProblem& problem_;
  std::uint64_t& effort_;
  std::mt19937_64& random_;
  std::vector<std::uint32_t> group_of_; // or in_pool
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<std::uint64_t> load_;
  std::vector<std::uint32_t> pool_;     // the last one is placed next
  std::vector<std::uint64_t> refusals_; // one more than the times that an item found no place
  Window window_;                       // these four are members only to save allocations
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> must_leave_, may_leave_;
};

} // namespace

Packing with_groups_saved(const PackingProblem& problem, Packing packing, std::uint64_t lower,
                          std::uint64_t& effort) {
  std::mt19937_64 random{20'261'121};
  while (packing.groups > lower && packing.groups > 1 && effort > 0) {
    spend(effort, problem.count());
    Ejection ejection(problem, packing, effort, random);
    ejection.dissolve_lightest();
    std::optional<Packing> fewer = ejection.run();
    if (!fewer) {
      break;
    }
    packing = std::move(*fewer);
  }
  return packing;
}

std::optional<Packing> with_groups_fitted(const PackingProblem& problem, const Packing& packing,
                                          std::uint64_t& effort) {
  std::mt19937_64 random{20'261'121};
  Ejection ejection(problem, packing, effort, random);
  ejection.lighten_overfull();
  return ejection.run();
}

namespace {

// Returns a lower bound on the capacity of every packing.
std::uint64_t least_peak(const PackingProblem& problem, std::uint32_t groups) {
  WideBytes total = 0;
  std::uint64_t largest = 0;
  for (const std::uint64_t size : problem.size) {
    total += size;
    largest = std::max(largest, size);
  }
  return std::max(largest, static_cast<std::uint64_t>((total + groups - 1) / groups));
}

// Searches for a packing that fits the problem's capacity.
std::optional<Packing> packing_that_fits(const PackingProblem& problem,
                                         std::span<const std::uint32_t> by_tail, const Packing& start,
                                         std::uint64_t& effort) {
  constexpr std::uint64_t steps_per_item = 8; // approximate cost of a list schedule
  Packing scheduled = schedule_by_group(problem, by_tail);
  if (scheduled.groups != start.groups) {
    scheduled = schedule_by_item(problem, by_tail);
  }
  spend(effort, 2 * steps_per_item * (problem.count() + problem.successors.items.size()));
  if (scheduled.groups == start.groups) {
    return scheduled;
  }
  std::uint64_t slice = effort / 4;
  spend(effort, slice);
  std::optional<Packing> fitted = with_groups_fitted(problem, start, slice);
  effort += slice;
  return fitted && fitted->groups == start.groups ? std::move(fitted) : std::nullopt;
}

} // namespace

Packing lower_peak(PackingProblem problem, std::span<const std::uint32_t> tail, Packing packing,
                   std::uint64_t effort) {
  constexpr std::uint64_t fine_enough = 4096; // of the peak
  const std::vector<std::uint32_t> by_tail = by_tail_then_size(problem, tail);
  std::uint64_t hopeless = least_peak(problem, packing.groups) - 1; // impossible, or not reached
  std::uint64_t peak = peak_bytes(problem, packing);
  // Try the lower bound first: it is often reached.
  std::uint64_t tried = hopeless + 1;
  while (tried < peak && effort > 0) {
    problem.capacity = tried;
    std::optional<Packing> better = packing_that_fits(problem, by_tail, packing, effort);
    if (better) {
      packing = std::move(*better);
      peak = peak_bytes(problem, packing);
    } else {
      hopeless = tried;
    }
    if (peak - hopeless <= 1 + peak / fine_enough) {
      break;
    }
    tried = hopeless + (peak - hopeless) / 2;
  }
  return packing;
}

} // namespace tidegate::planning
