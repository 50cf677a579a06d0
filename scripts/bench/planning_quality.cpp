// How good plans are, over the generated families of the tests: the share that `compact` proves to have the
// fewest groups, and the groups of `compact` and `layered` over the lower bound. Rows divided by tabs. An
// argument is the effort.
#include "../../tests/planning/dag_support.hpp"
#include <tidegate/planning/compact.hpp>
#include <tidegate/planning/layered.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace tidegate::planning;

constexpr int dags_per_row = 60;

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
        "quality: %s, %d DAGs\tproved optimal %.0f %%; groups over the bound %.4f, layered %.4f\t%s\n",
        what.c_str(), dags, 100.0 * proved / dags, std::exp(compact_log / dags), std::exp(layered_log / dags),
        aim);
  }
};

} // namespace

int main(int argc, char** argv) {
  const std::uint64_t effort = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : default_effort;
  Tally all;
  for (const std::uint32_t waves : {30U, 100U, 300U, 1000U}) {
    for (std::size_t family = 0; family < test::family_names.size(); ++family) {
      test::Random random(waves * 10 + family);
      Tally row;
      for (int i = 0; i < dags_per_row; ++i) {
        const WaveDag dag =
            test::shuffled(test::random_dag(static_cast<test::Family>(family), waves, random), random);
        const MemoryPlan compact = plan_compact(dag, {.effort = effort}).value();
        const MemoryPlan layered = plan_layered(dag).value();
        row.add(compact, layered);
        all.add(compact, layered);
      }
      row.print(std::string(test::family_names[family]) + ", " + std::to_string(waves) + " waves", "");
    }
  }
  all.print("all of them", "at least 90 %");
}
