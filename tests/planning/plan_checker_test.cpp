// The checker on correct plans with one fault each.
#include "dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

using namespace test;

// 0
// 1 2
// 3, where 2 can move.
WaveDag diamond() {
  return {.waves = {{.frontier_bytes = 10, .scratch_bytes = 1, .output_bytes = 2},
                    {.frontier_bytes = 20, .scratch_bytes = 2, .output_bytes = 1},
                    {.frontier_bytes = 30, .scratch_bytes = 3, .output_bytes = 7},
                    {.frontier_bytes = 40, .scratch_bytes = 4, .output_bytes = 3}},
          .dependencies = {{0, 1}, {0, 2}, {1, 3}, {2, 3}},
          .resident_graph_bytes = 100,
          .budget_bytes = 180,
          .readback_bytes = 4};
}

struct Corruption {
  std::string named;
  std::function<void(WaveDag&, MemoryPlan&)> corrupt;
};

TEST_CASE("a correct plan has no violation, and every corruption of it is named") {
  const std::string unsound_groups = "group_begin does not divide the order of the waves into groups";
  const std::vector<Corruption> corruptions{
      {"none", [](auto&, auto&) {}},
      {unsound_groups, [](auto&, auto& plan) { plan.group_begin.clear(); }},
      {unsound_groups, [](auto&, auto& plan) { plan.group_begin[0] = 1; }},
      {"group 0 is empty", [](auto&, auto& plan) { plan.group_begin.insert(plan.group_begin.begin(), 0); }},
      {unsound_groups, [](auto&, auto& plan) { plan.group_begin[2] = 0; }},
      {unsound_groups, [](auto&, auto& plan) { plan.group_begin[3] = 9; }},
      {unsound_groups, [](auto&, auto& plan) { plan.group_begin.pop_back(); }},
      {"there are 3 groups and 2 figures of fused bytes",
       [](auto&, auto& plan) { plan.group_fused_bytes.pop_back(); }},
      {"group 1 holds wave 4, and the DAG has 4 waves", [](auto&, auto& plan) { plan.order[2] = 4; }},
      {"wave 1 is in group 1 and again in group 1", [](auto&, auto& plan) { plan.order[2] = 1; }},
      {"wave 3 is in no group",
       [](auto&, auto& plan) {
         plan.order.pop_back();
         plan.group_begin.pop_back();
         plan.group_fused_bytes.pop_back();
       }},
      {"dependency 0: wave 0 must run before wave 1, and they are in groups 1 and 0",
       [](auto&, auto& plan) { std::swap(plan.order[0], plan.order[1]); }},
      {"dependency 4 joins waves 3 and 8, and the DAG has 4 waves",
       [](auto& dag, auto&) {
         dag.dependencies.push_back({3, 8});
       }},
      {"dependency 4: wave 3 must run before wave 3, and they are in groups 2 and 2",
       [](auto& dag, auto&) {
         dag.dependencies.push_back({3, 3});
       }},
      {"the resident graph needs 181 bytes and the budget is 180 bytes",
       [](auto& dag, auto&) { dag.resident_graph_bytes = 181; }},
      {"group 1 needs 78 fused bytes and the budget leaves 77",
       [](auto& dag, auto&) { dag.budget_bytes = 177; }},
      {"group 2 needs more than 2^64 fused bytes and the budget leaves 80",
       [](auto& dag, auto&) { dag.waves[3].scratch_bytes = u64_max / 2; }},
      {"fused_bytes of group 1 are stated as 77, but the waves need 78",
       [](auto&, auto& plan) { --plan.group_fused_bytes[1]; }},
      {"peak_frontier_bytes is 51, but the groups have 50",
       [](auto&, auto& plan) { ++plan.peak_frontier_bytes; }},
      {"peak_scratch_bytes is 4, but the groups have 5",
       [](auto&, auto& plan) { --plan.peak_scratch_bytes; }},
      {"peak_output_bytes is 9, but the groups have 8", [](auto&, auto& plan) { ++plan.peak_output_bytes; }},
      {"amortized_readback_bytes is 4, but the groups have 8",
       [](auto&, auto& plan) { plan.amortized_readback_bytes = 4; }},
      {"amortized_readback_bytes is 8, but the groups have 9",
       [](auto& dag, auto&) { dag.readback_bytes = 9; }},
      {"max_group_width is 3, but the groups have 2", [](auto&, auto& plan) { ++plan.max_group_width; }},
      {"lower_bound_groups is 4 and the plan has only 3 groups",
       [](auto&, auto& plan) { ++plan.lower_bound_groups; }},
      {"lower_bound_groups is 2 and the longest chain has 3 waves",
       [](auto&, auto& plan) { --plan.lower_bound_groups; }},
      {"optimal is false, with 3 groups and lower_bound_groups 3",
       [](auto&, auto& plan) { plan.optimal = false; }},
  };
  for (const Corruption& corruption : corruptions) {
    WaveDag dag = diamond();
    MemoryPlan plan = plan_layered(dag).value();
    corruption.corrupt(dag, plan);
    CHECK(first_violation(dag, plan).value_or("none") == corruption.named);
  }
}

TEST_CASE("a bound below the bytes is named") {
  const WaveDag dag{.waves = std::vector<Wave>(4, {.frontier_bytes = 5}), .budget_bytes = 10};
  MemoryPlan plan = plan_layered(dag).value();
  plan.lower_bound_groups = 1;
  CHECK(first_violation(dag, plan) == "lower_bound_groups is 1 and the waves' bytes alone fill 2 groups");
  plan.lower_bound_groups = 2;
  plan.optimal = false;
  CHECK(first_violation(dag, plan) == "optimal is false, with 2 groups and lower_bound_groups 2");
}

// One number of the plan, anywhere in it, changed by a little or a lot: only the order within a group is
// free.
TEST_CASE("a change of any single number is detected") {
  Random random(seed());
  for (int i = 0; i < 2000; ++i) {
    const WaveDag dag =
        shuffled(random_dag(static_cast<Family>(i % 5), 2 + random.below(20), random), random);
    const MemoryPlan plan = plan_compact(dag, {.effort = 1000}).value();
    MemoryPlan changed = plan;
    const auto change = [&](auto& number) {
      const auto old = number;
      while (number == old) {
        number = static_cast<std::remove_reference_t<decltype(number)>>(
            random.chance(50) ? old + random.between(0, 2) - 1 : random.between(0, u64_max));
      }
    };
    const std::uint64_t field = random.between(0, 8);
    switch (field) {
    case 0: change(changed.order[random.below(changed.order.size())]); break;
    case 1: change(changed.group_begin[random.below(changed.group_begin.size())]); break;
    case 2: change(changed.group_fused_bytes[random.below(changed.group_fused_bytes.size())]); break;
    case 3: change(changed.peak_frontier_bytes); break;
    case 4: change(changed.peak_scratch_bytes); break;
    case 5: change(changed.peak_output_bytes); break;
    case 6: change(changed.amortized_readback_bytes); break;
    case 7: change(changed.max_group_width); break;
    default: changed.optimal = !changed.optimal; break;
    }
    CAPTURE(i);
    CAPTURE(field);
    CHECK(first_violation(dag, plan).value_or("none") == "none");
    CHECK(first_violation(dag, changed) != std::nullopt);
  }
}

} // namespace
} // namespace tidegate::planning
