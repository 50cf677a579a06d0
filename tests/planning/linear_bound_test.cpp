// The linear programme over groups and the pricing that serves it, against all sets of items there are.
#include "packing_support.hpp"
#include <tidegate/planning/covering_simplex.hpp>
#include <tidegate/planning/group_pricing.hpp>
#include <tidegate/planning/linear_bound.hpp>
#include <tidegate/planning/list_schedule.hpp>
#include <tidegate/planning/lower_bounds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace tidegate::planning {
namespace {

using namespace test;

// Every set of items that may stand in one group.
std::vector<Numbers> all_groups(const PackingProblem& problem) {
  std::vector<Numbers> groups;
  for (std::uint32_t set = 1; set < std::uint32_t{1} << problem.count(); ++set) {
    Numbers group;
    std::uint64_t bytes = 0;
    bool allowed = true;
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      if ((set >> item & 1) != 0) {
        bytes += problem.size[item];
        allowed = allowed && std::none_of(group.begin(), group.end(), [&](std::uint32_t other) {
                    return depends_on(problem, item, other);
                  });
        group.push_back(item);
      }
    }
    if (allowed && bytes <= problem.capacity) {
      groups.push_back(group);
    }
  }
  return groups;
}

template <class Values>
auto worth(const Numbers& group, const Values& value) {
  typename Values::value_type sum = 0;
  for (const std::uint32_t item : group) {
    sum += value[item];
  }
  return sum;
}

PackingProblem small_problem(int family, Random& random) {
  PackingProblem problem = random_problem(family, 10, random);
  if (random.chance(30)) { // waves of no bytes, as points where others meet are
    for (std::uint64_t& size : problem.size) {
      size = random.chance(40) ? 0 : size;
    }
    problem.capacity =
        random.chance(50) ? problem.capacity : std::max<std::uint64_t>(problem.capacity / 2, 1);
    for (std::uint64_t& size : problem.size) {
      size = std::min(size, problem.capacity);
    }
  }
  return problem;
}

TEST_CASE("the most valuable group is the most valuable of all groups") {
  Random random(seed());
  for (int i = 0; i < 300 / tidegate::test::scale; ++i) {
    const PackingProblem problem = small_problem(i, random);
    const std::vector<Numbers> groups = all_groups(problem);
    REQUIRE(GroupPricing::can_price(problem));
    const GroupPricing pricing(problem);
    std::vector<double> value;
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      value.push_back(static_cast<double>(random.between(0, 20)));
    }
    double most = 0;
    for (const Numbers& group : groups) {
      most = std::max(most, worth(group, value));
    }
    std::uint64_t effort = 1'000'000;
    GroupPricing::Best best = pricing.most_valuable_group(value, 0, effort);
    std::sort(best.group.begin(), best.group.end());
    CHECK(best.exact);
    CHECK(best.value == most);
    CHECK(worth(best.group, value) == most);
    CHECK((best.group.empty() || std::find(groups.begin(), groups.end(), best.group) != groups.end()));
    CHECK(pricing.most_valuable_group(value, most, effort).group.empty());
    for (ItemSet& grown : pricing.grown_groups(value, most / 2, effort)) {
      std::sort(grown.begin(), grown.end());
      CHECK(worth(grown, value) > most / 2);
      CHECK(std::find(groups.begin(), groups.end(), grown) != groups.end());
    }
    std::uint64_t nothing = 0;
    CHECK_FALSE(pricing.most_valuable_group(value, 0, nothing).exact);
  }
}

TEST_CASE("bytes too many to be counted in parts are not priced") {
  PackingProblem problem = problem_of(dag_of({0, u64_max, 5}, {}, u64_max));
  CHECK_FALSE(GroupPricing::can_price(problem));
  std::uint64_t effort = 1000;
  CHECK(linear_bound(problem, {.group_of = {0, 1, 0}, .groups = 2}, {}, 1, effort).prices.empty());
}

TEST_CASE("three items of which any two fit need one and a half groups") {
  CoveringSimplex programme({.group_of = {0, 1, 2}, .groups = 3});
  std::uint64_t effort = 1000;
  CHECK(programme.objective() == 3);
  for (const Numbers& pair : {Numbers{0, 1}, Numbers{1, 2}, Numbers{0, 2}}) {
    CHECK(programme.enter(pair, effort));
    programme.release_surplus(effort);
  }
  CHECK(programme.objective() == doctest::Approx(1.5));
  CHECK(programme.residual() < 1e-9);
  for (const double price : programme.prices()) {
    CHECK(price == doctest::Approx(0.5));
  }
  CHECK_FALSE(programme.enter(Numbers{0, 1}, effort)); // in already
  effort = 0;
  CHECK_FALSE(programme.enter(Numbers{0, 1, 2}, effort));
}

TEST_CASE("with all groups in it the programme's prices are its objective, and no group costs more than 1") {
  Random random(seed());
  for (int i = 0; i < 100 / tidegate::test::scale; ++i) {
    const PackingProblem problem = small_problem(i, random);
    const std::vector<Numbers> groups = all_groups(problem);
    Packing one_by_one{.groups = problem.count()};
    one_by_one.group_of.resize(problem.count());
    std::iota(one_by_one.group_of.begin(), one_by_one.group_of.end(), 0U);
    CoveringSimplex programme(one_by_one);
    std::uint64_t effort = 10'000'000;
    for (bool entered = true; entered;) {
      entered = false;
      for (const Numbers& group : groups) {
        if (programme.enter(group, effort)) {
          entered = true;
          programme.release_surplus(effort);
        }
      }
    }
    const std::vector<double>& price = programme.prices();
    CHECK(std::accumulate(price.begin(), price.end(), 0.0) == doctest::Approx(programme.objective()));
    CHECK(*std::min_element(price.begin(), price.end()) > -1e-6);
    for (const Numbers& group : groups) {
      CHECK(worth(group, price) < 1 + 1e-6);
    }
  }
}

TEST_CASE("no group outweighs the measure, and its bound is no more than a packing has") {
  Random random(seed());
  int measures_found = 0;
  int raised = 0;
  for (int i = 0; i < 300 / tidegate::test::scale; ++i) {
    const PackingProblem problem = small_problem(i, random);
    const PackingProblem reverse = mirrored(problem);
    LowerBounds bounds = lower_bounds(problem, reverse);
    Numbers order(problem.count());
    std::iota(order.begin(), order.end(), 0U);
    const Packing packing = schedule_by_group(problem, order);
    std::uint64_t effort = 1'000'000;
    LinearBound linear = linear_bound(problem, packing, bounds.measures, 0, effort);
    CHECK(linear.prices.size() == problem.count());
    if (!linear.measure) {
      continue;
    }
    ++measures_found;
    for (const Numbers& group : all_groups(problem)) {
      CHECK(worth(group, linear.measure->weight) <= linear.measure->capacity);
    }
    const std::uint64_t before = bounds.groups.groups;
    add_measure(problem, reverse, *linear.measure, bounds);
    CHECK(bounds.groups.groups >= before);
    CHECK(bounds.groups.groups <= packing.groups);
    raised += bounds.groups.groups > before ? 1 : 0;
  }
  CHECK(measures_found > 250 / tidegate::test::scale);
  MESSAGE("bounds raised: " << raised);
}

TEST_CASE("waves of which only every other one finds a partner") {
  // Pairs of 5 and 5 fit, but each of the first three waves leads to all of the last three but one.
  const PackingProblem problem = problem_of(dag_of(
      {5, 5, 5, 5, 5, 5}, {{0, 3}, {0, 4}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {0, 5}, {1, 5}, {2, 5}}, 10));
  const PackingProblem reverse = mirrored(problem);
  LowerBounds bounds = lower_bounds(problem, reverse);
  std::uint64_t effort = 1'000'000;
  const Packing packing = schedule_by_group(problem, Numbers{0, 1, 2, 3, 4, 5});
  LinearBound linear = linear_bound(problem, packing, bounds.measures, 0, effort);
  REQUIRE(linear.measure.has_value());
  add_measure(problem, reverse, *linear.measure, bounds);
  CHECK(bounds.groups.groups == 4);
}

} // namespace
} // namespace tidegate::planning
