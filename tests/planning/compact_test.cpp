// The strategy `compact`, compared with brute force if possible, and always with the other planners and the
// checker.
#include "dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

namespace tidegate::planning {
namespace {

using namespace test;
using Objective = CompactOptions::Objective;

// The fewest groups of a DAG of about ten waves, by dynamic programming over all sets of waves: one more
// group may hold any waves that fit and depend only on the set.
std::uint32_t fewest_groups(const WaveDag& dag) {
  const std::size_t waves = dag.waves.size();
  const std::uint32_t sets = 1U << waves;
  std::vector<std::uint32_t> needs(waves);
  for (const Dependency& dependency : dag.dependencies) {
    needs[dependency.after] |= 1U << dependency.before;
  }
  const auto fits = [&](std::uint32_t set) {
    std::uint64_t bytes = 0;
    for (std::size_t wave = 0; wave < waves; ++wave) {
      bytes += (set >> wave & 1U) != 0 ? plain_fused_bytes(dag.waves[wave]) : 0;
    }
    return bytes <= dag.budget_bytes - dag.resident_graph_bytes;
  };
  std::vector<std::uint32_t> groups(sets, u32_max);
  groups[0] = 0;
  for (std::uint32_t done = 0; done < sets; ++done) {
    std::uint32_t ready = 0;
    for (std::size_t wave = 0; wave < waves; ++wave) {
      ready |= (done >> wave & 1U) == 0 && (needs[wave] & ~done) == 0 ? 1U << wave : 0;
    }
    for (std::uint32_t load = ready; load != 0 && groups[done] != u32_max; load = (load - 1) & ready) {
      if (groups[done | load] > groups[done] + 1 && fits(load)) {
        groups[done | load] = groups[done] + 1;
      }
    }
  }
  return groups[sets - 1];
}

std::uint64_t peak(const MemoryPlan& plan) {
  return plan.group_fused_bytes.empty()
             ? 0
             : *std::max_element(plan.group_fused_bytes.begin(), plan.group_fused_bytes.end());
}

// A textbook list scheduler: group by group, the ready wave with the longest tail first, then the largest; or
// the largest first.
std::size_t groups_of_list_schedule(const WaveDag& dag, bool largest_first) {
  const std::size_t waves = dag.waves.size();
  std::vector<std::uint32_t> tail(waves);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dependency& dependency : dag.dependencies) {
      if (tail[dependency.before] < tail[dependency.after] + 1) {
        tail[dependency.before] = tail[dependency.after] + 1;
        changed = true;
      }
    }
  }
  std::vector<std::uint32_t> order(waves);
  for (std::uint32_t wave = 0; wave < waves; ++wave) {
    order[wave] = wave;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint64_t size_a = plain_fused_bytes(dag.waves[a]);
    const std::uint64_t size_b = plain_fused_bytes(dag.waves[b]);
    return largest_first && size_a != size_b ? size_a > size_b
           : tail[a] != tail[b]              ? tail[a] > tail[b]
                                             : size_a > size_b;
  });
  std::vector<std::uint32_t> waiting_for(waves);
  for (const Dependency& dependency : dag.dependencies) {
    ++waiting_for[dependency.after];
  }
  std::vector<bool> placed(waves);
  std::size_t groups = 0;
  for (std::size_t count = 0; count < waves; ++groups) {
    std::uint64_t room = dag.budget_bytes - dag.resident_graph_bytes;
    std::vector<bool> in_group(waves);
    for (const std::uint32_t wave : order) {
      if (!placed[wave] && waiting_for[wave] == 0 && plain_fused_bytes(dag.waves[wave]) <= room) {
        room -= plain_fused_bytes(dag.waves[wave]);
        placed[wave] = in_group[wave] = true;
        ++count;
      }
    }
    for (const Dependency& dependency : dag.dependencies) {
      waiting_for[dependency.after] -= in_group[dependency.before] ? 1 : 0;
    }
  }
  return groups;
}

TEST_CASE("compact agrees with brute force on tiny DAGs") {
  Random random(seed());
  int proved = 0;
  constexpr int instances = 1000;
  for (int i = 0; i < instances; ++i) {
    const auto family = static_cast<Family>(random.below(family_names.size()));
    const WaveDag dag =
        shuffled(random_dag(family, static_cast<std::uint32_t>(random.between(1, 9)), random), random);
    CAPTURE(i);
    const MemoryPlan plan = plan_compact(dag).value();
    const std::uint32_t fewest = fewest_groups(dag);
    CHECK(plan.lower_bound_groups <= fewest);
    CHECK(plan.group_count() >= fewest);
    if (plan.optimal) {
      CHECK(plan.group_count() == fewest);
      ++proved;
    }
    CHECK(plan_layered(dag).value().lower_bound_groups <= fewest);
    const MemoryPlan quick = plan_compact(dag, {.effort = 0}).value();
    CHECK(quick.lower_bound_groups <= fewest);
  }
  CHECK(proved == instances); // small enough to be decided completely
}

TEST_CASE("DAGs of up to 20 waves are proved to have the fewest groups") {
  Random random(seed());
  for (int i = 0; i < 200; ++i) {
    const auto family = static_cast<Family>(random.below(family_names.size()));
    const WaveDag dag = random_dag(family, static_cast<std::uint32_t>(random.between(10, 20)), random);
    CAPTURE(i);
    CHECK(plan_compact(dag).value().optimal);
  }
}

TEST_CASE("every planner passes the checker on every family") {
  Random random(seed());
  int proved = 0;
  constexpr int instances = 3000;
  for (int i = 0; i < instances; ++i) {
    const auto family = static_cast<Family>(i % family_names.size());
    const auto waves = static_cast<std::uint32_t>(random.between(1, i % 50 == 0 ? 120 : 24));
    const WaveDag dag = shuffled(random_dag(family, waves, random), random);
    INFO("instance ", i, ", ", family_names[static_cast<std::size_t>(family)]);
    constexpr std::uint64_t effort = 20'000;
    const MemoryPlan layered = plan_layered(dag).value();
    const MemoryPlan compact = plan_compact(dag, {.effort = effort}).value();
    const MemoryPlan even = plan_compact(dag, {.objective = Objective::peak, .effort = effort}).value();
    CHECK(first_violation(dag, layered).value_or("none") == "none");
    CHECK(first_violation(dag, compact).value_or("none") == "none");
    CHECK(first_violation(dag, even).value_or("none") == "none");
    for (const Objective objective : {Objective::groups, Objective::peak}) { // with any effort
      const MemoryPlan plan =
          plan_compact(dag, {.objective = objective, .effort = random.between(0, 3000)}).value();
      CHECK(first_violation(dag, plan).value_or("none") == "none");
    }
    CHECK(compact.group_count() <= layered.group_count());
    CHECK(compact.group_count() <= groups_of_list_schedule(dag, false));
    CHECK(compact.group_count() <= groups_of_list_schedule(dag, true));
    CHECK(compact.lower_bound_groups >= layered.lower_bound_groups);
    CHECK(even.group_count() == compact.group_count());
    CHECK(peak(even) <= peak(compact));
    proved += compact.optimal ? 1 : 0;
  }
  CHECK(proved >= instances * 9 / 10);
}

TEST_CASE("lower bounds") {
  const auto bound_of = [](const WaveDag& dag) {
    return plan_compact(dag, {.effort = 0}).value().lower_bound_groups;
  };
  const auto dag_of = [](const std::vector<std::uint64_t>& sizes, std::vector<Dependency> dependencies,
                         std::uint64_t budget) {
    WaveDag dag{.dependencies = std::move(dependencies), .budget_bytes = budget};
    for (const std::uint64_t size : sizes) {
      dag.waves.push_back({.frontier_bytes = size});
    }
    return dag;
  };
  CHECK(bound_of(chain(5, 1, 10)) == 5);
  CHECK(bound_of(dag_of({4, 4, 4, 4}, {}, 10)) == 2);       // bytes
  CHECK(bound_of(dag_of({6, 6, 6}, {}, 11)) == 3);          // over half the budget
  CHECK(bound_of(dag_of({4, 4, 4, 4, 4, 4}, {}, 11)) == 3); // three to a group, not quite
  // one before, two groups between, one after
  CHECK(bound_of(dag_of({1, 5, 5, 5, 1}, {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}, 10)) == 4);
  CHECK(bound_of(dag_of({0, 0}, {{0, 1}}, 0)) == 2);
}

TEST_CASE("waves with slack move to later groups, and peak spreads the bytes over as many groups") {
  // Layered: {0 1} {2}
  // {3}: waves 1 and 2 are ready at once, and 2 does not fit with 0 and 1.
  const WaveDag dag{.waves = {{.frontier_bytes = 6}, {.frontier_bytes = 5}, {.frontier_bytes = 4}},
                    .dependencies = {{0, 2}},
                    .budget_bytes = 10};
  CHECK(plan_layered(dag).value().group_count() == 3);
  const MemoryPlan plan = plan_compact(dag).value();
  CHECK(plan.order == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(plan.group_begin == std::vector<std::uint32_t>{0, 1, 3});
  CHECK(plan.optimal);
  // Two groups in both cases; the fullest holds 10 bytes at first and 6 in the end.
  const WaveDag dozen{.waves = std::vector<Wave>(12, {.frontier_bytes = 1}), .budget_bytes = 10};
  CHECK(peak(plan_compact(dozen).value()) == 10);
  const MemoryPlan even = plan_compact(dozen, {.objective = Objective::peak}).value();
  CHECK(even.group_count() == 2);
  CHECK(peak(even) == 6);
}

TEST_CASE("compact gives the same plan every time") {
  Random random(7);
  for (const Family family : {Family::layered_random, Family::series_parallel, Family::chains_with_fans}) {
    const WaveDag dag = random_dag(family, 150, random);
    const CompactOptions options{.effort = 300'000};
    CHECK(plan_compact(dag, options).value() == plan_compact(dag, options).value());
    const CompactOptions even{.objective = Objective::peak, .effort = 300'000};
    CHECK(plan_compact(dag, even).value() == plan_compact(dag, even).value());
  }
}

TEST_CASE("compact refuses what layered refuses") {
  CHECK(plan_compact({.waves = {{}, {}}, .dependencies = {{0, 1}, {1, 0}}}).error().message ==
        plan_layered({.waves = {{}, {}}, .dependencies = {{0, 1}, {1, 0}}}).error().message);
  const WaveDag tight{.waves = {{.frontier_bytes = 1}, {.frontier_bytes = 2}}, .budget_bytes = 1};
  CHECK(plan_compact(tight).error().message == plan_layered(tight).error().message);
}

TEST_CASE("extreme numbers") {
  constexpr std::uint64_t half = u64_max / 2;
  const std::pair<WaveDag, std::size_t> cases[]{
      {chain(50'000, 1, 10), 50'000},
      {{.readback_bytes = 5}, 0},
      {{.waves = std::vector<Wave>(5), .dependencies = {{0, 1}, {0, 1}, {2, 1}}}, 2}, // 0 bytes, budget 0
      {{.waves = {{.frontier_bytes = half}, {.frontier_bytes = half + 1}, {.frontier_bytes = 1}},
        .dependencies = {{0, 2}},
        .budget_bytes = u64_max},
       2}, // two halves together
      {{.waves = {{.frontier_bytes = u64_max}, {}, {.frontier_bytes = u64_max}},
        .dependencies = {{0, 1}, {1, 2}},
        .budget_bytes = u64_max},
       3}};
  for (const auto& [dag, groups] : cases) {
    for (const Objective objective : {Objective::groups, Objective::peak}) {
      const MemoryPlan plan = plan_compact(dag, {.objective = objective}).value();
      CHECK(plan.group_count() == groups);
      CHECK(plan.optimal);
      CHECK(first_violation(dag, plan).value_or("none") == "none");
    }
  }
}

} // namespace
} // namespace tidegate::planning
