// Saving groups by ejection.
#include "packing_support.hpp"
#include "planning/compact/problem.hpp"
#include "planning/compact/searches.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace tidegate::planning {
namespace {

using namespace test;

TEST_CASE("a group is saved by ejecting others") {
  // {6 2} {5 3} {4} has no room for 4; {6 4} {5 3 2} holds everything.
  const PackingProblem problem = problem_of(dag_of({6, 2, 5, 3, 4}, {}, 10));
  std::uint64_t effort = 10'000;
  const Packing saved = with_groups_saved(problem, {.group_of = {0, 0, 1, 1, 2}, .groups = 3}, 2, effort);
  CHECK(saved.groups == 2);
  check_packing(problem, saved);
  CHECK(effort > 0);
}

TEST_CASE("waves that eject each other keep their order") {
  // 0 -> 1 -> 2 in parallel with 3 -> 4: the groups of the chain of three have room for the others.
  const PackingProblem problem = problem_of(dag_of({6, 6, 6, 4, 4}, {{0, 1}, {1, 2}, {3, 4}}, 10));
  std::uint64_t effort = 10'000;
  const Packing start = schedule_by_group(problem, Numbers{1, 0, 2, 3, 4});
  const Packing saved = with_groups_saved(problem, start, 3, effort);
  CHECK(saved.groups == 3);
  check_packing(problem, saved);
}

TEST_CASE("saving groups is valid, deterministic and effective") {
  Random random(seed());
  int saved_groups = 0;
  for (int i = 0; i < 150 / tidegate::test::scale; ++i) {
    const PackingProblem problem = random_problem(i, 60, random);
    const std::uint64_t lower = lower_bounds(problem, mirrored(problem)).groups.groups;
    Numbers order(problem.count());
    std::iota(order.begin(), order.end(), 0U);
    const Packing start = schedule_by_group(problem, order);
    const auto saved = [&](std::uint64_t effort) {
      const Packing packing = with_groups_saved(problem, start, lower, effort);
      check_packing(problem, packing);
      CHECK(packing.groups <= start.groups);
      CHECK(packing.groups >= lower);
      return packing;
    };
    const Packing packing = saved(100'000);
    CHECK(packing.group_of == saved(100'000).group_of);
    CHECK(saved(0).group_of == start.group_of);
    saved(random.between(1, 3000)); // with any effort
    saved_groups += static_cast<int>(start.groups - packing.groups);
  }
  CHECK(saved_groups > 150 / tidegate::test::scale);
}

} // namespace
} // namespace tidegate::planning
