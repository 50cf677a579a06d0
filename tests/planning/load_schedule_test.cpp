// Schedules by load, and the search through many of them.
#include "packing_support.hpp"
#include "planning/compact/searches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace tidegate::planning {
namespace {

using namespace test;

constexpr LoadLimits plenty{.choices_per_group = 100'000, .most_groups = u32_max};

std::vector<double> by_bytes(const PackingProblem& problem) {
  return {problem.size.begin(), problem.size.end()};
}

TEST_CASE("a group is filled as well as it can be") {
  const PackingProblem problem = problem_of(dag_of({6, 5, 5, 4}, {}, 10));
  std::uint64_t effort = 1000;
  const std::optional<Packing> packing = schedule_by_load(problem, by_bytes(problem), plenty, effort);
  REQUIRE(packing.has_value());
  CHECK(packing->groups == 2);
  CHECK(packing->group_of[0] == packing->group_of[3]);
  CHECK(effort < 1000);
}

TEST_CASE("the first group holds the most valuable of all loads") {
  Random random(seed());
  for (int i = 0; i < 200 / tidegate::test::scale; ++i) {
    PackingProblem problem = random_problem(i, 12, random);
    problem.predecessors = problem.successors = {.begin = Numbers(13)};
    std::vector<double> value;
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      value.push_back(static_cast<double>(random.between(1, 50)));
    }
    double most = 0;
    for (std::uint32_t set = 0; set < std::uint32_t{1} << problem.count(); ++set) {
      std::uint64_t bytes = 0;
      double sum = 0;
      for (std::uint32_t item = 0; item < problem.count(); ++item) {
        bytes += (set >> item & 1) != 0 ? problem.size[item] : 0;
        sum += (set >> item & 1) != 0 ? value[item] : 0;
      }
      most = bytes <= problem.capacity ? std::max(most, sum) : most;
    }
    std::uint64_t effort = 1'000'000;
    const std::optional<Packing> packing = schedule_by_load(problem, value, plenty, effort);
    REQUIRE(packing.has_value());
    check_packing(problem, *packing);
    double first = 0;
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      first += packing->group_of[item] == 0 ? value[item] : 0;
    }
    CHECK(first == most);
  }
}

TEST_CASE("schedules by load are valid, even with few choices") {
  Random random(seed());
  for (int i = 0; i < 200 / tidegate::test::scale; ++i) {
    const PackingProblem problem = random_problem(i, 60, random);
    for (const std::uint64_t choices : {0, 3, 1000}) {
      std::uint64_t effort = 1'000'000;
      std::vector<double> value = by_bytes(problem);
      for (double& each : value) {
        each += 1;
      }
      const std::optional<Packing> packing =
          schedule_by_load(problem, value, {.choices_per_group = choices, .most_groups = u32_max}, effort);
      REQUIRE(packing.has_value());
      check_packing(problem, *packing);
    }
  }
}

TEST_CASE("a schedule is aborted") {
  const PackingProblem problem = problem_of(chain(5, 1, 10));
  std::uint64_t effort = 1000;
  SUBCASE("when it needs too many groups") {
    const LoadLimits four{.choices_per_group = 10, .most_groups = 4};
    CHECK_FALSE(schedule_by_load(problem, by_bytes(problem), four, effort).has_value());
    CHECK(effort < 1000);
  }
  SUBCASE("when the effort is used up") {
    effort = 3;
    CHECK_FALSE(schedule_by_load(problem, by_bytes(problem), plenty, effort).has_value());
    CHECK(effort == 0);
  }
}

TEST_CASE("the search never returns a worse schedule than it was given, and often a better one") {
  Random random(seed());
  int better = 0;
  for (int i = 0; i < 60 / tidegate::test::scale; ++i) {
    const PackingProblem problem = random_problem(i, 80, random);
    const PackingProblem reverse = mirrored(problem);
    const LowerBounds bounds = lower_bounds(problem, reverse);
    const LowerBounds reverse_bounds = mirrored(bounds);
    const TwoEnds ends{
        .problem = problem, .reverse = reverse, .bounds = bounds, .reverse_bounds = reverse_bounds};
    Numbers order(problem.count());
    std::iota(order.begin(), order.end(), 0U);
    const Packing start = schedule_by_group(problem, order);
    const auto searched = [&] {
      std::uint64_t effort = 200'000;
      return best_load_schedule(ends, start, bounds.groups.groups, effort);
    };
    const Packing found = searched();
    check_packing(problem, found);
    CHECK(found.groups <= start.groups);
    CHECK(found.group_of == searched().group_of);
    better += found.groups < start.groups ? 1 : 0;
    std::uint64_t nothing = 0;
    CHECK(best_load_schedule(ends, start, 1, nothing).group_of == start.group_of);
  }
  CHECK(better > 10 / tidegate::test::scale);
}

} // namespace
} // namespace tidegate::planning
