// The nodes wait in one queue per depth; a hash table remembers the sets of items seen.
#include "planning/compact/branch_and_bound.hpp"

#include "planning/compact/load_schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a set's hash is the exclusive or of its items' numbers.
std::uint64_t scrambled(std::uint64_t value) {
  value += 0x9E37'79B9'7F4A'7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58'476D'1CE4'E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return value ^ (value >> 31U);
}

struct Node {
  std::uint32_t parent = no_node;
  std::uint32_t depth = 0; // groups used
  std::uint64_t hash = 0;
};

// A node in the queue of its depth; smaller is more promising, ties go to the older node.
struct Waiting {
  float score = 0;
  std::uint32_t node = 0;

  friend bool operator>(const Waiting& a, const Waiting& b) {
    return a.score != b.score ? a.score > b.score : a.node > b.node;
  }
};
using WaitingQueue = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;

class Search {
public:
  Search(const PackingProblem& problem, const LowerBounds& bounds, const Replacements& replacements,
         std::uint32_t groups, const SearchLimits& limits)
      : problem_(problem), known_(bounds), bounds_(bounds.groups), replacements_(replacements),
        limits_(limits), best_groups_(groups), words_((problem.count() + 63) / 64), queues_(groups) {}

  SearchResult run() {
    add_root();
    bool any = true;
    while (any && !finished()) {
      any = false;
      for (std::size_t depth = 0; depth < queues_.size() && !finished(); ++depth) {
        if (depth + 1 < best_groups_ && !queues_[depth].empty()) {
          const std::uint32_t node = queues_[depth].top().node;
          queues_[depth].pop();
          expand(node);
          any = true;
        }
      }
    }
    SearchResult result{.exhausted = (!any && !truncated_) || best_groups_ <= bounds_.groups,
                        .effort = effort_};
    if (best_node_ != no_node) {
      result.packing = packing_of(best_node_);
    }
    return result;
  }

private:
  bool finished() const { return effort_ >= limits_.effort || best_groups_ <= bounds_.groups; }

  std::span<const std::uint64_t> packed(std::uint32_t node) const {
    return std::span(sets_).subspan(node * words_, words_);
  }

  void add_root() {
    nodes_.push_back({});
    sets_.resize(words_);
    queues_[0].push({});
  }

  // Fills in the requirements of the next group so that the rest can still fit: the bounds over the unpacked
  // items, by tail, as the least weight that a load must remove.
  bool prepare(std::uint32_t node, LoadChoice& choice) {
    const std::span<const std::uint64_t> done = packed(node);
    const std::uint32_t depth = nodes_[node].depth;
    const std::uint32_t target = best_groups_ - 1;
    choice.reset(problem_, known_, target - depth - 1);
    for (std::uint32_t item = 0; item < problem_.count(); ++item) {
      if (has_bit(done, item)) {
        continue;
      }
      const std::uint32_t tail = bounds_.tail[item];
      if (depth + tail >= target) {
        return false; // its latest group has passed
      }
      choice.add_open(item, tail);
      const std::span<const std::uint32_t> above = problem_.predecessors[item];
      if (std::all_of(above.begin(), above.end(),
                      [&](std::uint32_t other) { return has_bit(done, other); })) {
        choice.add_ready(item, tail, depth + tail + 1 == target);
      }
    }
    return choice.close();
  }

  void expand(std::uint32_t node) {
    effort_ += std::min<std::uint64_t>(problem_.count() / 4 + 16, limits_.effort - effort_);
    if (!prepare(node, choice_)) {
      return;
    }
    const std::uint64_t steps_per_node = (limits_.loads_per_node + 16) * (problem_.count() + 64);
    LoadEnumeration loads(choice_, replacements_, std::min(steps_per_node, limits_.effort - effort_));
    std::uint64_t taken = 0;
    while (loads.next()) {
      if (++taken > limits_.loads_per_node) {
        truncated_ = true;
        break;
      }
      add_child(node, loads.load(), loads.score());
      if (nodes_[node].depth + 1 >= best_groups_ || finished()) {
        break; // no later node can improve on the packing just found
      }
    }
    truncated_ = truncated_ || loads.gave_up();
    effort_ += loads.steps();
  }

  void add_child(std::uint32_t parent, std::span<const std::uint32_t> load, float score) {
    const auto child = static_cast<std::uint32_t>(nodes_.size());
    Node node{.parent = parent, .depth = nodes_[parent].depth + 1, .hash = nodes_[parent].hash};
    effort_ += words_ * 2 + load.size();
    sets_.resize(sets_.size() + words_);
    const std::span<std::uint64_t> set = std::span(sets_).subspan(child * words_, words_);
    std::copy_n(packed(parent).begin(), words_, set.begin());
    for (const std::uint32_t item : load) {
      set_bit(set, item);
      node.hash ^= scrambled(item);
    }
    const auto [known, is_new] = seen_.try_emplace(node.hash, child);
    if (!is_new && std::equal(set.begin(), set.end(), packed(known->second).begin())) {
      if (nodes_[known->second].depth <= node.depth) {
        sets_.resize(sets_.size() - words_);
        return;
      }
      known->second = child;
    }
    nodes_.push_back(node);
    if (choice_.open_count() == load.size()) {
      best_groups_ = node.depth;
      best_node_ = child;
      return;
    }
    queues_[node.depth].push({.score = score, .node = child});
  }

  Packing packing_of(std::uint32_t node) const {
    Packing packing{.group_of = std::vector<std::uint32_t>(problem_.count()), .groups = nodes_[node].depth};
    for (; nodes_[node].parent != no_node; node = nodes_[node].parent) {
      const std::span<const std::uint64_t> before = packed(nodes_[node].parent);
      for_each_bit(packed(node), [&](std::uint32_t item) {
        if (!has_bit(before, item)) {
          packing.group_of[item] = nodes_[node].depth - 1;
        }
      });
    }
    return packing;
  }

  const PackingProblem& problem_;
  const LowerBounds& known_;
  const GroupBounds& bounds_;
  const Replacements& replacements_;
  SearchLimits limits_;
  std::uint32_t best_groups_;
  std::uint32_t best_node_ = no_node;
  std::size_t words_;
  std::vector<WaitingQueue> queues_; // by depth
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> sets_; // words_ for each node
  std::unordered_map<std::uint64_t, std::uint32_t> seen_;
  LoadChoice choice_;
  std::uint64_t effort_ = 0;
  bool truncated_ = false;
};

} // namespace

SearchResult branch_and_bound(const PackingProblem& problem, const LowerBounds& bounds,
                              const Replacements& replacements, std::uint32_t groups,
                              const SearchLimits& limits) {
  if (problem.count() == 0 || groups <= bounds.groups.groups) {
    return {.exhausted = true};
  }
  return Search(problem, bounds, replacements, groups, limits).run();
}

Replacements::Replacements(const PackingProblem& problem, const PackingProblem& reverse) {
  constexpr std::uint32_t most_items = 1500;
  constexpr std::size_t most_replacements = 32;
  const std::uint32_t count = problem.count();
  if (count > most_items) {
    return;
  }
  // Descendants are ancestors in the mirror, with both indices counted from the other end.
  const BitMatrix mirrored_descendants = ancestors(reverse);
  const auto descendants = [&](std::uint32_t item) { return mirrored_descendants.row(count - 1 - item); };
  for (std::uint32_t item = 0; item < count; ++item) {
    const std::span<const std::uint64_t> own = descendants(item);
    for (std::uint32_t other = 0; other < count; ++other) {
      const std::span<const std::uint64_t> others = descendants(other);
      const bool large_enough = problem.size[other] >= problem.size[item] && other != item;
      if (!large_enough || lists_.items.size() - lists_.begin.back() >= most_replacements ||
          !std::equal(own.begin(), own.end(), others.begin(),
                      [](std::uint64_t a, std::uint64_t b) { return (a & ~b) == 0; })) {
        continue;
      }
      const bool equals = problem.size[other] == problem.size[item] &&
                          std::equal(own.begin(), own.end(), others.begin(), others.end());
      if (!equals || other < item) {
        lists_.items.push_back(other);
      }
    }
    lists_.begin.push_back(static_cast<std::uint32_t>(lists_.items.size()));
  }
}

} // namespace tidegate::planning
