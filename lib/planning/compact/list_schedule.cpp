// List schedules, which find the next item in a tournament tree over the ready ones; local search over their orders, and
// bisection of the peak.
#include "planning/compact/problem.hpp"

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

  std::uint64_t least() const { return least_[1]; }

  // Returns the first slot that holds at most `limit`; it must exist.
  std::size_t first(std::uint64_t limit) const {
    std::size_t node = 1;
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

Packing list_schedule(const PackingProblem& problem, std::span<const std::uint32_t> preference) {
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
    while (ready.least() <= std::min(room, TournamentTree::nothing - 1)) {
      const std::size_t slot = ready.first(room);
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

std::vector<std::uint32_t> preference(const PackingProblem& problem, std::span<const std::uint32_t> tail,
                                      First first) {
  std::vector<std::uint32_t> order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, std::greater(), [&](std::uint32_t item) {
    const std::uint64_t keys[]{tail[item], problem.size[item]};
    return std::tuple(keys[first == First::longest_tail ? 0 : 1], keys[first == First::longest_tail ? 1 : 0],
                      ~problem.wave[item]);
  });
  return order;
}

namespace {

struct OrderedSchedule {
  std::vector<std::uint32_t> order; // of preference
  Packing packing;
  std::uint64_t unevenness = 0;

  auto cost() const { return std::pair(packing.groups, ~unevenness); }
};

// Returns the sum of the squares of the groups' bytes, each in 16 bits.
std::uint64_t unevenness(const PackingProblem& problem, const Packing& packing) {
  const int dropped = std::max(48 - std::countl_zero(problem.capacity), 0);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : group_bytes(problem, packing)) {
    sum += (bytes >> dropped) * (bytes >> dropped);
  }
  return sum;
}

OrderedSchedule scheduled(const PackingProblem& problem, std::vector<std::uint32_t> order) {
  OrderedSchedule result{.order = std::move(order)};
  result.packing = list_schedule(problem, result.order);
  result.unevenness = unevenness(problem, result.packing);
  return result;
}

std::vector<std::uint32_t> by_group(const Packing& packing) {
  std::vector<std::uint32_t> order(packing.group_of.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t item) { return packing.group_of[item]; });
  return order;
}

// Moves up to three items to earlier places, or swaps two. The draws are the same in every run.
void vary(std::vector<std::uint32_t>& order, std::mt19937_64& random) {
  constexpr std::uint64_t most_moves = 3;
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % order.size()); };
  for (std::uint64_t moves = 1 + random() % most_moves; moves > 0; --moves) {
    const auto [to, from] = std::minmax({place(), place()});
    if (random() % 2 == 0) {
      std::swap(order[static_cast<std::size_t>(to)], order[static_cast<std::size_t>(from)]);
    } else {
      std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    }
  }
}

} // namespace

void improve_order(CompactSearch& search, std::uint64_t& effort) {
  const std::uint64_t steps = 100 + 2 * (search.problem.count() + search.problem.successors.items.size());
  const std::uint64_t turn = effort / 8 + 1; // of one direction of time
  std::mt19937_64 random{20'261'121};
  std::array<OrderedSchedule, 2> current;
  for (std::uint64_t round = 0; search.is_open() && effort > 0; ++round) {
    const bool backwards = round % 2 != 0;
    const PackingProblem& problem = backwards ? search.reverse : search.problem;
    OrderedSchedule& best = current[round % 2];
    const auto consider = [&](OrderedSchedule&& candidate) {
      spend(effort, steps);
      if (candidate.packing.groups < search.best.groups) {
        search.best = backwards ? mirrored(candidate.packing) : candidate.packing;
      }
      if (best.order.empty() || candidate.cost() <= best.cost()) {
        best = std::move(candidate);
      }
    };
    if (best.order.empty()) {
      const std::vector<std::uint32_t> tail = backwards ? mirrored(search.bounds).tail : search.bounds.tail;
      consider(scheduled(problem, by_group(backwards ? mirrored(search.best) : search.best)));
      consider(scheduled(problem, preference(problem, tail, First::longest_tail)));
      consider(scheduled(problem, preference(problem, tail, First::largest)));
    }
    for (const std::uint64_t end = effort - std::min(effort, turn); search.is_open() && effort > end;) {
      std::vector<std::uint32_t> order = best.order;
      vary(order, random);
      consider(scheduled(problem, std::move(order)));
    }
  }
}

void lower_peak(CompactSearch& search, std::uint64_t effort) {
  constexpr std::uint64_t fine_enough = 4096; // of the peak
  const Packing& best = search.best;
  const auto peak_of = [](const CompactSearch& found) {
    return std::ranges::max(group_bytes(found.problem, found.best));
  };
  WideBytes total = 0;
  std::uint64_t largest = 0;
  for (const std::uint64_t size : search.problem.size) {
    total += size;
    largest = std::max(largest, size);
  }
  std::uint64_t least =
      std::max(largest, static_cast<std::uint64_t>((total + best.groups - 1) / best.groups));
  std::uint64_t peak = peak_of(search);
  // Try the lower bound first: it is often reached.
  for (std::uint64_t tried = least; tried < peak && effort > 0; tried = least + (peak - least) / 2) {
    CompactSearch tighter = search;
    tighter.problem.capacity = tighter.reverse.capacity = tried;
    tighter.best.groups = best.groups + 1; // its packing need not fit
    tighter.lower = best.groups;
    std::uint64_t slice = effort / 4 + 1;
    spend(effort, slice);
    improve_order(tighter, slice);
    effort += slice;
    if (tighter.is_open()) {
      least = tried + 1; // not reached, if not impossible
    } else {
      search.best = std::move(tighter.best);
      peak = peak_of(search);
    }
    if (peak - least <= peak / fine_enough) {
      break;
    }
  }
}

} // namespace tidegate::planning
