#include "dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

using namespace test;

constexpr std::uint64_t quarter = std::uint64_t{1} << 62U;

TEST_CASE("fused bytes count scratch four times") {
  CHECK(fused_bytes({.frontier_bytes = 1, .scratch_bytes = 10, .output_bytes = 100}).value() == 141);
  CHECK(fused_bytes({.scratch_bytes = quarter - 1, .output_bytes = 3}).value() == u64_max);
  CHECK(error_of(fused_bytes({.scratch_bytes = quarter})) ==
        "byte_count_overflow: the fused wave scratch bytes do not fit 64 bits once wave 0 is counted");
  CHECK(error_of(fused_bytes({.frontier_bytes = u64_max, .scratch_bytes = quarter})) ==
        "byte_count_overflow: the fused wave scratch bytes do not fit 64 bits once wave 0 is counted");
  CHECK(error_of(fused_bytes({.frontier_bytes = u64_max, .output_bytes = 1})) ==
        "byte_count_overflow: the fused wave bytes do not fit 64 bits once wave 0 is counted");
}

TEST_CASE("a layer is split where the budget is full, next fit") {
  const WaveDag dag{
      .waves = {{.frontier_bytes = 4}, {.frontier_bytes = 7}, {.frontier_bytes = 3}, {.frontier_bytes = 1}},
      .dependencies = {{1, 3}},
      .resident_graph_bytes = 90,
      .budget_bytes = 100,
      .readback_bytes = 5};
  const MemoryPlan plan = plan_layered(dag).value();
  CHECK(plan.order == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(plan.group_begin == std::vector<std::uint32_t>{0, 1, 3, 4});
  CHECK(plan.group_fused_bytes == std::vector<std::uint64_t>{4, 10, 1});
  CHECK(plan.global_barriers() == 2);
  CHECK(plan.peak_frontier_bytes == 10);
  CHECK(plan.amortized_readback_bytes == 5);
  CHECK(plan.max_group_width == 2);
  CHECK(plan.lower_bound_groups == 2);
  CHECK_FALSE(plan.optimal);
}

TEST_CASE("the lower bound counts what must follow") {
  SUBCASE("bytes after a chain") {
    // Wave 0 alone, then 25 bytes in groups of 10.
    WaveDag dag{.waves = std::vector<Wave>(6, {.frontier_bytes = 5}), .budget_bytes = 10};
    dag.waves[0].frontier_bytes = 1;
    for (std::uint32_t wave = 1; wave < 6; ++wave) {
      dag.dependencies.push_back({0, wave});
    }
    const MemoryPlan plan = plan_layered(dag).value();
    CHECK(plan.lower_bound_groups == 4);
    CHECK(plan.optimal);
  }
  SUBCASE("waves over half the budget") {
    const WaveDag dag{.waves = std::vector<Wave>(5, {.frontier_bytes = 6}), .budget_bytes = 10};
    CHECK(plan_layered(dag).value().lower_bound_groups == 5);
  }
}

TEST_CASE("the checks come in order") {
  WaveDag dag{.waves = {{.frontier_bytes = 101}, {.frontier_bytes = u64_max, .output_bytes = 1}},
              .dependencies = {{1, 0}, {0, 1}},
              .resident_graph_bytes = 200,
              .budget_bytes = 100};
  CHECK(error_of(plan_layered(dag)).substr(0, 6) == "cycle:");
  dag.dependencies = {{0, 1}};
  CHECK(error_of(plan_layered(dag)) ==
        "group_over_budget: the resident graph bytes are 200 and the budget is 100 bytes");
  dag.resident_graph_bytes = 0;
  CHECK(error_of(plan_layered(dag)) ==
        "group_over_budget: wave 0 alone needs 101 bytes and a group may have 100");
  dag.budget_bytes = 101;
  CHECK(error_of(plan_layered(dag)) ==
        "byte_count_overflow: the fused wave bytes do not fit 64 bits once wave 1 is counted");
}

TEST_CASE("sums that overflow") {
  // Each wave fits, but the running sum exceeds 64 bits before it is compared with the budget.
  const WaveDag dag{.waves = {{.frontier_bytes = u64_max}, {.frontier_bytes = 1}}, .budget_bytes = u64_max};
  CHECK(error_of(plan_layered(dag)) == "byte_count_overflow: the barrier group fused wave budget bytes do "
                                       "not fit 64 bits once wave 1 is counted");
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

TEST_CASE("budgets of 0 and 2^64 - 1, and no waves") {
  CHECK(plan_layered({}).value().group_count() == 0);
  CHECK(plan_layered({}).value().optimal);
  CHECK(plan_layered({.waves = std::vector<Wave>(3)}).value().group_count() == 1);
  CHECK(error_of(plan_layered({.waves = {{.output_bytes = 1}}})).substr(0, 18) == "group_over_budget:");
  const WaveDag wide{.waves = {{.frontier_bytes = u64_max}}, .budget_bytes = u64_max};
  const MemoryPlan plan = plan_layered(wide).value();
  CHECK(plan.group_fused_bytes == std::vector<std::uint64_t>{u64_max});
  CHECK(first_violation(wide, plan) == std::nullopt);
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

TEST_CASE("errors read as sentences") {
  CHECK(worded({.code = ErrorCode::invalid_wave, .wave_count = 3, .before = 1, .after = 7}).message ==
        "the dependency of wave 7 on wave 1 is outside the 3 waves of the DAG");
  CHECK(worded({.code = ErrorCode::self_dependency, .wave = 4}).message == "wave 4 depends on itself");
  CHECK(worded({.code = ErrorCode::group_over_budget,
                .field = "resident graph bytes",
                .required_bytes = 2,
                .budget_bytes = 1})
            .message == "the resident graph bytes are 2 and the budget is 1 bytes");
  CHECK(worded({.code = ErrorCode::group_over_budget,
                .field = std::string(single_wave_bytes),
                .wave = 3,
                .required_bytes = 20,
                .budget_bytes = 10})
            .message == "wave 3 alone needs 20 bytes and a group may have 10");
  CHECK(worded({.code = ErrorCode::byte_count_overflow, .field = "output wave bytes", .wave = 1}).message ==
        "the output wave bytes do not fit 64 bits once wave 1 is counted");
  const WaveText letters = [](std::uint64_t index) { return std::string(1, static_cast<char>('a' + index)); };
  CHECK(worded({.code = ErrorCode::cycle,
                .before = 2,
                .after = 0,
                .unscheduled_waves = 4,
                .cycle = std::vector<std::uint32_t>{0, 2}},
               letters)
            .message == "the dependencies form a cycle, a -> c -> a, and keep 4 waves from running; "
                        "removing the dependency of a on c breaks this cycle");
}

} // namespace
} // namespace tidegate::planning
