// The parts of a packing problem, compared with their definitions by plain walks over the dependencies.
#include "packing_support.hpp"
#include "planning/compact/problem.hpp"
#include "planning/compact/searches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

namespace tidegate::planning {
namespace {

using namespace test;

std::vector<Numbers> lists(const ItemLists& items) {
  std::vector<Numbers> result;
  for (std::size_t i = 0; i + 1 < items.begin.size(); ++i) {
    result.emplace_back(items[i].begin(), items[i].end());
  }
  return result;
}

// Joins the parts of any two items that can meet, until nothing changes.
std::vector<Numbers> plain_parts(const PackingProblem& problem) {
  Numbers part(problem.count());
  std::iota(part.begin(), part.end(), 0U);
  for (std::uint32_t a = 0; a < problem.count(); ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      if (can_meet(problem, a, b)) {
        std::replace(part.begin(), part.end(), std::uint32_t{part[a]}, std::uint32_t{part[b]});
      }
    }
  }
  std::vector<Numbers> result;
  for (std::uint32_t first = 0; first < problem.count(); ++first) {
    Numbers items;
    for (std::uint32_t item = first; item < problem.count(); ++item) {
      if (part[item] == part[first]) {
        items.push_back(item);
      }
    }
    if (std::find(part.begin(), part.begin() + first, part[first]) == part.begin() + first) {
      result.push_back(items);
    }
  }
  return result;
}

TEST_CASE("a wave that all others wait for or lead to divides the problem") {
  // 0, 1 -> 2 -> 3, 4; wave 5 is large, and independent of all.
  const PackingProblem problem =
      problem_of(dag_of({4, 4, 4, 4, 4, 10}, {{0, 2}, {1, 2}, {2, 3}, {2, 4}}, 10));
  CHECK(problem.wave == Numbers{0, 1, 5, 2, 3, 4});
  CHECK(lists(parts(problem)) == std::vector<Numbers>{{0, 1}, {2}, {3}, {4, 5}});
}

TEST_CASE("parts are what can meet, directly or through others") {
  Random random(seed());
  for (int i = 0; i < 200 / tidegate::test::scale; ++i) {
    const PackingProblem problem = random_problem(i, 25, random);
    const BitMatrix meets = may_meet(problem);
    for (std::uint32_t a = 0; a < problem.count(); ++a) {
      for (std::uint32_t b = 0; b < problem.count(); ++b) {
        CHECK(has_bit(meets.row(a), b) == can_meet(problem, a, b));
      }
    }
    CHECK(lists(parts(problem)) == plain_parts(problem));
  }
}

TEST_CASE("a sub-problem keeps every dependency among its items") {
  Random random(seed());
  for (int i = 0; i < 200 / tidegate::test::scale; ++i) {
    const PackingProblem problem = random_problem(i, 25, random);
    Numbers items;
    for (std::uint32_t item = 0; item < problem.count(); ++item) {
      if (random.chance(50)) {
        items.push_back(item);
      }
    }
    const SubProblem sub = sub_problem(problem, items);
    CHECK(sub.items == items);
    CHECK(sub.problem.capacity == problem.capacity);
    for (std::uint32_t a = 0; a < items.size(); ++a) {
      CHECK(sub.problem.size[a] == problem.size[items[a]]);
      CHECK(sub.problem.wave[a] == problem.wave[items[a]]);
      for (std::uint32_t b = 0; b < a; ++b) {
        CHECK(depends_on(sub.problem, a, b) == depends_on(problem, items[a], items[b]));
      }
      for (const std::uint32_t above : sub.problem.predecessors[a]) {
        const std::span<const std::uint32_t> below = sub.problem.successors[above];
        CHECK(std::count(below.begin(), below.end(), a) == 1);
      }
    }
    Numbers order(problem.count());
    std::iota(order.begin(), order.end(), 0U);
    check_packing(sub.problem, restricted(schedule_by_group(problem, order), sub));
  }
}

TEST_CASE("groups in any order are put in one that keeps the dependencies") {
  Random random(seed());
  for (int i = 0; i < 200 / tidegate::test::scale; ++i) {
    const PackingProblem problem = random_problem(i, 25, random);
    Numbers order(problem.count());
    std::iota(order.begin(), order.end(), 0U);
    const Packing packing = schedule_by_item(problem, order);
    Numbers label(packing.groups);
    for (std::uint32_t group = 0; group < label.size(); ++group) {
      label[group] = group;
      std::swap(label[group], label[random.index(group + std::size_t{1})]);
    }
    Packing shuffled_groups = packing;
    for (std::uint32_t& group : shuffled_groups.group_of) {
      group = label[group];
    }
    const std::optional<Packing> ordered = in_order(problem, shuffled_groups);
    REQUIRE(ordered.has_value());
    CHECK(ordered->groups == packing.groups);
    check_packing(problem, *ordered);
  }
}

TEST_CASE("groups that wait for each other have no order") {
  const PackingProblem problem = problem_of(dag_of({1, 1, 1, 1}, {{0, 2}, {1, 3}}, 2));
  CHECK_FALSE(in_order(problem, {.group_of = {0, 1, 1, 0}, .groups = 2}).has_value());
  CHECK(in_order(problem, {.group_of = {1, 1, 0, 0}, .groups = 2})->group_of == Numbers{0, 0, 1, 1});
}

} // namespace
} // namespace tidegate::planning
