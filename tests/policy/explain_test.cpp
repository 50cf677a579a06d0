// Explanations: the rules of topologies, and the decision's outcomes. The other sentences: app/transcripts/tables.txt.
#include "support.hpp"

#include <doctest/doctest.h>

namespace tidegate::policy {
namespace {

using namespace test;

TEST_CASE("every topology rule has its name and its sentence") {
  struct Case {
    std::uint16_t density, pressure;
    std::uint32_t nodes, edges, hot_windows;
    std::optional<Topology> previous;
    std::string_view outcome, because; // the end of the sentence
  };
  using enum Topology;
  constexpr std::optional<Topology> first{}; // no wave before
  constexpr std::string_view between =
      "density 6% is between the sparse threshold 5% and the dense threshold 40%";
  for (
      const Case& c : {
          Case{600, 8'500, 9, 0, 0, first, "memory_constrained by memory_pressure",
               "at or above the threshold 85%"},
          Case{600, 0, 9, 0, 0, first, "hybrid_frontier by between_densities", between},
          Case{600, 0, 9, 0, 0, hybrid_frontier, "hybrid_frontier by between_densities", between},
          Case{
              9'000, 0, 9, 0, 0, hybrid_frontier, "dense_frontier by dense_density",
              "0 edges stay below the fusion threshold 65536; the previous topology hybrid_frontier is not kept"},
          Case{9'000, 0, 9, 65'536, 3, first, "dense_frontier by dense_density",
               "not fused, because no opcodes or windows are hot"},
          Case{9'000, 0, 0, 65'536, 4, first, "dense_frontier by dense_density",
               "not fused, because there is no graph"},
          Case{600, 8'250, 9, 0, 0, memory_constrained, "memory_constrained by hold_memory_constrained",
               "would give hybrid_frontier; memory_constrained is kept down to 82.5%"},
          Case{700, 0, 9, 0, 0, sparse_frontier, "sparse_frontier by hold_sparse",
               "would give hybrid_frontier; sparse_frontier is kept up to 7.5%"},
          Case{300, 0, 9, 0, 0, hybrid_frontier, "hybrid_frontier by hold_hybrid_from_sparse",
               "would give sparse_frontier; hybrid_frontier is kept down to 2.5%"},
          Case{4'100, 0, 9, 65'536, 4, hybrid_frontier, "hybrid_frontier by hold_hybrid_from_dense",
               "would give fused_dense; hybrid_frontier is kept up to 42.5%"},
          Case{3'800, 0, 9, 0, 0, dense_frontier, "dense_frontier by hold_dense",
               "would give hybrid_frontier; dense_frontier is kept down to 37.5%"},
          Case{3'800, 0, 9, 65'536, 4, fused_dense, "fused_dense by hold_fused",
               "would give hybrid_frontier; fused_dense is kept down to 37.5%"},
      }) {
    LaunchRequest request = LaunchRequest::direct(10, 64, 64);
    request.hot_window_count = c.hot_windows;
    request.graph_node_count = c.nodes;
    request.graph_edge_count = c.edges;
    request.frontier_density_bps = c.density;
    request.memory_pressure_bps = c.pressure;
    const auto decision = decide({}, request, c.previous);
    REQUIRE(error_of(decision) == "none");
    const ExplanationStep step = explain({}, request, *decision).at(3);
    const std::string line = step.outcome + " by " + step.rule + ": " + step.because;
    CAPTURE(line);
    CHECK(line.starts_with(c.outcome));
    CHECK(line.ends_with(c.because));
  }
}

TEST_CASE("random requests: every step in order, with the decision's outcome") {
  Random random(seed());
  int explained_requests = 0;
  for (int round = 0; round < 5'000; ++round) {
    CAPTURE(round);
    const LaunchPolicy policy = random.policy();
    const LaunchRequest request = random.request();
    const auto decision = decide(policy, request, random.previous_topology());
    if (!decision) {
      continue;
    }
    ++explained_requests;
    const std::vector<ExplanationStep> trace = explain(policy, request, *decision);
    const LaunchRecommendation& made = decision->recommendation;
    const std::array<std::pair<std::string_view, std::string>, 11> expected{
        {{"frontier_density_bps", std::to_string(decision->effective.frontier_density_bps)},
         {"memory_pressure_bps", std::to_string(decision->effective.memory_pressure_bps)},
         {"promotion", trace[2].outcome},
         {"topology", std::string(name(made.topology))},
         {"worker_groups", std::to_string(made.worker_groups)},
         {"geometry", fmt::format("{} x {}", made.geometry.dispatch_grid[0], made.geometry.workgroup_size_x)},
         {"pressure", std::string(name(made.pressure))},
         {"hit_capacity", std::to_string(made.hit_capacity)},
         {"estimated_peak_device_bytes", std::to_string(made.estimated_peak_device_bytes)},
         {"execution_mode", std::string(name(made.execution_mode))},
         {"age_priority_work", made.age_priority_work ? "yes" : "no"}}};
    CHECK((trace[2].outcome == "none") == !(made.promote_hot_opcodes || made.promote_hot_windows));
    REQUIRE(trace.size() == expected.size());
    for (std::size_t i = 0; i < trace.size(); ++i) {
      CAPTURE(trace[i].step);
      REQUIRE(trace[i].step == expected[i].first);
      REQUIRE(trace[i].outcome == expected[i].second);
      REQUIRE_FALSE(trace[i].rule.empty());
      REQUIRE(trace[i].because.find("  ") == std::string::npos);
    }
  }
  CHECK(explained_requests > 2'500);
}

} // namespace
} // namespace tidegate::policy
