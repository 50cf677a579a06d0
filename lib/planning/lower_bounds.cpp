#include <tidegate/planning/lower_bounds.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tidegate::planning {
namespace {

constexpr std::size_t most_window_cells = std::size_t{1} << 20U;

std::uint64_t ceiling(std::uint64_t weight, std::uint64_t capacity) {
  return weight / capacity + (weight % capacity != 0 ? 1 : 0);
}

// The heads that follow from all ancestors of an item: for every h, those with head >= h fit between h and
// the item. `weight_at[h]` collects the ancestors' weight by head.
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

// For every h and every t, items with head >= h and tail >= t: a table of weights, summed from the far
// corner. With too many different heads and tails for a table, only t = 0 and h = 0.
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

// Heads, tails and all that follows from them, under every measure known.
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
  WideBytes total = 0; // without the rounding of the measure
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
