// Tabu search on the overload of the groups, and bisection of the peak.
#include "planning/compact/local_search.hpp"

#include "planning/compact/list_schedule.hpp"
#include "planning/compact/problem.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t no_item = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t largest_total = std::uint64_t{1} << 62U; // so that changes fit signed 64 bits

struct Move {
  std::uint32_t item = no_item;
  std::uint32_t partner = no_item; // swaps with the item
  std::uint32_t to = 0;
  std::int64_t change = std::numeric_limits<std::int64_t>::max(); // of the overload
};

class Repair {
public:
  Repair(const PackingProblem& problem, Packing& packing, std::uint64_t& effort)
      : problem_(problem), group_of_(packing.group_of), effort_(effort), members_(packing.groups),
        load_(packing.groups), first_(problem.count()), last_(problem.count()), moved_(problem.count()) {
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      enter(item, group_of_[item]);
    }
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      update_first(item);
      update_last(item);
    }
    for (const std::uint64_t load : load_) {
      overload_ += over(load);
    }
    best_ = overload_;
  }

  bool run() {
    while (overload_ > 0) {
      const std::uint32_t group = next_overfull();
      Move move = best_move(group);
      if (move.item == no_item) {
        spend(effort_, 16);
      } else {
        make(move);
      }
      if (effort_ == 0) {
        return overload_ == 0;
      }
    }
    return true;
  }

private:
  std::int64_t over(std::uint64_t load) const {
    return load > problem_.capacity ? static_cast<std::int64_t>(load - problem_.capacity) : 0;
  }

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
  }

  void update_first(std::uint32_t item) {
    first_[item] = 0;
    for (const std::uint32_t other : problem_.predecessors[item]) {
      first_[item] = std::max(first_[item], group_of_[other] + 1);
    }
  }

  void update_last(std::uint32_t item) {
    last_[item] = static_cast<std::uint32_t>(load_.size()) - 1;
    for (const std::uint32_t other : problem_.successors[item]) {
      last_[item] = std::min(last_[item], group_of_[other] - 1);
    }
  }

  // Round robin over the groups.
  std::uint32_t next_overfull() {
    const auto groups = static_cast<std::uint32_t>(load_.size());
    do {
      turn_ = turn_ + 1 < groups ? turn_ + 1 : 0;
    } while (load_[turn_] <= problem_.capacity);
    spend(effort_, 1 + groups / 64);
    return turn_;
  }

  bool is_tabu(std::uint32_t item) const { return moved_[item] > now_; }

  Move best_move(std::uint32_t from) {
    Move best;
    std::uint64_t ties = 0;
    const auto consider = [&](const Move& move, bool tabu) {
      if (tabu && overload_ + move.change >= best_) {
        return;
      }
      if (move.change < best.change) {
        best = move;
        ties = 1;
      } else if (move.change == best.change && draw() % ++ties == 0) {
        best = move;
      }
    };
    std::uint64_t looked_at = 0;
    for (const std::uint32_t item : members_[from]) {
      const std::uint64_t size = problem_.size[item];
      for (std::uint32_t to = first_[item]; to <= last_[item]; ++to) {
        if (to == from || size == 0) {
          continue;
        }
        const std::int64_t before = over(load_[from]) + over(load_[to]);
        consider(
            {.item = item, .to = to, .change = over(load_[from] - size) + over(load_[to] + size) - before},
            is_tabu(item));
        for (const std::uint32_t partner : members_[to]) {
          const std::uint64_t other = problem_.size[partner];
          if (other < size && first_[partner] <= from && from <= last_[partner]) {
            consider({.item = item,
                      .partner = partner,
                      .to = to,
                      .change = over(load_[from] - size + other) + over(load_[to] + size - other) - before},
                     is_tabu(item) || is_tabu(partner));
          }
        }
        looked_at += 1 + members_[to].size();
      }
    }
    spend(effort_, looked_at);
    ++now_;
    return best;
  }

  void make(const Move& move) {
    const std::uint32_t from = group_of_[move.item];
    overload_ += move.change;
    best_ = std::min(best_, overload_);
    place(move.item, move.to);
    if (move.partner != no_item) {
      place(move.partner, from);
    }
  }

  void place(std::uint32_t item, std::uint32_t group) {
    leave(item);
    enter(item, group);
    moved_[item] = now_ + 5 + draw() % 10;
    for (const std::uint32_t other : problem_.successors[item]) {
      update_first(other);
    }
    for (const std::uint32_t other : problem_.predecessors[item]) {
      update_last(other);
    }
    spend(effort_, problem_.successors[item].size() + problem_.predecessors[item].size());
  }

  // xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003), from a fixed start.
  std::uint64_t draw() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return state_ >> 8U;
  }

  const PackingProblem& problem_;
  std::vector<std::uint32_t>& group_of_;
  std::uint64_t& effort_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<std::uint64_t> load_;
  std::vector<std::uint32_t> first_, last_; // each item's slack at the current positions
  std::vector<std::uint64_t> moved_;        // step until which the item may not move
  std::int64_t overload_ = 0;
  std::int64_t best_ = 0;
  std::uint64_t now_ = 0;
  std::uint32_t turn_ = 0;
  std::uint64_t state_ = 0x2545'F491'4F6C'DD1D;
};

} // namespace

bool repair(const PackingProblem& problem, Packing& packing, std::uint64_t& effort) {
  WideBytes total = 0;
  for (const std::uint64_t size : problem.size) {
    total += size;
  }
  return total < largest_total && Repair(problem, packing, effort).run();
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
  Packing repaired = start;
  const bool fits = repair(problem, repaired, slice);
  effort += slice;
  repaired = without_empty_groups(std::move(repaired));
  if (fits && repaired.groups == start.groups) {
    return repaired;
  }
  return {};
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
