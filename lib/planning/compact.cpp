// The strategy `compact`: the packing problem that it solves, its lower bounds, its list schedules, local search over their
// orders, bisection of the peak, and the exhaustive search of small problems.
#include "core/prelude.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

// Pack items into as few groups of one capacity as possible, every predecessor in a strictly earlier group:
// bin packing with precedence constraints, BPP-P (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012).
//
// Items are the waves in layer order, so predecessors have smaller indices and a loop over the items needs no
// recursion. The problem is symmetric in time: the solutions of the mirrored problem, read backwards, are the
// solutions. Every forward algorithm is used backwards by mirroring the problem.

// A flat list of items for each item.
struct ItemLists {
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> items;

  std::span<const std::uint32_t> operator[](std::size_t item) const {
    return std::span(items).subspan(begin[item], begin[item + 1] - begin[item]);
  }
};

struct PackingProblem {
  std::uint64_t capacity = 0;      // bytes per group
  std::vector<std::uint64_t> size; // bytes per item, at most the capacity
  std::vector<std::uint32_t> wave; // wave of each item
  ItemLists successors;            // without repetitions, ascending
  ItemLists predecessors;

  std::uint32_t count() const { return static_cast<std::uint32_t>(size.size()); }
};

// A solution: the group of each item.
struct Packing {
  std::vector<std::uint32_t> group_of;
  std::uint32_t groups = 0;
};

// Weights of items that bound the number of groups from below.
//
// A *measure* weighs items so that no feasible group weighs more than the measure's capacity; so the number
// of groups is at least the total weight over the capacity. One measure is the bytes, the other counts waves
// over half the budget (Lueker, FOCS 1983).
struct Measure {
  std::vector<std::uint64_t> weight; // by item; the sum is below 2^64
  std::uint64_t capacity = 1;        // no feasible group weighs more
};

// The problem in one direction of time, with lower bounds on the number of groups before and after each item.
//
// Items with head >= h must all fit after the first h groups, so under every measure h + ceil(weight /
// capacity) groups are needed; the same holds for tails. The head of an item is itself such a bound over its
// ancestors (Dell'Amico, Diaz, Iori, Operations Research 60(6), 2012; for assembly lines Scholl and Becker,
// EJOR 168(3), 2006). Ancestors take n^2 / 8 bytes: larger problems have heads and tails by the longest path.
constexpr std::uint32_t most_items_with_closure = 3000;

struct Direction {
  PackingProblem problem;
  std::array<Measure, 2> measures;
  std::vector<std::uint32_t> head; // groups strictly before the item's
  std::vector<std::uint32_t> tail; // groups strictly after it: heads of the other direction
};

// The problem in both directions of time, and the best answer so far.
struct CompactSearch {
  std::array<Direction, 2> directions; // forwards, backwards
  Packing best;                        // forwards
  std::uint64_t lower = 0;             // no packing has fewer groups

  bool is_open() const { return best.groups > lower; }
  const PackingProblem& problem() const { return directions[0].problem; }
  void take(const Packing& packing, bool backwards);
};

// The searches count steps, not time, and deduct them from `effort`.
void spend(std::uint64_t& effort, std::uint64_t steps) {
  effort -= std::min(effort, steps);
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// The second items of the pairs, without repetitions, by the first.
ItemLists lists_of(Pairs pairs, std::size_t count) {
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  ItemLists lists{.begin = std::vector<std::uint32_t>(count + 1)};
  lists.items.reserve(pairs.size());
  for (const auto& [item, other] : pairs) {
    ++lists.begin[std::size_t{item} + 1];
    lists.items.push_back(other);
  }
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  return lists;
}

ItemLists mirrored(const ItemLists& lists) {
  const auto last = static_cast<std::uint32_t>(lists.begin.size() - 2);
  Pairs pairs;
  pairs.reserve(lists.items.size());
  for (std::uint32_t item = 0; item + std::size_t{1} < lists.begin.size(); ++item) {
    for (const std::uint32_t other : lists[item]) {
      pairs.emplace_back(last - item, last - other);
    }
  }
  return lists_of(std::move(pairs), lists.begin.size() - 1);
}

// Makes the problem of a DAG with the layers `layer_order`, whose waves all fit `capacity`.
PackingProblem packing_problem(const WaveDag& dag, std::span<const std::uint32_t> layer_order,
                               std::uint64_t capacity) {
  PackingProblem problem{.capacity = capacity, .wave = {layer_order.begin(), layer_order.end()}};
  std::vector<std::uint32_t> item_of(layer_order.size());
  for (std::uint32_t item = 0; item < layer_order.size(); ++item) {
    item_of[layer_order[item]] = item;
    problem.size.push_back(fused_bytes(dag.waves[layer_order[item]]).value());
  }
  Pairs before, after;
  for (const Dependency& dependency : dag.dependencies) {
    before.emplace_back(item_of[dependency.after], item_of[dependency.before]);
    after.emplace_back(item_of[dependency.before], item_of[dependency.after]);
  }
  problem.predecessors = lists_of(std::move(before), layer_order.size());
  problem.successors = lists_of(std::move(after), layer_order.size());
  return problem;
}

// Reverses time: item i becomes item count - 1 - i.
PackingProblem mirrored(const PackingProblem& problem) {
  return {.capacity = problem.capacity,
          .size = {problem.size.rbegin(), problem.size.rend()},
          .wave = {problem.wave.rbegin(), problem.wave.rend()},
          .successors = mirrored(problem.predecessors),
          .predecessors = mirrored(problem.successors)};
}

Packing mirrored(const Packing& packing) {
  Packing result{.group_of = {packing.group_of.rbegin(), packing.group_of.rend()}, .groups = packing.groups};
  for (std::uint32_t& group : result.group_of) {
    group = packing.groups - 1 - group;
  }
  return result;
}

// Keeps a packing with fewer groups.
void CompactSearch::take(const Packing& packing, bool backwards) {
  if (packing.groups < best.groups) {
    best = backwards ? mirrored(packing) : packing;
  }
}

std::vector<std::uint64_t> group_bytes(const PackingProblem& problem, const Packing& packing) {
  std::vector<std::uint64_t> bytes(packing.groups);
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    bytes[packing.group_of[item]] += problem.size[item];
  }
  return bytes;
}

// Divides sizes by their greatest common divisor, then drops low bits until (items + 1) * capacity fits into 62 bits.
// Rounding down keeps feasible groups feasible.
Measure bytes_measure(const PackingProblem& problem) {
  const std::uint64_t divisor = std::max<std::uint64_t>(
      std::accumulate(problem.size.begin(), problem.size.end(), std::uint64_t{0},
                      [](std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); }),
      1);
  Measure measure{.weight = problem.size, .capacity = problem.capacity / divisor};
  const WideBytes most = WideBytes{measure.capacity} * (problem.size.size() + 1);
  int dropped = 0;
  while (most >> dropped >> 62 != 0) {
    ++dropped;
  }
  for (std::uint64_t& weight : measure.weight) {
    weight = weight / divisor >> dropped;
  }
  measure.capacity = std::max<std::uint64_t>(measure.capacity >> dropped, 1);
  return measure;
}

// Weighs items as 2 (more than half the capacity), 1 (exactly half) or 0, for a capacity of 2: two items above half
// never share a group, and at most two of exactly half do.
Measure half_measure(const Measure& bytes) {
  Measure measure{.weight = bytes.weight, .capacity = 2};
  for (std::uint64_t& weight : measure.weight) {
    const std::uint64_t rest = bytes.capacity - weight;
    weight = weight > rest ? 2 : weight == rest ? 1 : 0;
  }
  return measure;
}

std::uint64_t ceiling(std::uint64_t weight, std::uint64_t capacity) {
  return weight / capacity + (weight % capacity != 0 ? 1 : 0);
}

// Computes heads from all ancestors of an item: for every h, the ancestors with head >= h must fit between h
// and the item. `weight_at[h]` collects the ancestors' weight by head.
std::vector<std::uint32_t> ancestor_heads(const PackingProblem& problem,
                                          const std::array<Measure, 2>& measures) {
  const std::uint32_t count = problem.count();
  const std::size_t words = (std::size_t{count} + 63) / 64;
  std::vector<std::uint64_t> above(words * count); // a bit for each pair of items
  std::vector<std::uint32_t> head(count);
  std::vector<std::uint64_t> weight_at(std::size_t{count} + 1);
  for (std::uint32_t item = 0; item < count; ++item) {
    const std::span<std::uint64_t> row = std::span(above).subspan(item * words, words);
    std::uint64_t best = 0;
    for (const std::uint32_t predecessor : problem.predecessors[item]) {
      row[predecessor / 64] |= std::uint64_t{1} << predecessor % 64;
      for (std::size_t word = 0; word < words; ++word) {
        row[word] |= above[predecessor * words + word];
      }
      best = std::max<std::uint64_t>(best, head[predecessor] + 1);
    }
    const std::uint64_t highest = best;
    for (const Measure& measure : measures) {
      for (std::size_t word = 0; word < words; ++word) {
        for (std::uint64_t bits = row[word]; bits != 0; bits &= bits - 1) {
          const std::size_t other = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          weight_at[head[other]] += measure.weight[other];
        }
      }
      std::uint64_t weight = 0;
      for (std::uint64_t h = highest; h-- > 0;) {
        weight += std::exchange(weight_at[h], 0);
        best = std::max(best, h + ceiling(weight, measure.capacity));
      }
    }
    head[item] = static_cast<std::uint32_t>(best);
  }
  return head;
}

// Heads by the longest path alone.
std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem) {
  std::vector<std::uint32_t> head(problem.count());
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    for (const std::uint32_t predecessor : problem.predecessors[item]) {
      head[item] = std::max(head[item], head[predecessor] + 1);
    }
  }
  return head;
}

// Bounds the groups by the weight of the items that have at least h groups on one side, for every h.
std::uint64_t window_bound(std::span<const std::uint32_t> side, const Measure& measure) {
  std::vector<std::uint64_t> weight_at(*std::max_element(side.begin(), side.end()) + std::size_t{1});
  for (std::size_t i = 0; i < side.size(); ++i) {
    weight_at[side[i]] += measure.weight[i];
  }
  std::uint64_t bound = 0;
  std::uint64_t weight = 0;
  for (std::size_t around = weight_at.size(); around-- > 0;) {
    weight += weight_at[around];
    bound = std::max(bound, around + ceiling(weight, measure.capacity));
  }
  return bound;
}

// Fills in the heads and tails of both directions; returns the lower bound on all groups.
std::uint64_t fill_bounds(std::array<Direction, 2>& directions) {
  for (Direction& each : directions) {
    each.measures[0] = bytes_measure(each.problem);
    each.measures[1] = half_measure(each.measures[0]);
    each.head = each.problem.count() <= most_items_with_closure ? ancestor_heads(each.problem, each.measures)
                                                                : longest_path_heads(each.problem);
  }
  auto& [forwards, backwards] = directions;
  forwards.tail.assign(backwards.head.rbegin(), backwards.head.rend());
  backwards.tail.assign(forwards.head.rbegin(), forwards.head.rend());
  WideBytes total = 0; // exact, unlike the rounded measure
  std::uint64_t groups = 0;
  for (std::uint32_t item = 0; item < forwards.problem.count(); ++item) {
    total += forwards.problem.size[item];
    groups = std::max(groups, std::uint64_t{forwards.head[item]} + 1 + forwards.tail[item]);
  }
  groups = std::max(groups, groups_for(total, forwards.problem.capacity));
  for (const Measure& measure : forwards.measures) {
    groups = std::max({groups, window_bound(forwards.head, measure), window_bound(forwards.tail, measure)});
  }
  return groups;
}

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

// A list schedule: fills a group with the most preferred items that are ready and fit, closes it, and only
// then makes the successors of its items ready. `preferred` lists the items, most preferred first.
//
// Ordered by the groups of a packing that fits, the schedule has no more groups than the packing: the items
// of each group are ready and fit when the schedule gets there.
Packing list_schedule(const PackingProblem& problem, std::span<const std::uint32_t> preferred) {
  const std::uint32_t count = problem.count();
  std::vector<std::uint32_t> rank(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    rank[preferred[i]] = i;
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
    const auto limit = [&room] { return std::min(room, TournamentTree::nothing - 1); };
    while (ready.least() <= limit()) {
      const std::size_t slot = ready.first(limit());
      const std::uint32_t item = preferred[slot];
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

// Orders of preference: longest tail first, then largest; or largest first, then longest tail, by which a group takes the
// largest ready item that fits, which is best fit. Of equal items the lowest wave comes first.
enum class First : std::uint8_t { longest_tail, largest };
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

// Local search over the orders of preference, in both directions of time: moves some items to other places of
// the order and schedules again. Keeps an order whose schedule has fewer groups, or as many that are filled as
// unevenly: then the emptiest group is nearly saved. Stops at `lower` groups.
void improve_order(CompactSearch& search, std::uint64_t& effort) {
  const std::uint64_t steps = 100 + 2 * (search.problem().count() + search.problem().successors.items.size());
  const std::uint64_t turn = effort / 8 + 1; // of one direction of time
  std::mt19937_64 random{20'261'121};
  std::array<OrderedSchedule, 2> current;
  for (std::uint64_t round = 0; search.is_open() && effort > 0; ++round) {
    const bool backwards = round % 2 != 0;
    const auto& [problem, measures, head, tail] = search.directions[backwards ? 1 : 0];
    OrderedSchedule& best = current[round % 2];
    const auto consider = [&](OrderedSchedule&& candidate) {
      spend(effort, steps);
      search.take(candidate.packing, backwards);
      if (best.order.empty() || candidate.cost() <= best.cost()) {
        best = std::move(candidate);
      }
    };
    if (best.order.empty()) {
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

// Lowers the peak, the bytes of the fullest group, by bisection without more groups: schedules for a capacity
// between the largest item, or the mean group, and the current peak.
void lower_peak(CompactSearch& search, std::uint64_t effort) {
  constexpr std::uint64_t fine_enough = 4096; // of the peak
  const Packing& best = search.best;
  const auto peak_of = [](const CompactSearch& found) {
    return std::ranges::max(group_bytes(found.problem(), found.best));
  };
  WideBytes total = 0;
  std::uint64_t largest = 0;
  for (const std::uint64_t size : search.problem().size) {
    total += size;
    largest = std::max(largest, size);
  }
  std::uint64_t least =
      std::max(largest, static_cast<std::uint64_t>((total + best.groups - 1) / best.groups));
  std::uint64_t peak = peak_of(search);
  // Try the lower bound first: it is often reached.
  for (std::uint64_t tried = least; tried < peak && effort > 0; tried = least + (peak - least) / 2) {
    CompactSearch tighter = search;
    for (Direction& each : tighter.directions) {
      each.problem.capacity = tried;
    }
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

// The exhaustive search.

constexpr std::uint32_t most_items_to_exhaust = 64; // a set of items is a word
using Subset = std::uint64_t;

// Fills one group after the other, depth first. The branches of a group are its *maximal* loads, because
// moving an item that still fits into an earlier group never hurts.
class Exhaustion {
public:
  Exhaustion(const Direction& direction, std::uint64_t& effort)
      : problem_(direction.problem), bounds_(direction), effort_(effort), by_size_(problem_.count()),
        after_(problem_.count()), before_(problem_.count()) {
    const PackingProblem& problem = problem_;
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      for (const std::uint32_t other : problem.successors[item]) {
        after_[item] |= Subset{1} << other;
        before_[other] |= Subset{1} << item;
      }
    }
    std::iota(by_size_.begin(), by_size_.end(), 0U);
    std::ranges::sort(by_size_, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(~problem.size[a], after_[a], a) < std::tuple(~problem.size[b], after_[b], b);
    });
  }

  // Packs all other items into `groups_left` groups, and notes the loads from the last one back. Returns
  // false if that is impossible or the effort ran out.
  bool pack(Subset packed, std::uint32_t groups_left) {
    if (packed == all()) {
      return true;
    }
    spend(effort_, problem_.count());
    const auto known = failed_.find(packed);
    if (effort_ == 0 || (known != failed_.end() && known->second >= groups_left) ||
        !rest_fits(packed, groups_left)) {
      return false;
    }
    if (add_to_load({.packed = packed, .groups_left = groups_left, .room = problem_.capacity})) {
      return true;
    }
    if (effort_ > 0) {
      failed_[packed] = groups_left;
    }
    return false;
  }

  const std::vector<Subset>& loads() const { return loads_; }

private:
  struct Load {
    Subset packed = 0; // in earlier groups
    std::uint32_t groups_left = 0;
    std::uint64_t room = 0;
    Subset items = 0;
    std::size_t next = 0; // in by_size_
  };

  Subset all() const { return ~Subset{0} >> (64 - problem_.count()); }
  bool ready(std::uint32_t item, Subset packed) const {
    return (packed >> item & 1) == 0 && (before_[item] & ~packed) == 0;
  }

  // Bounds the groups by the weight of the unpacked items with at least as many groups after them.
  bool rest_fits(Subset packed, std::uint32_t groups_left) {
    for (const Measure& measure : bounds_.measures) {
      weight_at_.assign(groups_left, 0);
      for (std::uint32_t item = 0; item < problem_.count(); ++item) {
        if ((packed >> item & 1) == 0) {
          if (bounds_.tail[item] >= groups_left) {
            return false; // its latest group has passed
          }
          weight_at_[bounds_.tail[item]] += measure.weight[item];
        }
      }
      std::uint64_t weight = 0;
      for (std::uint32_t tail = groups_left; tail-- > 0;) {
        weight += weight_at_[tail];
        if (weight > (groups_left - tail) * measure.capacity) {
          return false;
        }
      }
    }
    return true;
  }

  // Decides item by item, the largest first, which ready ones the load takes.
  bool add_to_load(Load load) {
    spend(effort_, 1);
    for (; load.next < by_size_.size() && effort_ > 0; ++load.next) {
      const std::uint32_t item = by_size_[load.next];
      if (!ready(item, load.packed) || problem_.size[item] > load.room || follows_twin(load)) {
        continue;
      }
      Load with = load;
      with.items |= Subset{1} << item;
      with.room -= problem_.size[item];
      ++with.next;
      if (add_to_load(with)) {
        return true;
      }
    }
    if (!maximal(load) || !pack(load.packed | load.items, load.groups_left - 1)) {
      return false;
    }
    loads_.push_back(load.items);
    return true;
  }

  // Items of one size with the same successors are alike once they are ready: takes the first ones only.
  bool follows_twin(const Load& load) const {
    if (load.next == 0) {
      return false;
    }
    const std::uint32_t item = by_size_[load.next];
    const std::uint32_t twin = by_size_[load.next - 1];
    return problem_.size[item] == problem_.size[twin] && after_[item] == after_[twin] &&
           ready(twin, load.packed) && (load.items >> twin & 1) == 0;
  }

  // Also requires the items whose latest group this is.
  bool maximal(const Load& load) const {
    return std::ranges::none_of(by_size_, [&](std::uint32_t item) {
      return (load.items >> item & 1) == 0 && ready(item, load.packed) &&
             (problem_.size[item] <= load.room || bounds_.tail[item] + 1 >= load.groups_left);
    });
  }

  const PackingProblem& problem_;
  const Direction& bounds_;
  std::uint64_t& effort_;
  std::vector<std::uint32_t> by_size_; // twins in a row
  std::vector<Subset> after_;          // direct successors
  std::vector<Subset> before_;         // direct predecessors
  std::vector<std::uint64_t> weight_at_;
  std::unordered_map<Subset, std::uint32_t>
      failed_;                // packed items: the groups that did not suffice for the rest
  std::vector<Subset> loads_; // of the packing found, the last group first
};

// Tries all packings of a small problem: either one with fewer groups is found, or `lower` becomes the groups
// of the best one, unless the effort runs out.
void exhaust(CompactSearch& search, std::uint64_t& effort) {
  if (search.problem().count() > most_items_to_exhaust) {
    return;
  }
  while (search.is_open() && effort > 0) {
    Exhaustion exhaustion(search.directions[0], effort);
    if (!exhaustion.pack(0, search.best.groups - 1)) {
      search.lower = effort > 0 ? search.best.groups : search.lower;
      return;
    }
    const std::vector<Subset>& loads = exhaustion.loads();
    search.best.groups = static_cast<std::uint32_t>(loads.size());
    for (std::uint32_t item = 0; item < search.problem().count(); ++item) {
      const auto last_first =
          std::ranges::find_if(loads, [item](Subset load) { return (load >> item & 1) != 0; }) -
          loads.begin();
      search.best.group_of[item] = search.best.groups - 1 - static_cast<std::uint32_t>(last_first);
    }
  }
}

// Starts from the layers, so that the result is never worse. Items are numbered in layer order.
CompactSearch search_of(const WaveDag& dag, const MemoryPlan& layered) {
  CompactSearch search;
  search.directions[0].problem = packing_problem(dag, layered.order, group_budget(dag).value());
  search.directions[1].problem = mirrored(search.problem());
  search.lower = fill_bounds(search.directions);
  search.best.groups = static_cast<std::uint32_t>(layered.group_count());
  for (std::uint32_t group = 0; group < search.best.groups; ++group) {
    search.best.group_of.resize(layered.group_begin[group + 1], group);
  }
  return search;
}

// Schedules forwards and backwards, with the tails of the bounds and with the longest-path tails: better
// tails usually, but not always, make better schedules.
void schedule(CompactSearch& search) {
  for (const bool backwards : {false, true}) {
    const Direction& direction = search.directions[backwards ? 1 : 0];
    std::vector<std::uint32_t> plain = longest_path_heads(search.directions[backwards ? 0 : 1].problem);
    std::ranges::reverse(plain);
    for (const auto& tail : {direction.tail, plain}) {
      for (const First first : {First::longest_tail, First::largest}) {
        search.take(list_schedule(direction.problem, preference(direction.problem, tail, first)), backwards);
        if (!search.is_open()) {
          return;
        }
      }
    }
  }
}

// Starts with a short local search, because most problems are solved by then; what a step does not use is
// left to the next.
void improve(CompactSearch& search, std::uint64_t effort) {
  const auto give = [&](std::uint64_t share, auto step) {
    effort -= share;
    step(search, share);
    effort += share;
  };
  constexpr std::uint64_t short_look = 100'000;
  give(std::min(effort / 16, short_look), improve_order);
  give(effort / 2, exhaust);
  give(effort, improve_order);
}

// Keeps the waves of a group in layer order.
MemoryPlan plan_of(const WaveDag& dag, const CompactSearch& search,
                   const std::vector<std::uint32_t>& layer_order) {
  MemoryPlan plan;
  plan.group_begin.assign(std::size_t{search.best.groups} + 2, 0);
  for (const std::uint32_t group : search.best.group_of) {
    ++plan.group_begin[group + 2];
  }
  std::partial_sum(plan.group_begin.begin(), plan.group_begin.end(), plan.group_begin.begin());
  plan.order.resize(layer_order.size());
  for (std::uint32_t item = 0; item < layer_order.size(); ++item) {
    plan.order[plan.group_begin[search.best.group_of[item] + 1]++] = layer_order[item];
  }
  plan.group_begin.pop_back();
  fill_figures(dag, plan);
  plan.lower_bound_groups = search.lower;
  plan.optimal = !search.is_open();
  return plan;
}

} // namespace

Result<MemoryPlan> plan_compact(const WaveDag& dag, const CompactOptions& options) {
  const bool only_groups = options.objective == CompactOptions::Objective::groups;
  Result<MemoryPlan> layered = plan_layered(dag);
  if (!layered || layered->order.empty() || (layered->optimal && only_groups)) {
    return layered;
  }
  CompactSearch search = search_of(dag, *layered);
  schedule(search);
  improve(search, options.effort);
  if (!only_groups) {
    lower_peak(search, options.effort / 3);
  }
  return plan_of(dag, search, layered->order);
}

} // namespace tidegate::planning
