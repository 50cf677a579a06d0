// Pictures of plans, and names of waves.
#include "app/plan.hpp"
#include <tidegate/core/describe.hpp>

using namespace tidegate;
using namespace tidegate::app;

namespace {

PlannedDag planned(std::string_view json) {
  auto result = plan_document(json, {});
  REQUIRE(result);
  return *std::move(result);
}

} // namespace

TEST_CASE("names of waves that are alike have a part in common") {
  for (const auto& [one, other, shown] :
       {std::tuple("mProject_ID01", "mProject_ID02", "mProject ×2"),
        std::tuple("scan_12", "scan_7", "scan ×2"), std::tuple("scan12", "scan7", "scan ×2"),
        std::tuple("a.b c-7", "a.b c-8", "a.b c ×2"), std::tuple("#7", "#8", "# ×2"),
        std::tuple("_7", "_8", "_ ×2"), std::tuple("7", "8", ">7<"), std::tuple("2d", "3d", ">3d<")}) {
    const std::string picture =
        plan_svg(planned(fmt::format(
                     R"({{"waves":[{{"name":"{}","frontier_bytes":1,"scratch_bytes":0,"output_bytes":0}},
                         {{"name":"{}","frontier_bytes":1,"scratch_bytes":0,"output_bytes":0}}],
                 "dependencies":[],"budget_bytes":9}})",
                     one, other)),
                 {});
    CHECK(picture.find(shown) != std::string::npos);
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
  const std::string picture = plan_svg(planned(text), {});
  for (const std::string_view shown :
       {"no budget", ">left ×2<", ">5 bytes to 7 bytes<", ">waves ×2<", ">3 bytes each<", ">end<",
        ">12 bytes<", "×: number of similar waves", "1 arrow that others imply left out"}) {
    CHECK(picture.find(shown) != std::string::npos);
  }
  std::size_t arrows = 0;
  for (std::size_t at = 0; (at = picture.find("class=\"edge", at)) != std::string::npos; ++at) {
    ++arrows;
  }
  CHECK(arrows == 2);
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
