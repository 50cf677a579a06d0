// The page of run --report: its parts are all there, and names in its data stay data.
#include "app/report_page.hpp"
#include "app/run.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using namespace tidegate;
using namespace tidegate::app;

namespace {

const std::string hostile =
    "</script><script>alert(1)</script><!-- \xe2\x80\xa8 \xe2\x80\xa9 \" \\ {{script}}";

documents::RunReportDocument hostile_document() {
  engine::RunReport report;
  report.program.waves.push_back({.name = hostile, .text = "wave 0", .op = "op", .tiles = 4});
  report.program.buffers.push_back({.name = hostile, .bytes = 16, .alive = {.lower = 0, .upper = 1}});
  report.memory.arena_bytes = 16;
  report.timeline = engine::Timeline{.names = {hostile, "wait"}};
  engine::Lane lane{.name = "work-group 0", .spans = {}};
  lane.spans.push_back(
      {.begin_ns = 100, .end_ns = 150, .iteration = 2, .stage = 1, .tiles = engine::TileRun{3, -1, 4}});
  lane.spans.push_back(
      {.kind = engine::SpanKind::wait, .begin_ns = 150, .end_ns = 175, .name = 1, .iteration = 1});
  report.timeline->lanes.push_back(lane);
  return run_document(std::move(report), {});
}

const PageOrigin origin{.program = hostile, .command = {"tidegate", "run", hostile}, .version = "1.2"};

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

} // namespace

TEST_CASE("JSON in a script element holds nothing that ends it") {
  CHECK(script_safe(R"({"a":"</script><!--"})") == R"({"a":"\u003c/script>\u003c!--"})");
  CHECK(script_safe("\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"") == "\"\\u2028\\u2029\xe2\x80\xaa\"");
  CHECK(script_safe("\xe2\x80") == "\xe2\x80");
  CHECK(script_safe("").empty());
}

TEST_CASE("the data of a page are what was given") {
  const auto data = nlohmann::json::parse(script_safe(page_data(hostile_document(), origin)));
  CHECK(data["program_file"] == hostile);
  CHECK(data["command"][2] == hostile);
  CHECK(data["program"]["waves"][0]["name"] == hostile);
  CHECK(data["program"]["buffers"][0]["name"] == hostile);
  CHECK(data["report"]["kind"] == "run_report");
  CHECK(data["timeline"]["names"][0] == hostile);
  // Each span: kind, name, begin after the end before, length, iteration after that before, stage, tiles.
  CHECK(data["timeline"]["lanes"][0]["spans"] ==
        nlohmann::json({3, 0, 100, 50, 2, 1, 3, -1, 4, 4, 1, 0, 25, -1, -1, 0, 0, 0}));
  CHECK(data["timeline"]["until_met_ns"].is_null());
}

TEST_CASE("a page has its parts once, and no element that a name made") {
  const std::string page = report_page(hostile_document(), origin);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(count(page, "<script") == 2); // the data and the script
  CHECK(count(page, "</script>") == 2);
  CHECK(count(page, "<!--") == 1);
  CHECK(count(page, "prefers-color-scheme: dark") == 3); // in the style, in a picture and in the script
  CHECK(count(page, "<svg") == 1);
  CHECK(count(page, "function showTimeline") == 1);
  CHECK(page.find("{{style}}") == std::string::npos);
  CHECK(page.find("{{data}}") == std::string::npos);
  CHECK(page.find("{{script}}") != std::string::npos); // a name, and it stays one
}

TEST_CASE("without a timeline there is none") {
  const auto data = nlohmann::json::parse(page_data(run_document({}, {}), {}));
  CHECK(data["timeline"].is_null());
}
