#include <tidegate/planning/measures.hpp>
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
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

// In units of the sizes' greatest common divisor, and without as many low bits as keep all items within 63
// bits. What fits still fits: a sum of numbers rounded down is at most the sum rounded down.
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
// units of a size, for items over half the capacity the units that they leave no room for.
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

// At most `most_sizes_tried` of the different sizes, evenly spread.
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

// Units worth trying: the sizes up to half the capacity, and small parts of the capacity.
std::vector<std::uint64_t> units(const Measure& bytes) {
  std::vector<std::uint64_t> result = sample_of_sizes(bytes.weight);
  for (std::uint64_t& unit : result) {
    unit = std::min(unit, bytes.capacity - unit + 1); // one more than what a large item leaves
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

// Indices of the best rated, best first.
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
    // Up to half the capacity, so that two full items do not fit together.
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

} // namespace tidegate::planning
