// Helpers for the parts of `compact`: problems from DAGs, and the conditions of every packing.
#pragma once

#include "dag_support.hpp"
#include "planning/compact/problem.hpp"

#include <doctest/doctest.h>

namespace tidegate::planning::test {

using Numbers = std::vector<std::uint32_t>;

inline PackingProblem problem_of(const WaveDag& dag) {
  const auto layers = plan_barriers(static_cast<std::uint32_t>(dag.waves.size()), dag.dependencies);
  return packing_problem(dag, layers.value().order, group_budget(dag).value());
}

inline WaveDag dag_of(const std::vector<std::uint64_t>& sizes, std::vector<Dependency> dependencies,
                      std::uint64_t budget) {
  WaveDag dag{.dependencies = std::move(dependencies), .budget_bytes = budget};
  for (const std::uint64_t size : sizes) {
    dag.waves.push_back({.frontier_bytes = size});
  }
  return dag;
}

inline PackingProblem random_problem(int family, std::uint32_t waves, Random& random) {
  return problem_of(random_dag(static_cast<Family>(family % family_names.size()), waves, random));
}

// Checks that dependencies go forward, that groups fit and that none is empty.
inline void check_packing(const PackingProblem& problem, const Packing& packing) {
  std::vector<bool> used(packing.groups);
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    REQUIRE(packing.group_of[item] < packing.groups);
    used[packing.group_of[item]] = true;
    for (const std::uint32_t successor : problem.successors[item]) {
      CHECK(packing.group_of[item] < packing.group_of[successor]);
    }
  }
  CHECK(std::ranges::count(used, false) == 0);
  for (const std::uint64_t bytes : group_bytes(problem, packing)) {
    CHECK(bytes <= problem.capacity);
  }
}

} // namespace tidegate::planning::test
