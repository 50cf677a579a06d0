// Rows of run's table that a sound run does not have.
#include "app/run.hpp"

using namespace tidegate;
using namespace tidegate::app;

TEST_CASE("lists of hits") {
  engine::RunReport report;
  report.hits = {
      {.list = "cut", .capacity = 5, .hits = 9, .dropped = 4, .needed_capacity = 9},
      {.list = "grown", .capacity = 9, .hits = 9, .dropped = 0, .needed_capacity = 9, .grown_from = 1}};
  const std::string table = run_table(run_rows(report), false);
  CHECK(table.find("\"cut\": 9, room for 5, 4 DROPPED\n") != std::string::npos);
  CHECK(table.find("\"grown\": 9, room for 9, grown from 1\n") != std::string::npos);
}

TEST_CASE("a queue whose ops publish items") {
  engine::RunReport report;
  report.queues = {{.wave = "\"tree\"",
                    .items = 1,
                    .items_remaining = 2,
                    .rounds = 3,
                    .publishing = engine::PublishingCounts{
                        .published = 9, .executed = 8, .needed_capacity = 7, .capacity = 6}}};
  const TableRows rows = run_rows(report).rows;
  CHECK(std::ranges::find(
            rows, std::vector<std::string>{"  queue",
                                           "\"tree\": 1 item; 9 published, 8 run, needed room for 7 of 6; 3 "
                                           "rounds, 0 requeues, 0 raised by age; 2 LEFT"}) != rows.end());
}

TEST_CASE("work-groups that gave up waiting") {
  const runtime::StuckGroup stuck{.group = 1,
                                  .iteration = 2,
                                  .stage = 1,
                                  .waves = {"\"copy\""},
                                  .counter = "arrivals at the barrier",
                                  .expected = 3,
                                  .seen = 2};
  engine::RunReport report;
  report.status = runtime::RunStatus::hang;
  report.stuck_groups = {stuck};
  const std::string table = run_table(run_rows(report), false);
  CHECK(table.find("  stuck") != std::string::npos);
  CHECK(table.find("work-group 1 in front of stage 1 (\"copy\"): arrivals at the barrier are 2, not 3\n") !=
        std::string::npos);

  traversal::FrontierReport traversal;
  traversal.status = runtime::RunStatus::hang;
  traversal.stuck_groups = {stuck};
  CHECK(run_table(run_rows(traversal), false)
            .find("work-group 1 after wave 2: arrivals at the barrier are 2, not 3\n") != std::string::npos);
}
