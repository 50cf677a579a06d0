// Computes measures, heads, tails and the bounds from them.
#include "planning/compact/bounds.hpp"

#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tidegate::planning {
namespace {

// Weighs in units of the sizes' greatest common divisor, and drops as many low bits as needed to fit all
// items into 63 bits. Feasible groups stay feasible: the sum of rounded numbers is at most the rounded sum.
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

// No two items over half the capacity share a group, and one at half shares it with one other.
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
