// The plan command from document to document and picture; names of waves.
#include "app/plan.hpp"
#include <tidegate/core/decode.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace tidegate;
using namespace tidegate::commands;
using documents::PlanObjective;
using documents::PlanStrategy;

namespace {

// scan and sort may run together; wave 2 has no name.
constexpr std::string_view four_waves = R"({
  "waves": [{"name": "scan", "frontier_bytes": 10, "scratch_bytes": 1, "output_bytes": 2},
            {"name": "sort", "frontier_bytes": 3, "scratch_bytes": 0, "output_bytes": 2},
            {"frontier_bytes": 3, "scratch_bytes": 2, "output_bytes": 5},
            {"name": "join", "frontier_bytes": 1020, "scratch_bytes": 0, "output_bytes": 4}],
  "dependencies": [{"before": "scan", "after": 2}, {"before": 1, "after": "join"}, {"before": 2, "after": "join"}],
  "resident_graph_bytes": 24, "budget_bytes": 1048, "readback_bytes": 3})";

constexpr PlanOptions compact{.strategy = PlanStrategy::compact};

PlannedDag planned(std::string_view json, const PlanOptions& options = {}) {
  auto result = plan_document(json, options);
  REQUIRE(result);
  return *std::move(result);
}

Error refusal(std::string_view json, const PlanOptions& options = {}) {
  const auto result = plan_document(json, options);
  REQUIRE_FALSE(result);
  return result.error();
}

std::string plan_json(std::string_view json, const PlanOptions& options) {
  std::string answer;
  REQUIRE(plan(json, options, documents::Style::compact, answer));
  return answer;
}

// A DAG whose waves have the names and no bytes.
documents::NamedWaveDag dag_of(const std::vector<std::string>& names,
                               std::vector<std::pair<Identifier, Identifier>> dependencies = {}) {
  documents::NamedWaveDag dag;
  for (const std::string& name : names) {
    dag.waves.push_back({.name = name, .bytes = {}});
  }
  for (auto& [before, after] : dependencies) {
    dag.dependencies.push_back({.before = std::move(before), .after = std::move(after)});
  }
  return dag;
}

Identifier named(std::string_view name) {
  return Identifier(name);
}

Identifier numbered(std::uint64_t number) {
  return Identifier(number);
}

} // namespace

TEST_CASE("a DAG becomes a plan") {
  CHECK(
      plan_json(four_waves, {}) ==
      R"({"kind":"frontier_memory_plan","schema_version":1,"strategy":"layered","barriers":{"groups":[)"
      R"({"waves":[0,1],"fused_bytes":21},{"waves":[2],"fused_bytes":16},{"waves":[3],"fused_bytes":1024}],)"
      R"("global_barriers":2},"peak_frontier_bytes":1020,"peak_scratch_bytes":2,"peak_output_bytes":5,)"
      R"("amortized_readback_bytes":5,"max_group_width":2,"lower_bound_groups":3,"optimal":true})");
  const std::string json = plan_json(four_waves, compact);
  CHECK(json.find(R"("strategy":"compact","objective":"groups","barriers")") != std::string::npos);
  const std::string peak =
      plan_json(four_waves, {.strategy = PlanStrategy::compact, .objective = PlanObjective::peak});
  CHECK(peak.find(R"("strategy":"compact","objective":"peak","barriers")") != std::string::npos);
}

TEST_CASE("a plan survives its document") {
  for (const PlanOptions& options : {PlanOptions{}, compact}) {
    const auto document = documents::decode<documents::FrontierMemoryPlan>(plan_json(four_waves, options));
    REQUIRE(document);
    CHECK(memory_plan(*document) == planned(four_waves, options).plan);
  }
}

TEST_CASE("the budget of the options replaces the document's") {
  CHECK(planned(four_waves, {.budget_bytes = 5000}).named.dag.budget_bytes == 5000);
  const Error error = refusal(four_waves, {.budget_bytes = 1047});
  CHECK(describe(error) == "tidegate: error: \"join\" alone needs 1024 bytes and a group may have 1023 "
                           "[group_over_budget]\n"
                           "  at: /waves/3\n"
                           "  fix: raise the budget to 1048 bytes or more, or make the wave smaller");
  CHECK(error.required_bytes == 1024);
  CHECK(error.budget_bytes == 1023);
  CHECK(refusal(four_waves, {.budget_bytes = 0}).pointer == "/resident_graph_bytes");
}

TEST_CASE("refusals of the document come before those of the planner") {
  CHECK(refusal("{").code == ErrorCode::syntax_error);
  CHECK(refusal(R"({"waves":[]})").code == ErrorCode::missing_key);
  std::string answer = "kept";
  CHECK_FALSE(plan("[]", {}, documents::Style::compact, answer));
  CHECK(answer == "kept");
}

TEST_CASE("the table shows each group, what it leaves, and the bound") {
  CHECK(plan_table(planned(four_waves), {}, false) ==
        "layered: 4 waves in 3 groups, 2 barriers, proved to be the fewest\n"
        "\n"
        "group  waves  fused bytes  of budget                  left  which\n"
        "    0      2     21 bytes       2.0%  ▏         1003 bytes  scan, sort\n"
        "    1      1     16 bytes       1.5%  ▏         1008 bytes  2\n"
        "    2      1        1 KiB     100.0%  ████████     0 bytes  join\n"
        "\n"
        "budget of a group  1 KiB: 1 KiB less the resident graph's 24 bytes\n"
        "largest group      1 KiB 100.0%\n"
        "peaks              1020 bytes frontier, 2 bytes scratch, 5 bytes output\n"
        "readback           5 bytes\n"
        "widest group       2 waves\n"
        "lower bound        3 groups\n");
  const std::string bold_first =
      "\x1b[1mcompact: 4 waves in 3 groups, 2 barriers, proved to be the fewest\x1b[0m\n";
  CHECK(plan_table(planned(four_waves, compact), compact, true).starts_with(bold_first));
  const std::string nothing = plan_table(planned(R"({"waves":[],"budget_bytes":0})"), {}, false);
  CHECK(
      nothing.starts_with("layered: 0 waves in 0 groups, 0 barriers, proved to be the fewest\n\nbudget of"));
}

TEST_CASE("the picture has a cluster per group and one critical path") {
  const PlannedDag dag = planned(four_waves);
  const std::string head = R"(digraph tidegate {
  rankdir=TB; newrank=true; ranksep=0.35; nodesep=0.15;
  label="layered: 4 waves in 3 groups, 2 barriers, proved to be the fewest\lbudget of a group 1 KiB, )"
                           R"(critical path of 3 waves in red\l)";
  const std::string style = R"("; labelloc=t; labeljust=l;
  fontname="Helvetica"; fontsize=14;
  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", fillcolor=white, color="#5b6b7b", height=0.4, margin="0.1,0.05"];
  edge [color="#7a8a9a", arrowsize=0.6];
)";
  const std::string first_group = R"(  subgraph cluster_0 {
    label=""; style="rounded,filled"; color="#b5c3d1"; fillcolor="#f2f7fb";
    g0 [shape=plaintext, style="", label="group 0\l21 bytes, 2.0%\l"];
    w0 [label="scan\n16 bytes", color="#c0392b", penwidth=2];
)";
  CHECK(plan_dot(dag, {}, {}) == head + style + first_group + R"(    w1 [label="sort\n5 bytes"];
    {rank=same; g0; w0; w1};
  }
  subgraph cluster_1 {
    label=""; style="rounded,filled"; color="#b5c3d1"; fillcolor="#f2f7fc";
    g1 [shape=plaintext, style="", label="group 1\l16 bytes, 1.5%\l"];
    w2 [label="2\n16 bytes", color="#c0392b", penwidth=2];
    {rank=same; g1; w2};
  }
  subgraph cluster_2 {
    label=""; style="rounded,filled"; color="#b5c3d1"; fillcolor="#7fb2dd";
    g2 [shape=plaintext, style="", label="group 2\l1 KiB, 100.0%\l"];
    w3 [label="join\n1 KiB", color="#c0392b", penwidth=2];
    {rank=same; g2; w3};
  }
  g0 -> g1 [style=invis, weight=100];
  g1 -> g2 [style=invis, weight=100];
  w0 -> w2 [color="#c0392b", penwidth=2.2];
  w1 -> w3;
  w2 -> w3 [color="#c0392b", penwidth=2.2];
}
)");
  CHECK(plan_dot(dag, {}, {.most_boxes = 0}) == plan_dot(dag, {}, {.most_boxes = 4}));
  CHECK(plan_dot(dag, {}, {.most_boxes = 1}) ==
        head + R"(1 of 4 waves are drawn; --most-waves draws more\l)" + style + first_group +
            R"(    more_of_0 [shape=note, style=filled, fillcolor="#fff7d6", label="1 wave more"];
    {rank=same; g0; w0; more_of_0};
  }
  more [shape=note, style=filled, fillcolor="#fff7d6", label="2 groups more"];
  g0 -> more [style=invis, weight=1];
}
)");
}

TEST_CASE("what names of waves that are alike have in common") {
  CHECK(common_name("mProject_ID0000001") == "mProject");
  CHECK(common_name("scan_12") == "scan");
  CHECK(common_name("scan12") == "scan");
  CHECK(common_name("a.b c-7") == "a.b c");
  CHECK(common_name("#7") == "#");
  CHECK(common_name("_7") == "_");
  CHECK(common_name("7") == "7");
  CHECK(common_name("scan") == "scan");
  CHECK(common_name("2d") == "2d");
  CHECK(common_name("").empty());
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
  const BoxedPlan folded = box_plan(dag, false, {});
  REQUIRE(folded.boxes.size() == 3);
  CHECK(folded.boxes[0].name == "left ×2");
  CHECK(folded.boxes[0].bytes == "5 bytes to 7 bytes");
  CHECK(folded.boxes[1].name == "waves ×2");
  CHECK(folded.boxes[1].bytes == "3 bytes each");
  CHECK(folded.boxes[2].name == "end");
  CHECK(folded.edges == std::vector<std::array<std::uint32_t, 2>>{{0, 1}, {1, 2}});
  CHECK(folded.implied == 1);
  const BoxedPlan each = box_plan(dag, true, {});
  CHECK(each.boxes.size() == 5);
  CHECK(each.boxes[1].name == "left_2");
  CHECK(each.edges.size() == 4);
  CHECK(each.implied == 2);
  CHECK(box_plan(dag, true, {0, 4}).edges.size() == 5);
  const std::string picture = plan_dot(dag, {}, {});
  CHECK(picture.find(
            "no budget, critical path of 3 waves in red\\l×: so many waves that are alike; --each-wave draws "
            "them one by one\\l1 arrow that others imply left out\\l") != std::string::npos);
  CHECK(picture.find("label=\"group 0\\l12 bytes\\l\"") != std::string::npos);
  CHECK(picture.find("EiB") == std::string::npos);
}

TEST_CASE("the boxes of a group wrap into rows that a page holds") {
  std::string waves;
  for (int i = 0; i < 12; ++i) {
    waves += (i == 0 ? "" : ",") + std::string(R"({"name":"a_name_of_twenty_ch_)") +
             static_cast<char>('a' + i) + R"(","frontier_bytes":1,"scratch_bytes":0,"output_bytes":0})";
  }
  const std::string text = R"({"waves":[)" + waves + R"(],"budget_bytes":100})";
  const std::string picture = plan_dot(planned(text), {}, {});
  CHECK(picture.find("    {rank=same; g0; w0; w1; w2};\n") != std::string::npos);
  CHECK(picture.find("    {rank=same; w9; w10; w11};\n") != std::string::npos);
  CHECK(picture.find("  g0 -> w3 [style=invis, weight=1];\n  w3 -> w6 [style=invis, weight=1];\n") !=
        std::string::npos);
}

TEST_CASE("a share of the budget is cut, so that only a full group shows all of it") {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  CHECK(share_text(7, 8) == "87.5%");
  CHECK(share_text(0, 8) == "0.0%");
  CHECK(share_text(8, 8) == "100.0%");
  CHECK(share_text(999'999, 1'000'000) == "99.9%");
  CHECK(share_text(largest - 1, largest) == "99.9%");
  CHECK(share_text(largest, largest) == "100.0%");
  CHECK(share_text(0, 0).empty());
}

TEST_CASE("the headline says what is proved") {
  const std::string_view loose =
      R"({"waves":[{"frontier_bytes":5,"scratch_bytes":0,"output_bytes":0},
                   {"frontier_bytes":6,"scratch_bytes":0,"output_bytes":0},
                   {"frontier_bytes":5,"scratch_bytes":0,"output_bytes":0}],"budget_bytes":10})";
  CHECK(plan_headline(planned(loose), {}) == "layered: 3 waves in 3 groups, 2 barriers, at least 2 needed");
  CHECK(plan_headline(planned(loose, compact), compact) ==
        "compact: 3 waves in 2 groups, 1 barrier, proved to be the fewest");
}

TEST_CASE("dependencies name waves or give their indices") {
  const auto result = resolve(dag_of(
      {"a", "1", "c"}, {{named("a"), numbered(1)}, {named("1"), named("c")}, {numbered(0), numbered(2)}}));
  REQUIRE(result);
  CHECK(result->dag.dependencies == std::vector<planning::Dependency>{{0, 1}, {1, 2}, {0, 2}});
  CHECK(result->names == std::vector<std::string>{"a", "1", "c"});
}

TEST_CASE("names are kept only where a wave has one") {
  documents::NamedWaveDag document = dag_of({"a", "b"});
  document.waves[0].name.reset();
  const auto result = resolve(std::move(document));
  REQUIRE(result);
  CHECK(result->names == std::vector<std::string>{"", "b"});
  CHECK(result->wave_text(0) == "wave 0");
  CHECK(result->wave_text(1) == "\"b\"");
  CHECK(result->wave_text(2) == "wave 2");
  CHECK(result->wave_label(0) == "0");
  CHECK(result->wave_label(1) == "b");
  documents::NamedWaveDag nameless;
  nameless.waves.resize(3);
  CHECK(resolve(std::move(nameless))->names.empty());
  const std::string long_name(40, 'x');
  CHECK(resolve(dag_of({long_name}))->wave_label(0) == std::string(16, 'x') + "…" + std::string(15, 'x'));
}

TEST_CASE("names that cannot be resolved") {
  const auto error = [](documents::NamedWaveDag&& document) {
    const auto result = resolve(std::move(document));
    return result ? std::string("accepted") : describe(result.error());
  };
  CHECK(error(dag_of({"a", "b", "a"})) ==
        "tidegate: error: waves 0 and 2 are both called \"a\" [duplicate_name]\n"
        "  at: /waves/2/name\n"
        "  fix: rename one of them");
  CHECK(error(dag_of({"a", ""})) == "tidegate: error: the name of wave 1 is empty [out_of_range]\n"
                                    "  at: /waves/1/name\n"
                                    "  fix: give it a name, or leave the key out");
  CHECK(error(dag_of({"gather", "sort"}, {{numbered(0), named("sort")}, {named("gahter"), numbered(0)}})) ==
        "tidegate: error: no wave is called \"gahter\" [invalid_wave]\n"
        "  at: /dependencies/1/before\n"
        "  fix: did you mean \"gather\"?");
  const std::uint64_t beyond = std::uint64_t{1} << 32U;
  CHECK(error(dag_of({"a", "b"}, {{named("a"), named("b")}, {named("b"), numbered(beyond)}})) ==
        "tidegate: error: there is no wave 4294967296 [invalid_wave]\n"
        "  at: /dependencies/1/after\n"
        "  fix: waves are counted from 0 to 1");
  CHECK(error(dag_of({"a", "b"}, {{named("a"), named("a")}, {named("b"), numbered(beyond)}}))
            .find("\"a\" depends on itself [self_dependency]") != std::string::npos);
}
