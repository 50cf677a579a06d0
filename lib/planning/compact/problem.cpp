// Builds, mirrors, splits and bounds packing problems.
#include "planning/compact/problem.hpp"

#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace tidegate::planning {
namespace {

// Transposes the relation; the new lists are in ascending order, because the items are visited in order.
ItemLists transposed(const ItemLists& lists) {
  const std::size_t count = lists.begin.size() - 1;
  ItemLists result{.begin = std::vector<std::uint32_t>(count + 2),
                   .items = std::vector<std::uint32_t>(lists.items.size())};
  for (const std::uint32_t item : lists.items) {
    ++result.begin[std::size_t{item} + 2];
  }
  for (std::size_t i = 2; i < result.begin.size(); ++i) {
    result.begin[i] += result.begin[i - 1];
  }
  for (std::uint32_t item = 0; item < count; ++item) {
    for (const std::uint32_t other : lists[item]) {
      result.items[result.begin[std::size_t{other} + 1]++] = item;
    }
  }
  result.begin.pop_back();
  return result;
}

// Removes repetitions from lists in ascending order.
void drop_repetitions(ItemLists& lists) {
  std::uint32_t kept = 0;
  for (std::size_t item = 0; item + 1 < lists.begin.size(); ++item) {
    const std::uint32_t begin = lists.begin[item];
    const std::uint32_t end = lists.begin[item + 1];
    lists.begin[item] = kept;
    for (std::uint32_t i = begin; i < end; ++i) {
      if (i == begin || lists.items[i] != lists.items[i - 1]) {
        lists.items[kept++] = lists.items[i];
      }
    }
  }
  lists.begin.back() = kept;
  lists.items.resize(kept);
}

ItemLists mirrored(const ItemLists& lists) {
  const auto count = static_cast<std::uint32_t>(lists.begin.size() - 1);
  ItemLists result;
  result.begin.reserve(lists.begin.size());
  result.items.reserve(lists.items.size());
  for (std::uint32_t item = count; item-- > 0;) {
    const std::span<const std::uint32_t> others = lists[item];
    for (auto other = others.rbegin(); other != others.rend(); ++other) {
      result.items.push_back(count - 1 - *other);
    }
    result.begin.push_back(static_cast<std::uint32_t>(result.items.size()));
  }
  return result;
}

} // namespace

PackingProblem packing_problem(const WaveDag& dag, std::span<const std::uint32_t> layer_order,
                               std::uint64_t capacity) {
  PackingProblem problem{.capacity = capacity, .wave = {layer_order.begin(), layer_order.end()}};
  std::vector<std::uint32_t> item_of(layer_order.size());
  for (std::uint32_t item = 0; item < layer_order.size(); ++item) {
    item_of[layer_order[item]] = item;
    problem.size.push_back(fused_bytes(dag.waves[layer_order[item]]).value());
  }
  // Lists each item's successors in any order. Transposing gives sorted lists of predecessors, and transposing these
  // gives sorted lists of successors.
  ItemLists given{.begin = std::vector<std::uint32_t>(layer_order.size() + 2),
                  .items = std::vector<std::uint32_t>(dag.dependencies.size())};
  for (const Dependency& dependency : dag.dependencies) {
    ++given.begin[std::size_t{item_of[dependency.before]} + 2];
  }
  for (std::size_t i = 2; i < given.begin.size(); ++i) {
    given.begin[i] += given.begin[i - 1];
  }
  for (const Dependency& dependency : dag.dependencies) {
    given.items[given.begin[std::size_t{item_of[dependency.before]} + 1]++] = item_of[dependency.after];
  }
  given.begin.pop_back();
  problem.predecessors = transposed(given);
  given = {};
  drop_repetitions(problem.predecessors);
  problem.successors = transposed(problem.predecessors);
  return problem;
}

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

Packing without_empty_groups(Packing packing) {
  std::vector<std::uint32_t> number(packing.groups);
  for (const std::uint32_t group : packing.group_of) {
    number[group] = 1;
  }
  std::uint32_t groups = 0;
  for (std::uint32_t& entry : number) {
    const bool used = entry != 0;
    entry = groups;
    groups += used ? 1 : 0;
  }
  for (std::uint32_t& group : packing.group_of) {
    group = number[group];
  }
  packing.groups = groups;
  return packing;
}

std::uint64_t peak_bytes(const PackingProblem& problem, const Packing& packing) {
  std::vector<std::uint64_t> bytes(packing.groups);
  std::uint64_t peak = 0;
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    std::uint64_t& sum = bytes[packing.group_of[item]];
    sum += problem.size[item];
    peak = std::max(peak, sum);
  }
  return peak;
}

ItemLists items_by_group(const Packing& packing) {
  ItemLists result{.begin = std::vector<std::uint32_t>(std::size_t{packing.groups} + 2),
                   .items = std::vector<std::uint32_t>(packing.group_of.size())};
  for (const std::uint32_t group : packing.group_of) {
    ++result.begin[std::size_t{group} + 2];
  }
  for (std::size_t i = 2; i < result.begin.size(); ++i) {
    result.begin[i] += result.begin[i - 1];
  }
  for (std::uint32_t item = 0; item < packing.group_of.size(); ++item) {
    result.items[result.begin[std::size_t{packing.group_of[item]} + 1]++] = item;
  }
  result.begin.pop_back();
  return result;
}

BitMatrix ancestors(const PackingProblem& problem) {
  BitMatrix result(problem.count());
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    const std::span<std::uint64_t> row = result.row(item);
    for (const std::uint32_t predecessor : problem.predecessors[item]) {
      set_bit(row, predecessor);
      unite(row, result.row(predecessor));
    }
  }
  return result;
}

namespace {

constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();

ItemLists flat(const std::vector<std::vector<std::uint32_t>>& lists) {
  ItemLists result;
  for (const std::vector<std::uint32_t>& list : lists) {
    result.items.insert(result.items.end(), list.begin(), list.end());
    result.begin.push_back(static_cast<std::uint32_t>(result.items.size()));
  }
  return result;
}

} // namespace

BitMatrix may_meet(const PackingProblem& problem) {
  BitMatrix result(problem.count());
  const BitMatrix above = ancestors(problem);
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    for (std::uint32_t other = 0; other < item; ++other) {
      if (!has_bit(above.row(item), other) && problem.size[other] <= problem.capacity - problem.size[item]) {
        set_bit(result.row(item), other);
        set_bit(result.row(other), item);
      }
    }
  }
  return result;
}

ItemLists parts(const PackingProblem& problem) {
  const BitMatrix meets = may_meet(problem);
  Packing part{.group_of = std::vector<std::uint32_t>(problem.count(), no_group)};
  std::vector<std::uint32_t> open;
  for (std::uint32_t first = 0; first < problem.count(); ++first) {
    if (part.group_of[first] != no_group) {
      continue;
    }
    const auto visit = [&](std::uint32_t item) {
      if (part.group_of[item] == no_group) {
        part.group_of[item] = part.groups;
        open.push_back(item);
      }
    };
    for (visit(first); !open.empty();) {
      const std::uint32_t item = open.back();
      open.pop_back();
      for_each_bit(meets.row(item), visit);
    }
    ++part.groups;
  }
  return items_by_group(part);
}

SubProblem sub_problem(const PackingProblem& problem, std::vector<std::uint32_t> items) {
  SubProblem sub{.problem = {.capacity = problem.capacity}, .items = std::move(items)};
  std::vector<std::uint32_t> place(problem.count(), no_group);
  for (std::uint32_t i = 0; i < sub.items.size(); ++i) {
    place[sub.items[i]] = i;
    sub.problem.size.push_back(problem.size[sub.items[i]]);
    sub.problem.wave.push_back(problem.wave[sub.items[i]]);
  }
  // Finds for each item its nearest predecessors in the sub-problem. Items are in topological order, so a path between
  // two items of the sub-problem visits only items from its first to its last one.
  std::vector<std::vector<std::uint32_t>> above(problem.count());
  std::vector<std::vector<std::uint32_t>> predecessors;
  std::vector<std::vector<std::uint32_t>> successors(sub.items.size());
  const std::uint32_t end = sub.items.empty() ? 0 : sub.items.back() + 1;
  for (std::uint32_t item = sub.items.empty() ? 0 : sub.items.front(); item < end; ++item) {
    std::vector<std::uint32_t>& nearest = above[item];
    for (const std::uint32_t other : problem.predecessors[item]) {
      if (place[other] != no_group) {
        nearest.push_back(place[other]);
      } else {
        nearest.insert(nearest.end(), above[other].begin(), above[other].end());
      }
    }
    std::sort(nearest.begin(), nearest.end());
    nearest.erase(std::unique(nearest.begin(), nearest.end()), nearest.end());
    if (place[item] != no_group) {
      for (const std::uint32_t other : nearest) {
        successors[other].push_back(place[item]);
      }
      predecessors.push_back(nearest);
    }
  }
  sub.problem.predecessors = flat(predecessors);
  sub.problem.successors = flat(successors);
  return sub;
}

Packing restricted(const Packing& packing, const SubProblem& sub) {
  Packing result{.groups = packing.groups};
  for (const std::uint32_t item : sub.items) {
    result.group_of.push_back(packing.group_of[item]);
  }
  return without_empty_groups(std::move(result));
}

std::optional<Packing> in_order(const PackingProblem& problem, const Packing& groups) {
  std::vector<std::uint32_t> number(groups.groups);
  Packing result;
  visit_in_order(
      problem, groups, [](const std::vector<std::uint32_t>&) { return std::size_t{0}; },
      [&](std::uint32_t group) { number[group] = result.groups++; });
  if (result.groups < groups.groups) {
    return {};
  }
  for (const std::uint32_t group : groups.group_of) {
    result.group_of.push_back(number[group]);
  }
  return result;
}

namespace {

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

} // namespace

std::array<Measure, 2> measures(const PackingProblem& problem) {
  Measure bytes = bytes_measure(problem);
  Measure half = half_measure(bytes);
  return {std::move(bytes), std::move(half)};
}

namespace {

std::uint64_t ceiling(std::uint64_t weight, std::uint64_t capacity) {
  return weight / capacity + (weight % capacity != 0 ? 1 : 0);
}

// Computes heads from all ancestors of an item: for every h, the ancestors with head >= h must fit between h
// and the item. `weight_at[h]` collects the ancestors' weight by head.
std::vector<std::uint32_t> ancestor_heads(const PackingProblem& problem, const LowerBounds& known) {
  const BitMatrix above = ancestors(problem);
  std::vector<std::uint32_t> head(problem.count());
  std::vector<std::uint64_t> weight_at(std::size_t{problem.count()} + 1);
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    std::uint64_t best = 0;
    for (const std::uint32_t predecessor : problem.predecessors[item]) {
      best = std::max<std::uint64_t>(best, head[predecessor] + 1);
    }
    const std::uint64_t highest = best;
    for (const Measure& measure : known.measures) {
      for_each_bit(above.row(item),
                   [&](std::uint32_t other) { weight_at[head[other]] += measure.weight[other]; });
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

std::vector<std::uint32_t> heads(const PackingProblem& problem, const LowerBounds& known) {
  return problem.count() <= most_items_with_closure ? ancestor_heads(problem, known)
                                                    : longest_path_heads(problem);
}

// Bounds the groups by the weight of the items with head >= h, for every h, and of those with tail >= t.
std::uint64_t window_bound(const GroupBounds& bounds, const Measure& measure, std::uint64_t bound) {
  for (const std::vector<std::uint32_t>* side : {&bounds.head, &bounds.tail}) {
    std::vector<std::uint64_t> weight_at(*std::max_element(side->begin(), side->end()) + std::size_t{1});
    for (std::size_t i = 0; i < side->size(); ++i) {
      weight_at[(*side)[i]] += measure.weight[i];
    }
    std::uint64_t weight = 0;
    for (std::size_t around = weight_at.size(); around-- > 0;) {
      weight += weight_at[around];
      bound = std::max(bound, around + ceiling(weight, measure.capacity));
    }
  }
  return bound;
}

// Computes heads, tails and the bounds that follow from them under all measures.
void bound_groups(const PackingProblem& problem, const PackingProblem& reverse, LowerBounds& bounds) {
  bounds.groups.head = heads(problem, bounds);
  bounds = mirrored(std::move(bounds));
  bounds.groups.head = heads(reverse, bounds);
  bounds = mirrored(std::move(bounds));
  GroupBounds& groups = bounds.groups;
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    groups.groups = std::max(groups.groups, std::uint64_t{groups.head[item]} + 1 + groups.tail[item]);
  }
  for (const Measure& measure : bounds.measures) {
    groups.groups = window_bound(groups, measure, groups.groups);
  }
}

template <class T>
void turn_around(std::vector<T>& values) {
  std::reverse(values.begin(), values.end());
}

} // namespace

std::vector<std::uint32_t> longest_path_heads(const PackingProblem& problem) {
  std::vector<std::uint32_t> head(problem.count());
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    for (const std::uint32_t predecessor : problem.predecessors[item]) {
      head[item] = std::max(head[item], head[predecessor] + 1);
    }
  }
  return head;
}

LowerBounds lower_bounds(const PackingProblem& problem, const PackingProblem& reverse) {
  LowerBounds bounds;
  if (problem.count() == 0) {
    return bounds;
  }
  bounds.measures = measures(problem);
  WideBytes total = 0; // exact, unlike the rounded measure
  for (const std::uint64_t size : problem.size) {
    total += size;
  }
  bounds.groups.groups = groups_for(total, problem.capacity);
  bound_groups(problem, reverse, bounds);
  return bounds;
}

LowerBounds mirrored(LowerBounds bounds) {
  for (Measure& measure : bounds.measures) {
    turn_around(measure.weight);
  }
  turn_around(bounds.groups.head);
  turn_around(bounds.groups.tail);
  std::swap(bounds.groups.head, bounds.groups.tail);
  return bounds;
}

} // namespace tidegate::planning
