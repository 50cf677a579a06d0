// What the golden vectors (golden_test.cpp) do not have of the strategy `layered`.
#include "dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

using namespace test;

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

TEST_CASE(
    "all waves that are too large for a group are named at once, the first in the order of the plan first") {
  const WaveDag dag{
      .waves = {{.output_bytes = 7}, {.output_bytes = 1}, {.output_bytes = 9}, {.output_bytes = 8}},
      .dependencies = {{2, 0}},
      .budget_bytes = 6};
  const auto refused = plan_layered(dag);
  REQUIRE_FALSE(refused);
  std::vector<std::uint64_t> named{*refused.error().wave};
  for (const Error& other : refused.error().others) {
    named.push_back(*other.wave);
  }
  CHECK(named == std::vector<std::uint64_t>{2, 0, 3});
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
