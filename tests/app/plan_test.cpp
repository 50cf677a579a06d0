// The plan command from document to document and picture; names of waves.
#include "app/plan.hpp"
#include <tidegate/core/describe.hpp>

using namespace tidegate;
using namespace tidegate::app;
using documents::Planner;

namespace {

// scan and sort may run together; wave 2 has no name.
constexpr std::string_view four_waves = R"({
  "waves": [{"name": "scan", "frontier_bytes": 10, "scratch_bytes": 1, "output_bytes": 2},
            {"name": "sort", "frontier_bytes": 3, "scratch_bytes": 0, "output_bytes": 2},
            {"frontier_bytes": 3, "scratch_bytes": 2, "output_bytes": 5},
            {"name": "join", "frontier_bytes": 1020, "scratch_bytes": 0, "output_bytes": 4}],
  "dependencies": [{"before": "scan", "after": 2}, {"before": 1, "after": "join"}, {"before": 2, "after": "join"}],
  "resident_graph_bytes": 24, "budget_bytes": 1048, "readback_bytes": 3})";

const PlanOptions compact{.planner = Planner::compact};

PlannedDag planned(std::string_view json, const PlanOptions& options = {}) {
  auto result = plan_document(json, options);
  REQUIRE(result);
  return *std::move(result);
}

} // namespace

TEST_CASE("a plan survives its document") {
  for (const PlanOptions& options : {PlanOptions{}, compact}) {
    const auto document = documents::decode<documents::FrontierMemoryPlan>(
        documents::encode(plan_to_document(planned(four_waves, options).plan, options)));
    REQUIRE(document);
    CHECK(memory_plan(*document) == planned(four_waves, options).plan);
  }
}

TEST_CASE("what names of waves that are alike have in common") {
  for (const auto& [name, common] :
       {std::pair("mProject_ID0000001", "mProject"), std::pair("scan_12", "scan"),
        std::pair("scan12", "scan"), std::pair("a.b c-7", "a.b c"), std::pair("#7", "#"),
        std::pair("_7", "_"), std::pair("7", "7"), std::pair("scan", "scan"), std::pair("2d", "2d"),
        std::pair("", "")}) {
    CHECK(common_name(name) == common);
  }
}

TEST_CASE("waves that are alike share a box, and what others imply is left out") {
  // left_1, left_2 -> two without a name and with equal bytes -> end, which waits for the first two as well
  const std::string_view text =
      R"({"waves":[{"name":"left_1","frontier_bytes":5,"scratch_bytes":0,"output_bytes":0},
                   {"name":"left_2","frontier_bytes":7,"scratch_bytes":0,"output_bytes":0},
                   {"frontier_bytes":3,"scratch_bytes":0,"output_bytes":0},
                   {"frontier_bytes":3,"scratch_bytes":0,"output_bytes":0},
                   {"name":"end","frontier_bytes":1,"scratch_bytes":0,"output_bytes":0}],
          "dependencies":[{"before":0,"after":2},{"before":1,"after":3},{"before":2,"after":4},
                          {"before":3,"after":4},{"before":0,"after":4},{"before":1,"after":4}],
          "budget_bytes":18446744073709551615})";
  const PlannedDag dag = planned(text);
  const BoxedPlan folded = box_plan(dag, {});
  REQUIRE(folded.boxes.size() == 3);
  CHECK(folded.boxes[0].name == "left ×2");
  CHECK(folded.boxes[0].bytes == "5 bytes to 7 bytes");
  CHECK(folded.boxes[1].name == "waves ×2");
  CHECK(folded.boxes[1].bytes == "3 bytes each");
  CHECK(folded.boxes[2].name == "end");
  CHECK(folded.edges == std::set<PlanEdge>{{0, 1}, {1, 2}});
  CHECK(folded.implied == 1);
  const std::string picture = plan_svg(dag, {});
  for (const std::string_view shown : {"no budget, critical path of 3 waves in red", ">12 bytes<",
                                       "×: number of similar waves", "1 arrow that others imply left out"}) {
    CHECK(picture.find(shown) != std::string::npos);
  }
  CHECK(picture.find("EiB") == std::string::npos);
}

TEST_CASE("a share of the budget is cut, so that only a full group shows all of it") {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [bytes, budget, text] :
       std::initializer_list<std::tuple<std::uint64_t, std::uint64_t, const char*>>{
           {7, 8, "87.5%"},
           {0, 8, "0.0%"},
           {8, 8, "100.0%"},
           {999'999, 1'000'000, "99.9%"},
           {largest - 1, largest, "99.9%"},
           {largest, largest, "100.0%"},
           {0, 0, ""}}) {
    CHECK(share_text(bytes, budget) == text);
  }
}
