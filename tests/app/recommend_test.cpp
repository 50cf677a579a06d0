// The next request that `recommend --from` makes of a report.
#include "app/run.hpp"

#include <doctest/doctest.h>

using namespace tidegate;

TEST_CASE("active tiles are the queue and the density of the next request") {
  documents::RunReportDocument document;
  document.evidence.topology = policy::TopologyEvidence{.frontier_density_bps = 10'000};
  document.evidence.promotion = policy::PromotionEvidence{.queue_len = 1'000 + 50};
  CHECK(app::next_request(document).queue_len == 1'050);
  CHECK(app::next_request(document).frontier_density_bps == 10'000);

  document.report.active = {{{.tiles = 100, .iterations = 10, .active_tiles = 20}}};
  document.report.telemetry.frontier_density_bps = 200;
  CHECK(app::next_request(document).queue_len == 20 + 50);
  CHECK(app::next_request(document).frontier_density_bps == 200);
}
