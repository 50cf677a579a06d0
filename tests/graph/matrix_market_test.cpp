// Matrix Market files: every supported banner, and what is refused.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::string matrix(const std::string& banner, const std::string& rest) {
  return "%%MatrixMarket matrix " + banner + "\n" + rest;
}

std::string refused(const std::string& text, const LoadOptions& options = {}) {
  return fault("a.mtx", text, options);
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
  CHECK(std::get<std::vector<std::uint32_t>>(loaded->graph.out.weights) ==
        std::vector<std::uint32_t>{2, 9, 9, 0});
  CHECK(pairs(loaded->graph.in.value()) == Pairs{{1, 1}, {2, 0}, {2, 0}, {2, 0}});
  CHECK(std::get<std::vector<std::uint32_t>>(loaded->graph.in->weights) ==
        std::vector<std::uint32_t>{0, 2, 9, 9});
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
    return load_text("a.mtx", text, {.weights = use})->graph.out.weights;
  };
  CHECK(weights(whole, WeightUse::ignored).index() == 0);
  CHECK(std::get<Integers>(weights(whole, WeightUse::as_given)) == Integers{16777217});
  CHECK(std::get<Reals>(weights(whole, WeightUse::f32)) == Reals{16777216.0F});
  CHECK(std::get<Reals>(weights(real, WeightUse::as_given)) == Reals{0.1F, 0.0F});
  CHECK_FALSE(std::signbit(std::get<Reals>(weights(real, WeightUse::as_given))[1]));
  CHECK(std::get<Integers>(weights(pattern, WeightUse::u32)) == Integers{1});
  CHECK(std::get<Reals>(weights(pattern, WeightUse::f32)) == Reals{1.0F});
  CHECK(std::get<Integers>(weights(matrix("coordinate real general", "2 2 1\n1 2 3e2\n"), WeightUse::u32)) ==
        Integers{300});
}

TEST_CASE("weights must be valid if they are used") {
  const auto of = [](const std::string& banner, const std::string& entry, WeightUse use) {
    return refused(matrix("coordinate " + banner, "3 3 2\n2 1 0\n" + entry + "\n"), {.weights = use});
  };
  CHECK(of("integer general", "3 1 -12", WeightUse::u32) ==
        "4:5: the edge from 3 to 1 has the weight -12; weights must not be negative");
  CHECK(of("real symmetric", "3 1 -0.5", WeightUse::f32) ==
        "4:5: the edge from 3 to 1 has the weight -0.5; weights must not be negative");
  CHECK(
      of("integer skew-symmetric", "3 1 12", WeightUse::u32) ==
      "4:5: the edge from 1 to 3, opposite in a skew-symmetric matrix, has the weight -12; weights must not be negative");
  CHECK(of("real general", "3 1 1.5", WeightUse::u32) == "4:5: the weight 1.5 is not a whole number");
  CHECK(of("integer general", "3 1 4294967296", WeightUse::u32) ==
        "4:5: the weight 4294967296 is above 4294967295");
  CHECK(of("real general", "3 1 1e39", WeightUse::f32) == "4:5: the weight 1e39 does not fit 32 bits");
  CHECK(of("integer general", "3 1 -12", WeightUse::ignored) == "it is loaded");
}

TEST_CASE("banners of matrices that are not graphs") {
  const auto banner = [](const std::string& words) {
    return refused("%%MatrixMarket " + words + "\n1 1 0\n");
  };
  CHECK(banner("mangled coordinate pattern symmetric") == "1:16: unknown object \"mangled\"");
  CHECK(banner("matrix coordinate real mangled") == "1:39: unknown symmetry \"mangled\"");
  CHECK(banner("matrix coordinate") == "1:33: the banner ends before its field");
  CHECK(banner("matrix coordinate real general again") == "1:47: unexpected \"again\" after the banner");
  CHECK(banner("matrix array real general") == "1:23: the format \"array\" is not supported");
  CHECK(banner("matrix coordinate complex general") == "1:34: the field \"complex\" is not supported");
  CHECK(banner("matrix coordinate pattern hermitian") == "1:42: the symmetry \"hermitian\" is not supported");
  CHECK(banner("matrix coordinate pattern skew-symmetric") ==
        "1: a pattern matrix has no values, so it cannot be skew-symmetric");
  CHECK(refused("3 3\n.646\n") == "1: expected the banner %%MatrixMarket, got \"3 3\"");
}

TEST_CASE("invalid sizes") {
  const auto size = [](const std::string& line) {
    return refused(matrix("coordinate pattern general", line));
  };
  CHECK(size("% only this\n") == "2: the file ends before the size line");
  CHECK(size("3\n1 1\n") == "2:2: the size line has 1 of 3 numbers");
  CHECK(size("3 x 3\n") == "2:3: expected a whole number of 64 bits, got \"x\"");
  CHECK(size("3 3 18446744073709551616\n") ==
        "2:5: expected a whole number of 64 bits, got \"18446744073709551616\"");
  CHECK(size("3 3 1 1\n") == "2:7: unexpected \"1\" after the size line");
  CHECK(size("3 4 0\n") == "2: the matrix has 3 rows and 4 columns; an adjacency matrix is square");
  CHECK(size("4294967296 4294967296 0\n") == "2:1: the graph has 4294967296 vertices, more than 2147483648");
}

TEST_CASE("invalid entries") {
  const auto entries = [](const std::string& field, const std::string& lines) {
    return refused(matrix("coordinate " + field + " general", "3 3 2\n1 1 1\n" + lines));
  };
  const auto integer = [&](const std::string& line) { return entries("integer", line); };
  const auto expected = [](const std::string& place, const std::string& what) {
    return place + ": expected " + what;
  };
  CHECK(integer("x 1 1\n") == expected("4:1", "the row, a whole number, got \"x\""));
  CHECK(integer("-1 1 1\n") == expected("4:1", "the row, a whole number, got \"-1\""));
  CHECK(integer("1\n") == expected("4:2", "the column, got the end of the line"));
  CHECK(integer("1.5 2 1\n") == expected("4:2", "a blank and the column, got \".5\""));
  CHECK(integer("1 2\n") == expected("4:4", "the value, got the end of the line"));
  CHECK(integer("1 2 \n") == expected("4:5", "an integer, got the end of the line"));
  CHECK(integer("1 2 1.5\n") == expected("4:5", "an integer, got \"1.5\""));
  CHECK(integer("1 2 3 4\n") == expected("4:7", "the end of the line, got \"4\""));
  CHECK(entries("real", "1 2 one\n") == expected("4:5", "a number, got \"one\""));
  CHECK(entries("real", "1 2 1.5D3\n") == expected("4:5", "a number, got \"1.5D3\""));
  CHECK(entries("real", "1 2 +-1\n") == expected("4:5", "a number, got \"+-1\""));
  CHECK(refused(matrix("coordinate pattern general", "3 3 1\n1 2 1\n")) ==
        expected("3:5", "the end of the line, got \"1\""));
  CHECK(integer("4 1 1\n") == "4:1: the row is 4, and vertices are 1 to 3");
  CHECK(integer("1 0 1\n") == "4:3: the column is 0, and vertices are 1 to 3");
  CHECK(integer("1 18446744073709551617 1\n") ==
        "4:3: the column is 18446744073709551617, and vertices are 1 to 3");
  CHECK(entries("real", "1 2 inf\n") == "4:5: the value inf is not a finite number of 64 bits");
  CHECK(integer("1 2 9223372036854775808\n") ==
        "4:5: the value 9223372036854775808 is not an integer: -9223372036854775808 to 9223372036854775807");
  CHECK(integer("1 2 -9223372036854775808\n") == "it is loaded");
  CHECK(refused(matrix("coordinate integer skew-symmetric", "3 3 1\n2 2 1\n")) ==
        "3:4: a skew-symmetric matrix has no entries on its diagonal");
}

TEST_CASE("the number of entries matches the size line") {
  const auto of = [](const std::string& rest) { return refused(matrix("coordinate pattern general", rest)); };
  CHECK(of("3 3 3\n1 1\n2 2\n") == "4: line 2 states 3 entries, and the file has 2");
  CHECK(of("3 3 1\n1 1\n2 2\n") == "2: line 2 states 1 entry, and the file has 2");
}

TEST_CASE("the type line of GraphBLAS narrows the values") {
  const auto of = [](const std::string& type, const std::string& value) {
    return refused(
        matrix("coordinate integer general", "%%GraphBLAS type " + type + "\n2 2 1\n1 2 " + value + "\n"));
  };
  CHECK(of("int32_t", "-2147483648") == "it is loaded");
  CHECK(of("int32_t", "-2147483649") ==
        "4:5: the value -2147483649 is not an int32_t: -2147483648 to 2147483647");
  CHECK(of("uint8_t", "256") == "4:5: the value 256 is not a uint8_t: 0 to 255");
  CHECK(of("double", "1") == "it is loaded");
  CHECK(of("gunk", "1") == "2:18: unknown value type \"gunk\"");
}
