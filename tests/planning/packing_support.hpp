// Helpers for the parts of `compact`: problems from DAGs, and the conditions of every packing.
#pragma once

#include "../test_scale.hpp"
#include "dag_support.hpp"
#include "planning/compact/problem.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

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

// Checks that dependencies go forward and, with `must_fit`, that groups fit and none is empty.
inline void check_packing(const PackingProblem& problem, const Packing& packing, bool must_fit = true) {
  for (std::uint32_t item = 0; item < problem.count(); ++item) {
    CHECK(packing.group_of[item] < packing.groups);
    for (const std::uint32_t successor : problem.successors[item]) {
      CHECK(packing.group_of[item] < packing.group_of[successor]);
    }
  }
  if (must_fit) {
    CHECK(peak_bytes(problem, packing) <= problem.capacity);
    CHECK(without_empty_groups(packing).groups == packing.groups);
  }
}

// Returns true if `below` depends on `above`, by walking back. Slow, and independent of the bit matrices.
inline bool depends_on(const PackingProblem& problem, std::uint32_t below, std::uint32_t above) {
  for (const std::uint32_t other : problem.predecessors[below]) {
    if (other == above || depends_on(problem, other, above)) {
      return true;
    }
  }
  return false;
}

inline bool can_meet(const PackingProblem& problem, std::uint32_t a, std::uint32_t b) {
  return a != b && problem.size[a] <= problem.capacity - problem.size[b] && !depends_on(problem, a, b) &&
         !depends_on(problem, b, a);
}

} // namespace tidegate::planning::test
