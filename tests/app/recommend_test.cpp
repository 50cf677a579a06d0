// The next request that `recommend --from` makes of a report.
#include "app/run.hpp"

#include <doctest/doctest.h>

using namespace tidegate;

TEST_CASE("what ran is the queue of the next request, and not the plan") {
  documents::RunReportDocument document;
  document.evidence.promotion = policy::PromotionEvidence{.queue_len = 1'050};
  document.report.tiles_processed = 70;
  CHECK(app::next_request(document).queue_len == 70);
  CHECK(app::next_request(document).requested_hit_capacity == 1);
  document.report.status = engine::RunStatus::planned;
  CHECK(app::next_request(document).queue_len == 1'050);
  document.report.hits.emplace();
  CHECK(app::next_request(document).requested_hit_capacity == 0);
}

TEST_CASE("active tiles are the density of the next request") {
  documents::RunReportDocument document;
  document.evidence.topology = policy::TopologyEvidence{.frontier_density_bps = 10'000};
  CHECK(app::next_request(document).frontier_density_bps == 10'000);
  document.report.active.emplace();
  document.report.telemetry.frontier_density_bps = 200;
  CHECK(app::next_request(document).frontier_density_bps == 200);
}

TEST_CASE("the widest frontier is the queue of the next traversal") {
  traversal::FrontierReport report;
  report.summary.widest_vertices = 60;
  report.telemetry.frontier_density_bps = 41;
  report.memory.budget_bytes = 1'000;
  const policy::LaunchRequest request = app::next_request(report);
  CHECK(request.queue_len == 60);
  CHECK(request.frontier_density_bps == 41);
  CHECK(request.requested_hit_capacity == 1);
  CHECK(request.device_memory_budget_bytes == 1'000);
}
