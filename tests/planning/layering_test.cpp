#include "dag_support.hpp"
#include <tidegate/planning/layering.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace tidegate::planning {
namespace {

using namespace test;
using Waves = std::vector<std::uint32_t>;

TEST_CASE("waves become ready in the order of the dependencies given") {
  // Wave 2 is named before wave 1, so it is ready first.
  const WaveGroups groups = plan_barriers(4, std::vector<Dependency>{{0, 2}, {0, 1}, {1, 3}, {2, 3}}).value();
  CHECK(groups.order == Waves{0, 2, 1, 3});
  CHECK(groups.group_begin == Waves{0, 1, 3, 4});
  CHECK(groups.global_barriers() == 2);
}

TEST_CASE("the order does not depend on how the dependencies are stored") {
  Random random(seed());
  for (int i = 0; i < 200; ++i) {
    // Sorting by `before` keeps each wave's own order: the result must be the same without the shuffle.
    WaveDag dag = shuffled(random_dag(Family::layered_random, 60, random), random);
    const WaveGroups scattered = plan_barriers(60, dag.dependencies).value();
    std::stable_sort(dag.dependencies.begin(), dag.dependencies.end(),
                     [](const Dependency& a, const Dependency& b) { return a.before < b.before; });
    CHECK(plan_barriers(60, dag.dependencies).value() == scattered);
  }
}

TEST_CASE("repeated dependencies change nothing but the count") {
  const std::vector<Dependency> repeated{{0, 1}, {0, 1}, {0, 1}, {1, 2}};
  CHECK(plan_barriers(3, repeated).value().order == Waves{0, 1, 2});
}

TEST_CASE("the first bad dependency is the error") {
  CHECK(error_of(plan_barriers(2, std::vector<Dependency>{{0, 1}, {0, 2}, {1, 1}})) ==
        "invalid_wave: the dependency of wave 2 on wave 0 leaves the 2 waves of the DAG");
  CHECK(error_of(plan_barriers(2, std::vector<Dependency>{{1, 1}, {0, 2}})) ==
        "self_dependency: wave 1 depends on itself");
  CHECK(error_of(plan_barriers(0, std::vector<Dependency>{{0, 0}})).substr(0, 13) == "invalid_wave:");
  CHECK(error_of(check_dependencies(2, std::vector<Dependency>{{0, 1}})) == "none");
  CHECK(check_dependencies(1, std::vector<Dependency>{{0, u32_max}}).error().after == u32_max);
}

} // namespace
} // namespace tidegate::planning
