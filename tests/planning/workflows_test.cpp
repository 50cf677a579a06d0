// The strategy `compact` on real workflows (../shared/data/workflows, see its SOURCES.md); skipped elsewhere.
#include "dag_support.hpp"
#include <tidegate/planning/wave_dag.hpp>

#include <nlohmann/json.hpp>

namespace tidegate::planning {
namespace {

using namespace test;

const std::filesystem::path folder = TIDEGATE_SOURCE_DIR "/../shared/data/workflows";

WaveDag read_dag(const std::filesystem::path& path) {
  const nlohmann::json json = nlohmann::json::parse(std::ifstream(path));
  WaveDag dag{.budget_bytes = json.at("budget_bytes").get<std::uint64_t>()};
  for (const nlohmann::json& wave : json.at("waves")) {
    dag.waves.push_back({.frontier_bytes = wave.at("frontier_bytes").get<std::uint64_t>(),
                         .scratch_bytes = wave.at("scratch_bytes").get<std::uint64_t>(),
                         .output_bytes = wave.at("output_bytes").get<std::uint64_t>()});
  }
  for (const nlohmann::json& dependency : json.at("dependencies")) {
    dag.dependencies.push_back(
        {dependency.at("before").get<std::uint32_t>(), dependency.at("after").get<std::uint32_t>()});
  }
  dag.resident_graph_bytes = json.value("resident_graph_bytes", std::uint64_t{0});
  dag.readback_bytes = json.value("readback_bytes", std::uint64_t{0});
  return dag;
}

TEST_CASE("real workflows" * doctest::skip(!std::filesystem::exists(folder))) {
  int files = 0;
  int proved = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path().string());
    const WaveDag dag = read_dag(entry.path());
    const MemoryPlan layered = plan_layered(dag).value();
    const MemoryPlan plan = plan_compact(dag, {.effort = 3'000'000}).value();
    CHECK(first_violation(dag, layered).value_or("none") == "none");
    CHECK(first_violation(dag, plan).value_or("none") == "none");
    CHECK(plan.group_count() <= layered.group_count());
    ++files;
    proved += plan.optimal ? 1 : 0;
  }
  MESSAGE(proved << " of " << files << " proved optimal");
  CHECK(proved * 10 >= files * 8);
}

} // namespace
} // namespace tidegate::planning
