// List schedules, which find the next item in a tournament tree over the ready ones.
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

} // namespace tidegate::planning
