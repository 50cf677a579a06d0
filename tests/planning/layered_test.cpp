// What the golden vectors (golden_test.cpp) do not have of the barrier plan and the strategy `layered`.
#include "dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

using namespace test;
using Waves = std::vector<std::uint32_t>;

TEST_CASE("the order does not depend on how the dependencies are stored") {
  Random random(seed());
  for (int i = 0; i < 200; ++i) {
    // Sorting by `before` keeps each wave's own order, so the result must equal that without the shuffle.
    WaveDag dag = shuffled(random_dag(Family::layered_random, 60, random), random);
    const BarrierGroups scattered = plan_barriers(60, dag.dependencies).value();
    std::stable_sort(dag.dependencies.begin(), dag.dependencies.end(),
                     [](const Dependency& a, const Dependency& b) { return a.before < b.before; });
    CHECK(plan_barriers(60, dag.dependencies).value() == scattered);
  }
}

TEST_CASE("the cycle is a shortest one through that dependency") {
  // 0 to 5 in a row and a shortcut from 0 to 5; wave 5 points back to 0.
  const std::vector<Dependency> dependencies{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 5}};
  CHECK(plan_barriers(6, dependencies).error().cycle == Waves{0, 5});
}

TEST_CASE("every reported cycle is a cycle") {
  Random random(seed());
  for (int i = 0; i < 500; ++i) {
    const std::uint32_t waves = 2 + random.below(30);
    std::vector<Dependency> dependencies;
    for (std::uint32_t edges = random.below(100); edges > 0; --edges) {
      const std::uint32_t before = random.below(waves);
      const std::uint32_t after = random.below(waves);
      if (before != after) {
        dependencies.push_back({before, after});
      }
    }
    const auto result = plan_barriers(waves, dependencies);
    if (result) {
      continue;
    }
    const Waves& cycle = *result.error().cycle;
    REQUIRE(cycle.size() >= 2);
    CHECK(cycle.back() == result.error().before);
    CHECK(cycle.front() == result.error().after);
    for (std::size_t at = 0; at < cycle.size(); ++at) {
      const Dependency step{cycle[at], cycle[(at + 1) % cycle.size()]};
      CHECK(std::find(dependencies.begin(), dependencies.end(), step) != dependencies.end());
    }
    CHECK(cycle.size() <= result.error().unscheduled_waves);
  }
}

TEST_CASE("a cycle of a million waves is cut in the middle") {
  WaveDag dag = chain(1'000'000, 1, 1);
  dag.dependencies.push_back({999'999, 0});
  const Error error = plan_barriers(1'000'000, dag.dependencies).error();
  CHECK(error.cycle->size() == 1'000'000);
  CHECK(error.message.find("wave 6 -> (999986 more) -> wave 999993") != std::string::npos);
}

TEST_CASE("the lower bound counts what must follow") {
  // Wave 0 alone, then 25 bytes in groups of 10.
  const WaveDag dag{.waves = {{.frontier_bytes = 1}, {5}, {5}, {5}, {5}, {5}},
                    .dependencies = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}},
                    .budget_bytes = 10};
  CHECK(plan_layered(dag).value().lower_bound_groups == 4);
  CHECK(plan_layered(dag).value().optimal);
  const WaveDag large{.waves = std::vector<Wave>(5, {.frontier_bytes = 6}), .budget_bytes = 10};
  CHECK(plan_layered(large).value().lower_bound_groups == 5); // over half the budget
}

TEST_CASE("a chain of a million waves, and a million waves in one layer") {
  const WaveDag long_chain = chain(1'000'000, 3, 7);
  const MemoryPlan plan = plan_layered(long_chain).value();
  CHECK(plan.group_count() == 1'000'000);
  CHECK(plan.optimal);
  CHECK(first_violation(long_chain, plan) == std::nullopt);

  const WaveDag wide{.waves = std::vector<Wave>(1'000'000, {.frontier_bytes = 3}), .budget_bytes = 7};
  const MemoryPlan split = plan_layered(wide).value();
  CHECK(split.group_count() == 500'000);
  CHECK(first_violation(wide, split) == std::nullopt);
}

} // namespace
} // namespace tidegate::planning
