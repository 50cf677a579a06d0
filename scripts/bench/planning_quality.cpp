// Measures plans over the generated families of the tests: the share that `compact` proves to have the
// fewest groups, and the groups of `compact` and `layered` over the lower bound. First by family and size,
// with the tests' budgets, most of which lie between the largest wave and three times it; then by budget.
// Rows divided by tabs. An argument is the effort.
#include "../../tests/planning/dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace {

using namespace tidegate::planning;

struct Tally {
  int dags = 0;
  int proved = 0;
  double compact_log = 0; // sums of logarithms, for geometric means
  double layered_log = 0;

  void add(const MemoryPlan& compact, const MemoryPlan& layered) {
    const auto bound = static_cast<double>(compact.lower_bound_groups);
    ++dags;
    proved += compact.optimal ? 1 : 0;
    compact_log += std::log(static_cast<double>(compact.group_count()) / bound);
    layered_log += std::log(static_cast<double>(layered.group_count()) / bound);
  }

  void print(const std::string& what, const char* aim) const {
    std::printf(
        "quality: %s, %d DAGs\tproved optimal %.1f %%; groups over the bound %.4f, layered %.4f\t%s\n",
        what.c_str(), dags, 100.0 * proved / dags, std::exp(compact_log / dags), std::exp(layered_log / dags),
        aim);
  }
};

void compare(const WaveDag& dag, std::uint64_t effort, std::initializer_list<Tally*> tallies) {
  const MemoryPlan compact = plan_compact(dag, {.effort = effort}).value();
  const MemoryPlan layered = plan_layered(dag).value();
  for (Tally* tally : tallies) {
    tally->add(compact, layered);
  }
}

void by_family(std::uint64_t effort) {
  constexpr int dags_per_row = 60;
  Tally all;
  for (const std::uint32_t waves : {30U, 100U, 300U, 1000U}) {
    for (std::size_t family = 0; family < test::family_names.size(); ++family) {
      test::Random random(waves * 10 + family);
      Tally row;
      for (int i = 0; i < dags_per_row; ++i) {
        compare(test::shuffled(test::random_dag(static_cast<test::Family>(family), waves, random), random),
                effort, {&row, &all});
      }
      row.print(std::string(test::family_names[family]) + ", " + std::to_string(waves) + " waves", "");
    }
  }
  all.print("all of them", "at least 75 %");
}

// The budget in tenths of the largest wave.
void by_budget(std::uint64_t effort) {
  constexpr int dags_per_family = 24;
  Tally all;
  for (const std::uint32_t waves : {100U, 300U, 1000U}) {
    for (const std::uint64_t tenths : {10U, 15U, 20U, 30U, 50U, 100U, 300U}) {
      Tally row;
      for (std::size_t family = 0; family < test::family_names.size(); ++family) {
        test::Random random(waves * 10 + family);
        for (int i = 0; i < dags_per_family; ++i) {
          WaveDag dag =
              test::shuffled(test::random_dag(static_cast<test::Family>(family), waves, random), random);
          std::uint64_t largest = 0;
          for (const Wave& wave : dag.waves) {
            largest = std::max(largest, test::plain_fused_bytes(wave));
          }
          dag.budget_bytes = dag.resident_graph_bytes + largest * tenths / 10;
          compare(dag, effort, {&row, &all});
        }
      }
      row.print("a budget of " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
                    " largest waves, " + std::to_string(waves) + " waves",
                "");
    }
  }
  all.print("all budgets", "at least 75 %");
}

} // namespace

int main(int argc, char** argv) {
  const std::uint64_t effort = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : default_effort;
  by_family(effort);
  by_budget(effort);
}
