// The parts of `compact` one by one: the problem and its mirror, lower bounds, list schedules, overfull
// groups, the peak and branch and bound.
#include "packing_support.hpp"
#include "planning/compact/problem.hpp"
#include "planning/compact/searches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tidegate::planning {
namespace {

using namespace test;
std::uint64_t bound_of(const WaveDag& dag) {
  const PackingProblem problem = problem_of(dag);
  return lower_bounds(problem, mirrored(problem)).groups.groups;
}

TEST_CASE("the problem numbers waves in layer order and drops repeated dependencies") {
  const PackingProblem problem = problem_of(dag_of({1, 2, 3}, {{2, 0}, {2, 1}, {2, 0}, {0, 1}}, 9));
  CHECK(problem.size == std::vector<std::uint64_t>{3, 1, 2});
  CHECK(problem.successors.items == Numbers{1, 2, 2});
  CHECK(problem.predecessors.items == Numbers{0, 0, 1});
  const PackingProblem reverse = mirrored(problem);
  CHECK(reverse.size == std::vector<std::uint64_t>{2, 1, 3});
  CHECK(reverse.successors.items == Numbers{1, 2, 2});
  CHECK(mirrored(reverse).predecessors.items == problem.predecessors.items);
  CHECK(has_bit(ancestors(problem).row(2), 0));
  CHECK_FALSE(has_bit(ancestors(problem).row(0), 2));
}

TEST_CASE("lower bounds") {
  SUBCASE("a chain") {
    CHECK(bound_of(chain(5, 1, 10)) == 5);
  }
  SUBCASE("bytes") {
    CHECK(bound_of(dag_of({4, 4, 4, 4}, {}, 10)) == 2);
  }
  SUBCASE("waves over half the budget") {
    CHECK(bound_of(dag_of({6, 6, 6}, {}, 11)) == 3);
  }
  SUBCASE("three to a group, not quite") {
    CHECK(bound_of(dag_of({4, 4, 4, 4, 4, 4}, {}, 11)) == 3);
  }
  SUBCASE("one before, two groups between, one after") {
    CHECK(bound_of(dag_of({1, 5, 5, 5, 1}, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}, 10)) == 4);
  }
  SUBCASE("a budget of 0") {
    CHECK(bound_of(dag_of({0, 0}, {{0, 1}}, 0)) == 2);
  }
  SUBCASE("totals beyond 64 bits") {
    CHECK(bound_of(dag_of(std::vector<std::uint64_t>(5, u64_max), {}, u64_max)) == 5);
  }
}

TEST_CASE("measures never weigh a group that fits above their capacity") {
  const std::uint64_t start = seed();
  MESSAGE("TIDEGATE_SEED=" << start);
  Random random(start);
  for (int i = 0; i < 300; ++i) {
    const PackingProblem problem = problem_of(random_dag(Family::sparse_random, 30, random));
    for (const Measure& measure : measures(problem)) {
      for (int draw = 0; draw < 20; ++draw) {
        std::uint64_t bytes = 0;
        std::uint64_t weight = 0;
        for (int tries = 0; tries < 60; ++tries) {
          const std::uint32_t item = random.index(problem.count()); // may pick the same item again
          if (problem.size[item] <= problem.capacity - bytes && problem.size[item] > 0) {
            bytes += problem.size[item];
            weight += measure.weight[item];
          }
        }
        CHECK(weight <= measure.capacity);
      }
    }
  }
}

TEST_CASE("list schedules respect everything and take the preferred first") {
  // Group by group fills the gap next to wave 0 with wave 2; the largest first would take wave 1.
  const PackingProblem problem = problem_of(dag_of({3, 9, 4, 2}, {{0, 3}}, 10));
  CHECK(schedule_by_group(problem, Numbers{0, 2, 1, 3}).group_of == Numbers{0, 1, 0, 2});
  CHECK(schedule_by_group(problem, Numbers{1, 0, 2, 3}).group_of == Numbers{1, 0, 1, 2});
  CHECK(schedule_by_item(problem, Numbers{0, 3, 2, 1}).group_of == Numbers{0, 2, 0, 1});
  Random random(seed());
  for (int i = 0; i < 500; ++i) {
    const PackingProblem drawn = problem_of(random_dag(static_cast<Family>(i % 5), 40, random));
    const LowerBounds bounds = lower_bounds(drawn, mirrored(drawn));
    check_packing(drawn, schedule_by_group(drawn, by_tail_then_size(drawn, bounds.groups.tail)));
    check_packing(drawn, schedule_by_group(drawn, by_size_then_tail(drawn, bounds.groups.tail)));
    check_packing(drawn, schedule_by_item(drawn, by_tail_then_size(drawn, bounds.groups.tail)));
  }
}

TEST_CASE("items leave overfull groups for others") {
  Random random(seed());
  int fitted = 0;
  for (int i = 0; i < 300; ++i) {
    PackingProblem problem = random_problem(i, 40, random);
    const LowerBounds bounds = lower_bounds(problem, mirrored(problem));
    const Packing packing = schedule_by_item(problem, by_tail_then_size(problem, bounds.groups.tail));
    const std::uint64_t largest = *std::max_element(problem.size.begin(), problem.size.end());
    problem.capacity = std::max(largest, peak_bytes(problem, packing) / 10 * 9);
    std::uint64_t effort = 20'000;
    const auto found = with_groups_fitted(problem, packing, effort);
    if (found) {
      check_packing(problem, *found);
      CHECK(found->groups <= packing.groups);
      ++fitted;
    }
  }
  CHECK(fitted > 30);
}

TEST_CASE("the peak falls to the mean where the sizes allow it") {
  const PackingProblem problem = problem_of(dag_of({5, 5, 1, 1, 1, 1}, {}, 12));
  const Packing start{.group_of = {0, 0, 0, 0, 1, 1}, .groups = 2};
  const Packing even = lower_peak(problem, Numbers(6, 0), start, 100'000);
  CHECK(even.groups == 2);
  CHECK(peak_bytes(problem, even) == 7);
  CHECK(lower_peak(problem, Numbers(6, 0), start, 0).group_of == start.group_of);
}

TEST_CASE("branch and bound") {
  // First fit, longest tail first, needs four groups; three suffice: {5 5} {4 6} and the waves that depend on
  // them.
  const PackingProblem problem = problem_of(dag_of({6, 5, 5, 4, 10}, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}, 10));
  const LowerBounds bounds = lower_bounds(problem, mirrored(problem));
  SUBCASE("finds the best packing and stops at the bound") {
    const SearchResult result =
        branch_and_bound(problem, bounds, 5, {.loads_per_node = 100, .effort = 10'000});
    CHECK(result.packing.groups == 3);
    CHECK(result.exhausted);
    check_packing(problem, result.packing);
  }
  SUBCASE("has nothing to do below the bound") {
    const SearchResult result = branch_and_bound(problem, bounds, 3, {});
    CHECK(result.packing.groups == 0);
    CHECK(result.exhausted);
  }
  SUBCASE("gives up without effort") {
    const SearchResult result = branch_and_bound(problem, bounds, 5, {.loads_per_node = 100, .effort = 0});
    CHECK(result.packing.groups == 0);
    CHECK_FALSE(result.exhausted);
  }
  SUBCASE("a search cut short proves nothing") {
    const SearchResult result = branch_and_bound(problem, bounds, 5, {.loads_per_node = 0, .effort = 10'000});
    CHECK_FALSE(result.exhausted);
  }
}

} // namespace
} // namespace tidegate::planning
