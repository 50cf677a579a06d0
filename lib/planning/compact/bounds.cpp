// Computes measures, cliques, heads, tails and the bounds from them.
#include "planning/compact/bounds.hpp"

#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

namespace tidegate::planning {
namespace {

constexpr std::uint32_t most_items_with_all_measures = 50'000;
constexpr std::size_t most_sizes_tried = 48;
constexpr std::size_t functions_kept = 5;
constexpr std::size_t cliques_kept = 4;

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

// The function of Carlier, Clautiaux and Moukrim (Computers & Operations Research 34(8), 2007): counts whole
// units of a size; for an item over half the capacity, the units that do not fit next to it.
std::uint64_t counted_units(std::uint64_t weight, std::uint64_t capacity, std::uint64_t unit) {
  if (weight > capacity - weight) {
    return 2 * (capacity / unit - (capacity - weight) / unit);
  }
  return weight == capacity - weight ? capacity / unit : 2 * (weight / unit);
}

Measure unit_measure(const Measure& bytes, std::uint64_t unit) {
  Measure measure{.weight = bytes.weight, .capacity = 2 * (bytes.capacity / unit)};
  for (std::uint64_t& weight : measure.weight) {
    weight = counted_units(weight, bytes.capacity, unit);
  }
  return measure;
}

// Returns at most `most_sizes_tried` of the distinct sizes, evenly spread.
std::vector<std::uint64_t> sample_of_sizes(std::vector<std::uint64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.size() > most_sizes_tried) {
    for (std::size_t i = 0; i < most_sizes_tried; ++i) {
      sizes[i] = sizes[i * (sizes.size() - 1) / (most_sizes_tried - 1)];
    }
    sizes.resize(most_sizes_tried);
  }
  return sizes;
}

// Returns the units to try: the sizes up to half the capacity, and small fractions of the capacity.
std::vector<std::uint64_t> units(const Measure& bytes) {
  std::vector<std::uint64_t> result = sample_of_sizes(bytes.weight);
  for (std::uint64_t& unit : result) {
    unit = std::min(unit, bytes.capacity - unit + 1); // for a large item, one more than the bytes it leaves
  }
  for (std::uint64_t parts = 2; parts <= 12; ++parts) {
    result.push_back(bytes.capacity / parts);
    result.push_back(bytes.capacity / parts + 1);
  }
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](std::uint64_t unit) { return unit == 0 || unit > bytes.capacity; }),
               result.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// Returns the indices of the best ratings, best first.
std::vector<std::size_t> best_of(const std::vector<double>& rating, std::size_t kept) {
  std::vector<std::size_t> order(rating.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rating[a] > rating[b]; });
  order.resize(std::min(order.size(), kept));
  return order;
}

Clique clique_of(const PackingProblem& problem, std::uint64_t threshold) {
  const std::uint32_t count = problem.count();
  Clique clique{.full = std::vector<std::uint8_t>(count),
                .above = std::vector<std::uint32_t>(count),
                .below = std::vector<std::uint32_t>(count),
                .counted = std::vector<std::uint8_t>(count)};
  for (std::uint32_t item = 0; item < count; ++item) {
    const bool full = problem.size[item] > problem.capacity - threshold;
    clique.full[item] = full ? 1 : 0;
    clique.counted[item] = !full && problem.size[item] >= threshold ? 1 : 0;
    for (const std::uint32_t other : problem.predecessors[item]) {
      clique.above[item] = std::max(clique.above[item], clique.above[other] + clique.counted[other]);
    }
  }
  for (std::uint32_t item = count; item-- > 0;) {
    for (const std::uint32_t other : problem.successors[item]) {
      clique.below[item] = std::max(clique.below[item], clique.below[other] + clique.counted[other]);
    }
  }
  return clique;
}

double items_in(const Clique& clique) {
  std::uint32_t chain = 0;
  std::uint32_t full = 0;
  for (std::size_t item = 0; item < clique.full.size(); ++item) {
    chain = std::max(chain, clique.above[item] + clique.counted[item]);
    full += clique.full[item];
  }
  return chain + full;
}

} // namespace

std::vector<Measure> measures(const PackingProblem& problem) {
  std::vector<Measure> result{bytes_measure(problem)};
  const Measure& bytes = result.front();
  const std::uint64_t half = bytes.capacity / 2 + 1;
  if (problem.count() > most_items_with_all_measures) {
    Measure over_half = unit_measure(bytes, half);
    result.push_back(std::move(over_half));
    return result;
  }
  std::vector<std::uint64_t> tried = units(bytes);
  std::vector<double> rating;
  for (const std::uint64_t unit : tried) {
    double weight = 0;
    for (const std::uint64_t size : bytes.weight) {
      weight += static_cast<double>(counted_units(size, bytes.capacity, unit));
    }
    const std::uint64_t most = 2 * (bytes.capacity / unit);
    rating.push_back(weight / static_cast<double>(most));
  }
  std::vector<Measure> kept{unit_measure(bytes, half)};
  for (const std::size_t i : best_of(rating, functions_kept)) {
    kept.push_back(unit_measure(bytes, tried[i]));
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(result));
  return result;
}

std::vector<Clique> cliques(const PackingProblem& problem) {
  std::vector<Clique> result;
  if (problem.count() > most_items_with_all_measures || problem.capacity == 0) {
    return result;
  }
  std::vector<double> rating;
  for (const std::uint64_t size : sample_of_sizes(problem.size)) {
    // At most half the capacity, so that two full items do not fit together.
    const std::uint64_t half = problem.capacity / 2 + problem.capacity % 2;
    const std::uint64_t threshold = std::clamp<std::uint64_t>(size, 1, half);
    result.push_back(clique_of(problem, threshold));
    rating.push_back(items_in(result.back()));
  }
  std::vector<Clique> kept;
  for (const std::size_t i : best_of(rating, cliques_kept)) {
    kept.push_back(std::move(result[i]));
  }
  return kept;
}

namespace {

constexpr std::size_t most_window_cells = std::size_t{1} << 20U;

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
    for (const Clique& clique : known.cliques) {
      std::uint64_t items = clique.above[item];
      for_each_bit(above.row(item), [&](std::uint32_t other) { items += clique.full[other]; });
      best = std::max(best, items);
    }
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

// Bounds the groups for every pair of h and t by the weight of the items with head >= h and tail >= t, from a
// table summed from the far corner. If the table would be too large, only for t = 0 and for h = 0.
std::uint64_t window_bound(const GroupBounds& bounds, const Measure& measure, std::uint64_t bound) {
  const std::size_t count = bounds.head.size();
  const std::size_t head_values = *std::max_element(bounds.head.begin(), bounds.head.end()) + std::size_t{1};
  const std::size_t tail_values = *std::max_element(bounds.tail.begin(), bounds.tail.end()) + std::size_t{1};
  const auto consider = [&](std::uint64_t around, std::uint64_t weight) {
    if (bound <= around || ceiling(weight, measure.capacity) > bound - around) {
      bound = around + ceiling(weight, measure.capacity);
    }
  };
  if (head_values * tail_values > most_window_cells) {
    for (const auto& [values, sides] : {std::pair{head_values, &bounds.head}, {tail_values, &bounds.tail}}) {
      std::vector<std::uint64_t> weight_at(values);
      for (std::size_t i = 0; i < count; ++i) {
        weight_at[(*sides)[i]] += measure.weight[i];
      }
      std::uint64_t weight = 0;
      for (std::size_t around = values; around-- > 0;) {
        weight += weight_at[around];
        consider(around, weight);
      }
    }
    return bound;
  }
  std::vector<std::uint64_t> above(tail_values); // the row of h + 1
  std::vector<std::uint64_t> weight_at(head_values * tail_values);
  for (std::size_t i = 0; i < count; ++i) {
    weight_at[bounds.head[i] * tail_values + bounds.tail[i]] += measure.weight[i];
  }
  for (std::size_t h = head_values; h-- > 0;) {
    std::uint64_t in_row = 0;
    for (std::size_t t = tail_values; t-- > 0;) {
      in_row += weight_at[h * tail_values + t];
      above[t] += in_row;
      if (above[t] != 0) {
        consider(h + t, above[t]);
      }
    }
  }
  return bound;
}

std::uint64_t clique_bound(const Clique& clique) {
  std::uint64_t chain = 0;
  std::uint64_t full = 0;
  for (std::size_t item = 0; item < clique.full.size(); ++item) {
    chain = std::max<std::uint64_t>(chain, clique.above[item] + clique.counted[item]);
    full += clique.full[item];
  }
  return chain + full;
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
  bounds.cliques = cliques(problem);
  WideBytes total = 0; // exact, unlike the rounded measure
  for (const std::uint64_t size : problem.size) {
    total += size;
  }
  bounds.groups.groups = groups_for(total, problem.capacity);
  for (const Clique& clique : bounds.cliques) {
    bounds.groups.groups = std::max(bounds.groups.groups, clique_bound(clique));
  }
  bound_groups(problem, reverse, bounds);
  return bounds;
}

LowerBounds mirrored(LowerBounds bounds) {
  for (Measure& measure : bounds.measures) {
    turn_around(measure.weight);
  }
  for (Clique& clique : bounds.cliques) {
    turn_around(clique.full);
    turn_around(clique.counted);
    turn_around(clique.above);
    turn_around(clique.below);
    std::swap(clique.above, clique.below);
  }
  turn_around(bounds.groups.head);
  turn_around(bounds.groups.tail);
  std::swap(bounds.groups.head, bounds.groups.tail);
  return bounds;
}

} // namespace tidegate::planning
