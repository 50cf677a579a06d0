// DIMACS .gr files.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

TEST_CASE("arcs with their weights") {
  const auto loaded =
      load_text("a.gr", "c a road\nc\np sp 4 3\nc between\na 1 2 7\n\na 2 4 0\na 4 1 4294967295\n",
                {.weights = WeightUse::as_given});
  REQUIRE(loaded);
  CHECK(pairs(loaded->graph.out) == Pairs{{0, 1}, {1, 3}, {3, 0}});
  CHECK(std::get<std::vector<std::uint32_t>>(loaded->graph.out.weights) ==
        std::vector<std::uint32_t>{7, 0, 4294967295U});
  CHECK(loaded->facts->format == FileFormat::dimacs);
  CHECK_FALSE(loaded->graph.symmetric);
}

TEST_CASE("the format is recognised by content under any file name") {
  CHECK(load_text("road", "c x\np sp 1 0\n")->facts->format == FileFormat::dimacs);
  CHECK(load_text("road", "p sp 1 0\n")->facts->format == FileFormat::dimacs);
}

TEST_CASE("files that are not DIMACS shortest-path graphs") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"c only\n", "1:1: the file ends before the problem line"},
      {"c x\n1 2 3\n", "2:1: expected the problem line, got \"1 2 3\""},
      {"p max 3 1\n", "1:3: the problem type \"max\" is not supported; use sp (shortest paths)"},
      {"p sp 3\n", "1:7: the problem line has no vertices or no arcs"},
      {"p sp -3 1\n", "1:6: expected a whole number of 64 bits, got \"-3\""},
      {"p sp 3 1 1\n", "1:10: unexpected \"1\" after the problem line"},
      {"p sp 4294967296 0\n", "1:6: the graph has 4294967296 vertices, more than 2147483648"},
      {"p sp 3 1\nb 1 2 3\n", "2:1: expected \"a\" and an edge, or a comment, got \"b\""},
      {"p sp 3 1\na 1 2\n", "2:6: expected the value, got the end of the line"},
      {"p sp 3 1\na 1 4 2\n", "2:5: the head is 4, and vertices are 1 to 3"},
      {"p sp 0 1\na 1 4 2\n", "2:3: the tail is 1, and there are no vertices"}};
  for (const auto& [text, why] : cases) {
    CHECK(fault("a.gr", text) == why);
  }
}
