// The page of run --html: its parts are all there, and names in its data stay data.
#include "app/run.hpp"
#include "engine/compile.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace tidegate;
using namespace tidegate::app;

namespace {

const std::string hostile =
    "</script><script>alert(1)</script><!-- \xe2\x80\xa8 \xe2\x80\xa9 \" \\ {{heading}}";

engine::RunReport hostile_document() {
  engine::RunReport report;
  engine::CompiledProgram compiled;
  compiled.written.ops.push_back({.name = hostile});
  compiled.written.waves.push_back({.name = hostile});
  compiled.program.buffers.push_back({.name = hostile, .bytes = 16});
  compiled.memory = {.offsets = {0}, .lifetimes = {{.lower = 0, .upper = 1}}};
  report.compiled = std::make_shared<const engine::CompiledProgram>(std::move(compiled));
  report.memory.arena_bytes = 16;
  report.timeline = runtime::Timeline{.names = {hostile, "wait"}};
  runtime::Lane lane{.name = "work-group 0", .spans = {}};
  lane.spans.push_back(
      {.begin_ns = 100, .end_ns = 150, .iteration = 2, .stage = 1, .tiles = runtime::TileRun{3, -1, 4}});
  lane.spans.push_back(
      {.kind = runtime::SpanKind::wait, .begin_ns = 150, .end_ns = 175, .name = 1, .iteration = 1});
  report.timeline->lanes.push_back(lane);
  return report;
}

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
  CHECK(script_safe("\xe2\x80") == "\xe2\x80");
  CHECK(script_safe("").empty());
}

TEST_CASE("a page has its parts once, and no element that a name made") {
  reporting.command = {"tidegate", "run", hostile};
  const std::string page = report_page(hostile_document(), hostile);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(count(page, "<script") == 1); // the data
  CHECK(count(page, "</script>") == 1);
  CHECK(count(page, "<!--") == 1);
  CHECK(count(page, "id=\"lanes\"") == 1);
  CHECK(count(page, "<rect ") >= 2);
  CHECK(page.find("{{data}}") == std::string::npos);
  CHECK(page.find("{{heading}}") != std::string::npos); // a name, and it stays one
  const std::size_t data = page.find("id=\"data\">") + 10;
  const auto report = nlohmann::json::parse(page.substr(data, page.find("</script>") - data));
  CHECK(report["kind"] == "run_report");
}

TEST_CASE("without a timeline there is none") {
  CHECK(report_page(engine::RunReport(), "").find("id=\"lanes\"") == std::string::npos);
}
