// Builds, mirrors and bounds packing problems.
#include "planning/compact/problem.hpp"

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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs; // of an item and one before it
  pairs.reserve(dag.dependencies.size());
  for (const Dependency& dependency : dag.dependencies) {
    pairs.emplace_back(item_of[dependency.after], item_of[dependency.before]);
  }
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  problem.predecessors.begin.assign(layer_order.size() + 1, 0);
  for (const auto& [item, before] : pairs) {
    ++problem.predecessors.begin[std::size_t{item} + 1];
    problem.predecessors.items.push_back(before);
  }
  std::partial_sum(problem.predecessors.begin.begin(), problem.predecessors.begin.end(),
                   problem.predecessors.begin.begin());
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

std::vector<std::uint64_t> group_bytes(const PackingProblem& problem, const Packing& packing) {
  std::vector<std::uint64_t> bytes(packing.groups);
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    bytes[packing.group_of[item]] += problem.size[item];
  }
  return bytes;
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

std::vector<std::uint32_t> heads(const PackingProblem& problem, const LowerBounds& known) {
  return problem.count() <= most_items_with_closure ? ancestor_heads(problem, known.measures)
                                                    : longest_path_heads(problem);
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
  bounds.head = heads(problem, bounds);
  bounds = mirrored(std::move(bounds));
  bounds.head = heads(reverse, bounds);
  bounds = mirrored(std::move(bounds));
  WideBytes total = 0; // exact, unlike the rounded measure
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    total += problem.size[item];
    bounds.groups = std::max(bounds.groups, std::uint64_t{bounds.head[item]} + 1 + bounds.tail[item]);
  }
  bounds.groups = std::max(bounds.groups, groups_for(total, problem.capacity));
  for (const Measure& measure : bounds.measures) {
    bounds.groups =
        std::max({bounds.groups, window_bound(bounds.head, measure), window_bound(bounds.tail, measure)});
  }
  return bounds;
}

LowerBounds mirrored(LowerBounds bounds) {
  for (Measure& measure : bounds.measures) {
    std::reverse(measure.weight.begin(), measure.weight.end());
  }
  std::reverse(bounds.head.begin(), bounds.head.end());
  std::reverse(bounds.tail.begin(), bounds.tail.end());
  std::swap(bounds.head, bounds.tail);
  return bounds;
}

} // namespace tidegate::planning
