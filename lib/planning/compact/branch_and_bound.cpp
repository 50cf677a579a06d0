// The nodes wait in one queue per depth; a hash table remembers the sets of items seen.
#include "planning/compact/searches.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

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

// The loads that branch and bound tries for one group: maximal sets of ready items, heavy enough that
// the remaining groups can hold the rest.

// A ready item.
struct ReadyItem {
  std::uint32_t item = 0;
  std::uint32_t tail = 0;
  std::uint64_t size = 0;
  bool forced = false; // does not fit any later group
};

// The state before a group is filled. Reused between nodes: clearing is cheaper than allocating.
class LoadChoice {
public:
  // `groups_left` is the number of groups that may follow this one.
  void reset(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups_left) {
    problem_ = &problem;
    bounds_ = &bounds;
    groups_left_ = groups_left;
    open_count_ = 0;
    open_weight_.resize(bounds.measures.size());
    for (std::vector<std::uint64_t>& weights : open_weight_) {
      weights.clear();
    }
    ready_.clear();
  }

  // Every unpacked item, ascending.
  void add_open(std::uint32_t item, std::uint32_t tail) {
    ++open_count_;
    for (std::size_t i = 0; i < open_weight_.size(); ++i) {
      if (open_weight_[i].size() <= tail) {
        open_weight_[i].resize(std::size_t{tail} + 1);
      }
      open_weight_[i][tail] += bounds_->measures[i].weight[item];
    }
  }

  void add_ready(std::uint32_t item, std::uint32_t tail, bool forced) {
    ready_.push_back({.item = item, .tail = tail, .size = problem_->size[item], .forced = forced});
  }

  // Returns false if no load is feasible.
  bool close() {
    std::sort(ready_.begin(), ready_.end(), [](const ReadyItem& a, const ReadyItem& b) {
      return a.forced != b.forced ? a.forced
             : a.tail != b.tail   ? a.tail > b.tail
             : a.size != b.size   ? a.size > b.size
                                  : a.item < b.item;
    });
    size_from_.assign(ready_.size() + 1, 0);
    for (std::size_t i = ready_.size(); i-- > 0;) {
      // Saturates; it is only compared with the room of a group.
      if (__builtin_add_overflow(size_from_[i + 1], ready_[i].size, &size_from_[i])) {
        size_from_[i] = std::numeric_limits<std::uint64_t>::max();
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

  std::size_t open_count() const { return open_count_; }

private:
  friend class LoadEnumeration;

  const PackingProblem* problem_ = nullptr;
  const LowerBounds* bounds_ = nullptr;
  std::uint32_t groups_left_ = 0;
  std::size_t open_count_ = 0;
  std::vector<std::vector<std::uint64_t>>
      open_weight_;                      // by measure and tail; after close(), suffix sums over tails
  std::vector<ReadyItem> ready_;         // forced first, then by tail and size
  std::vector<std::uint64_t> size_from_; // bytes of the ready items from each one on
};

// Enumerates loads by depth-first search, taking the ready items in order where they fit.
class LoadEnumeration {
public:
  LoadEnumeration(const LoadChoice& choice, std::uint64_t most_steps)
      : choice_(choice), state_(choice.ready_.size(), State::skipped), room_(choice.problem_->capacity),
        most_steps_(most_steps) {}

  // False after the last load, or after too many steps.
  bool next() {
    bool going_on = true;
    if (begun_) {
      going_on = retreat();
    } else {
      begun_ = true;
      take_what_fits(0);
      const auto is_forced = [](const ReadyItem& entry) { return entry.forced; };
      const auto forced = std::count_if(choice_.ready_.begin(), choice_.ready_.end(), is_forced);
      // Forced items come first, so a missing one did not fit.
      going_on = !taken_.empty() && std::all_of(state_.begin(), state_.begin() + forced,
                                                [](State state) { return state == State::taken; });
    }
    while (going_on && !(is_maximal() && leaves_what_fits())) {
      going_on = !gave_up() && retreat();
    }
    if (going_on) {
      load_.clear();
      for (const std::uint32_t entry : taken_) {
        load_.push_back(choice_.ready_[entry].item);
      }
    }
    return going_on;
  }

  bool gave_up() const { return steps_ >= most_steps_; }
  std::span<const std::uint32_t> load() const { return load_; }
  float score() const { return score_; } // number of groups for the rest, fractional
  std::uint64_t steps() const { return steps_; }

private:
  enum class State : std::uint8_t { skipped, taken, refused }; // refused: fits, but left out

  void take_what_fits(std::size_t from) {
    for (std::size_t i = from; i < choice_.ready_.size(); ++i) {
      state_[i] = State::skipped;
      if (choice_.ready_[i].size <= room_) {
        state_[i] = State::taken;
        room_ -= choice_.ready_[i].size;
        taken_.push_back(static_cast<std::uint32_t>(i));
      }
    }
    steps_ += choice_.ready_.size() - from + 1;
  }

  // Leaves out the last item taken and refills from there. Returns false after the last load.
  bool retreat() {
    while (!taken_.empty() && !choice_.ready_[taken_.back()].forced) {
      const std::uint32_t last = taken_.back();
      taken_.pop_back();
      room_ += choice_.ready_[last].size;
      while (!refused_.empty() && refused_.back() > last) {
        refused_.pop_back();
      }
      refused_.push_back(last);
      state_[last] = State::refused;
      ++steps_;
      // If all following items together leave room for a refused one, no further load is maximal.
      const std::uint64_t following = choice_.size_from_[last + std::size_t{1}];
      const bool can_fill = std::all_of(refused_.begin(), refused_.end(), [&](std::uint32_t entry) {
        return room_ < following || room_ - following < choice_.ready_[entry].size;
      });
      if (can_fill) {
        take_what_fits(last + std::size_t{1});
        return true;
      }
    }
    return false;
  }

  bool is_maximal() const {
    return std::all_of(refused_.begin(), refused_.end(),
                       [&](std::uint32_t entry) { return choice_.ready_[entry].size > room_; });
  }

  // Tests the lower bounds of the remaining items, and computes the score.
  bool leaves_what_fits() {
    score_ = 0;
    for (std::size_t i = 0; i < choice_.open_weight_.size(); ++i) {
      const Measure& measure = choice_.bounds_->measures[i];
      const std::vector<std::uint64_t>& open = choice_.open_weight_[i];
      load_weight_.assign(open.size(), 0);
      for (const std::uint32_t entry : taken_) {
        load_weight_[choice_.ready_[entry].tail] += measure.weight[choice_.ready_[entry].item];
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

  const LoadChoice& choice_;
  std::vector<State> state_;
  std::vector<std::uint32_t> taken_;   // ready items, in order
  std::vector<std::uint32_t> refused_; // ready items, in order
  std::uint64_t room_ = 0;
  std::vector<std::uint32_t> load_;
  std::vector<std::uint64_t> load_weight_; // by tail
  float score_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t most_steps_;
  bool begun_ = false;
};

class Search {
public:
  Search(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups,
         const SearchLimits& limits)
      : problem_(problem), known_(bounds), bounds_(bounds.groups), limits_(limits), best_groups_(groups),
        words_((problem.count() + 63) / 64), queues_(groups) {}

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
    LoadEnumeration loads(choice_, std::min(steps_per_node, limits_.effort - effort_));
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

SearchResult branch_and_bound(const PackingProblem& problem, const LowerBounds& bounds, std::uint32_t groups,
                              const SearchLimits& limits) {
  if (problem.count() == 0 || groups <= bounds.groups.groups) {
    return {.exhausted = true};
  }
  return Search(problem, bounds, groups, limits).run();
}

} // namespace tidegate::planning
