#include <tidegate/planning/covering_simplex.hpp>
#include <tidegate/planning/group_pricing.hpp>
#include <tidegate/planning/linear_bound.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tidegate::planning {
namespace {

constexpr double tolerance = 1e-6;

double total(const Measure& measure) {
  return std::accumulate(measure.weight.begin(), measure.weight.end(), 0.0,
                         [](double sum, std::uint64_t weight) { return sum + static_cast<double>(weight); }) /
         static_cast<double>(measure.capacity);
}

std::vector<double> prices_of(const Measure& measure) {
  std::vector<double> prices;
  for (const std::uint64_t weight : measure.weight) {
    prices.push_back(static_cast<double>(weight) / static_cast<double>(measure.capacity));
  }
  return prices;
}

// Groups that the prices, drawn towards `centre`, find wanting. True when any came in.
bool bring_in_groups(CoveringSimplex& programme, const GroupPricing& pricing, std::span<const double> centre,
                     std::uint64_t& effort) {
  constexpr std::array<double, 4> pulls{0.9, 0.7, 0.35, 0};
  constexpr std::size_t groups_at_once = 10;
  for (const double pull : pulls) {
    std::vector<double> drawn = programme.prices();
    for (std::size_t item = 0; item < drawn.size(); ++item) {
      drawn[item] = pull * centre[item] + (1 - pull) * drawn[item];
    }
    std::size_t entered = 0;
    for (const ItemSet& group : pricing.grown_groups(drawn, 1 + (1 - pull) * tolerance, effort)) {
      entered += programme.enter(group, effort) ? 1 : 0;
      if (entered == groups_at_once) {
        break;
      }
    }
    if (entered > 0) {
      return true;
    }
  }
  const GroupPricing::Best best = pricing.most_valuable_group(programme.prices(), 1 + tolerance, effort);
  return programme.enter(best.group, effort);
}

// Prices in whole numbers, with the most that a group can be worth for a capacity.
std::optional<Measure> proved_measure(const GroupPricing& pricing, std::span<const double> prices,
                                      std::uint64_t& effort) {
  constexpr double unit = 1U << 24U;
  std::vector<double> whole;
  Measure measure{.capacity = static_cast<std::uint64_t>(unit)};
  for (const double price : prices) {
    whole.push_back(std::floor(std::clamp(price, 0.0, 1.0) * unit));
    measure.weight.push_back(static_cast<std::uint64_t>(whole.back()));
  }
  const GroupPricing::Best best = pricing.most_valuable_group(whole, unit, effort);
  if (!best.exact) {
    return {};
  }
  measure.capacity = static_cast<std::uint64_t>(best.value);
  return measure;
}

const Measure& heaviest(std::span<const Measure> measures) {
  return *std::max_element(measures.begin(), measures.end(),
                           [](const Measure& a, const Measure& b) { return total(a) < total(b); });
}

} // namespace

LinearBound linear_bound(const PackingProblem& problem, const Packing& start, std::span<const Measure> known,
                         std::uint64_t lower, std::uint64_t& effort) {
  if (problem.count() == 0 || problem.count() > most_items_with_prices || !GroupPricing::can_price(problem)) {
    return {};
  }
  const std::vector<double> centre = prices_of(heaviest(known));
  const GroupPricing pricing(problem);
  CoveringSimplex programme(start);
  std::uint64_t for_proof = effort / 4;
  effort -= for_proof;
  do {
    programme.release_surplus(effort);
    if (programme.objective() <= static_cast<double>(lower) + tolerance) {
      effort += for_proof;
      return {.prices = programme.prices()}; // as a bound it would say nothing new
    }
  } while (effort > 0 && bring_in_groups(programme, pricing, centre, effort));
  LinearBound bound{.prices = programme.prices()};
  effort += for_proof;
  if (programme.residual() < 1e-3) {
    bound.measure = proved_measure(pricing, bound.prices, effort);
  }
  return bound;
}

} // namespace tidegate::planning
