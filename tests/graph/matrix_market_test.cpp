// Matrix Market files: every supported banner.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::string matrix(const std::string& banner, const std::string& rest) {
  return "%%MatrixMarket matrix " + banner + "\n" + rest;
}

} // namespace

TEST_CASE("every field and symmetry of a coordinate matrix") {
  struct Case {
    std::string banner, entries;
    Pairs edges;
  };
  const Pairs one_way{{0, 0}, {1, 0}, {2, 1}};
  const Pairs both_ways{{0, 0}, {0, 1}, {1, 0}, {1, 2}, {2, 1}};
  const Pairs skew{{0, 1}, {1, 0}, {1, 2}, {2, 1}};
  const std::string pattern = "3 3 3\n1 1\n2 1\n3 2\n", integer = "3 3 3\n1 1 4\n2 1 -5\n3 2 +0\n",
                    real = "3 3 3\n1 1 4.5\n2 1 -5e-1\n3 2 +.25\n";
  for (const auto& [header, entries, edges] :
       std::vector<Case>{{"coordinate pattern general", pattern, one_way},
                         {"coordinate pattern symmetric", pattern, both_ways},
                         {"coordinate integer general", integer, one_way},
                         {"coordinate integer symmetric", integer, both_ways},
                         {"coordinate integer skew-symmetric", "3 3 2\n2 1 -5\n3 2 0\n", skew},
                         {"coordinate real general", real, one_way},
                         {"coordinate real symmetric", real, both_ways},
                         {"coordinate real skew-symmetric", "3 3 2\n2 1 -5\n3 2 0.5\n", skew},
                         {"Coordinate REAL General", real, one_way}}) {
    const std::string& banner = header;
    CAPTURE(banner);
    const auto loaded = load_text("a.mtx", matrix(banner, entries));
    REQUIRE(loaded);
    CHECK(pairs(loaded->graph.out) == edges);
    CHECK(loaded->graph.symmetric == (edges != one_way));
    CHECK(loaded->facts->format == FileFormat::matrix_market);
  }
}

TEST_CASE("comments, blank lines, carriage returns and blanks may be anywhere") {
  const auto loaded = load_text(
      "a.mtx",
      "%%MatrixMarket  matrix\tcoordinate integer general \r\n% a comment\r\n\r\n  3 3 2  \r\n\r\n%and one\n 1\t3   7 \r\n  3 1 8");
  REQUIRE(loaded);
  CHECK(pairs(loaded->graph.out) == Pairs{{0, 2}, {2, 0}});
  CHECK(loaded->facts->lines == 8);
}

TEST_CASE("explicit zeros, loops, repeated entries and isolated vertices are part of the graph") {
  const auto loaded =
      load_text("a.mtx", matrix("coordinate integer general", "4 4 4\n2 2 0\n1 3 9\n1 3 2\n1 3 9\n"),
                {.weights = WeightUse::as_given, .build = {.in_rows = true}});
  REQUIRE(loaded);
  CHECK(pairs(loaded->graph.out) == Pairs{{0, 2}, {0, 2}, {0, 2}, {1, 1}});
  CHECK(integers_of(loaded->graph.out) == std::vector<std::uint32_t>{2, 9, 9, 0});
  CHECK(pairs(loaded->graph.in.value()) == Pairs{{1, 1}, {2, 0}, {2, 0}, {2, 0}});
  CHECK(integers_of(*loaded->graph.in) == std::vector<std::uint32_t>{0, 2, 9, 9});
}

TEST_CASE("a matrix without entries, and one without rows") {
  CHECK(vertex_count(load_text("a.mtx", matrix("coordinate real general", "5 5 0\n"))->graph) == 5);
  CHECK(vertex_count(load_text("a.mtx", matrix("coordinate pattern symmetric", "0 0 0"))->graph) == 0);
}

TEST_CASE("weights are as in the file, integers, or floats") {
  const std::string whole = matrix("coordinate integer general", "2 2 1\n1 2 16777217\n");
  const std::string real = matrix("coordinate real general", "2 2 2\n1 2 0.1\n2 1 -0.0\n");
  const std::string pattern = matrix("coordinate pattern general", "2 2 1\n1 2\n");
  using Integers = std::vector<std::uint32_t>;
  using Reals = std::vector<float>;
  const auto weights = [](const std::string& text, WeightUse use) {
    return load_text("a.mtx", text, {.weights = use})->graph.out;
  };
  CHECK(weights(whole, WeightUse::ignored).weights.empty());
  CHECK(integers_of(weights(whole, WeightUse::as_given)) == Integers{16777217});
  CHECK(reals_of(weights(whole, WeightUse::f32)) == Reals{16777216.0F});
  CHECK(reals_of(weights(real, WeightUse::as_given)) == Reals{0.1F, 0.0F});
  CHECK_FALSE(std::signbit(reals_of(weights(real, WeightUse::as_given))[1]));
  CHECK(integers_of(weights(pattern, WeightUse::u32)) == Integers{1});
  CHECK(reals_of(weights(pattern, WeightUse::f32)) == Reals{1.0F});
  CHECK(integers_of(weights(matrix("coordinate real general", "2 2 1\n1 2 3e2\n"), WeightUse::u32)) ==
        Integers{300});
}
