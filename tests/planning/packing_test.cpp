// The parts of `compact` one by one: the problem and its mirror, lower bounds, list schedules, the peak and both
// searches.
#include "packing_support.hpp"
#include "planning/compact/problem.hpp"

namespace tidegate::planning {
namespace {

using namespace test;
std::uint64_t bound_of(const WaveDag& dag) {
  const PackingProblem problem = problem_of(dag);
  return lower_bounds(problem, mirrored(problem)).groups;
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
}

TEST_CASE("lower bounds") {
  CHECK(bound_of(chain(5, 1, 10)) == 5);
  CHECK(bound_of(dag_of({4, 4, 4, 4}, {}, 10)) == 2);       // bytes
  CHECK(bound_of(dag_of({6, 6, 6}, {}, 11)) == 3);          // over half the budget
  CHECK(bound_of(dag_of({4, 4, 4, 4, 4, 4}, {}, 11)) == 3); // three to a group, not quite
  // one before, two groups between, one after
  CHECK(bound_of(dag_of({1, 5, 5, 5, 1}, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}, 10)) == 4);
  CHECK(bound_of(dag_of({0, 0}, {{0, 1}}, 0)) == 2);
  CHECK(bound_of(dag_of(std::vector<std::uint64_t>(5, u64_max), {}, u64_max)) == 5); // beyond 64 bits
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
  // The gap next to wave 0 is filled with wave 2; the largest first would take wave 1.
  const PackingProblem problem = problem_of(dag_of({3, 9, 4, 2}, {{0, 3}}, 10));
  CHECK(list_schedule(problem, Numbers{0, 2, 1, 3}).group_of == Numbers{0, 1, 0, 2});
  CHECK(list_schedule(problem, Numbers{1, 0, 2, 3}).group_of == Numbers{1, 0, 1, 2});
  Random random(seed());
  for (int i = 0; i < 500; ++i) {
    const PackingProblem drawn = random_problem(i, 40, random);
    const LowerBounds bounds = lower_bounds(drawn, mirrored(drawn));
    check_packing(drawn, list_schedule(drawn, preference(drawn, bounds.tail, First::longest_tail)));
    check_packing(drawn, list_schedule(drawn, preference(drawn, bounds.tail, First::largest)));
  }
}

CompactSearch search_of(const PackingProblem& problem, Packing start) {
  CompactSearch search{.problem = problem, .reverse = mirrored(problem), .best = std::move(start)};
  search.bounds = lower_bounds(problem, search.reverse);
  search.lower = search.bounds.groups;
  return search;
}

// A schedule by the numbers of the items: far from the best one.
Packing first_come(const PackingProblem& problem) {
  Numbers order(problem.count());
  std::iota(order.begin(), order.end(), 0U);
  return list_schedule(problem, order);
}

TEST_CASE("better orders are found, the same in every run") {
  Random random(seed());
  std::uint32_t saved = 0;
  for (int i = 0; i < 100; ++i) {
    const PackingProblem problem = random_problem(i, 60, random);
    const Packing start = first_come(problem);
    const auto improved = [&](std::uint64_t effort) {
      CompactSearch search = search_of(problem, start);
      improve_order(search, effort);
      check_packing(problem, search.best);
      CHECK(search.best.groups <= start.groups);
      CHECK(search.best.groups >= search.lower);
      return search.best;
    };
    CHECK(improved(0).group_of == start.group_of);
    improved(random.between(1, 3000)); // with any effort
    const Packing found = improved(100'000);
    CHECK(found.group_of == improved(100'000).group_of);
    saved += start.groups - found.groups;
  }
  CHECK(saved > 100);
}

TEST_CASE("the peak falls to the mean where the sizes allow it") {
  const PackingProblem problem = problem_of(dag_of({5, 5, 1, 1, 1, 1}, {}, 12));
  CompactSearch search = search_of(problem, {.group_of = {0, 0, 0, 0, 1, 1}, .groups = 2});
  lower_peak(search, 0);
  CHECK(search.best.group_of == Numbers{0, 0, 0, 0, 1, 1});
  lower_peak(search, 100'000);
  CHECK(search.best.groups == 2);
  CHECK(std::ranges::max(group_bytes(problem, search.best)) == 7);
}

TEST_CASE("small problems are exhausted") {
  // The longest tail first needs four groups; three suffice: {5 5} {4 6} and the wave that depends on them.
  const PackingProblem problem = problem_of(dag_of({6, 5, 5, 4, 10}, {{0, 4}, {1, 4}, {2, 4}, {3, 4}}, 10));
  CompactSearch search = search_of(problem, {.group_of = {0, 1, 2, 3, 4}, .groups = 5});
  search.lower = 2; // below the bound
  std::uint64_t effort = 0;
  SUBCASE("without effort nothing changes") {
    exhaust(search, effort);
    CHECK(search.best.groups == 5);
    CHECK(search.lower == 2);
  }
  SUBCASE("the best packing is found and proved") {
    effort = 10'000;
    exhaust(search, effort);
    CHECK(search.best.groups == 3);
    CHECK(search.lower == 3);
    CHECK(effort > 0);
    check_packing(problem, search.best);
  }
  SUBCASE("with any effort, what is found is a packing") {
    Random random(seed());
    for (int i = 0; i < 300; ++i) {
      const PackingProblem drawn = random_problem(i, i % 3 == 0 ? most_items_to_exhaust : 30, random);
      search = search_of(drawn, first_come(drawn));
      effort = random.between(1, 20'000);
      exhaust(search, effort);
      check_packing(drawn, search.best);
      CHECK(search.best.groups >= search.lower);
    }
  }
}

} // namespace
} // namespace tidegate::planning
