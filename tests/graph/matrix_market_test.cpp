// Matrix Market files: every supported banner, and what is refused.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::string matrix(const std::string& banner, const std::string& rest) {
  return "%%MatrixMarket matrix " + banner + "\n" + rest;
}

std::string refused(const std::string& text, const LoadOptions& options = {}) {
  return refusal("a.mtx", text, options);
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
  const auto loaded =
      load_text("a.mtx", "%%MatrixMarket  matrix\tcoordinate integer general \r\n% a comment\r\n\r\n"
                         "  3 3 2  \r\n\r\n%and one\n 1\t3   7 \r\n  3 1 8");
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
  constexpr const char* shift = "\n  fix: shift the weights, or choose an algorithm that does not use them";
  CHECK(
      of("integer general", "3 1 -12", WeightUse::u32) ==
      std::string("tidegate: a.mtx:4:5: error: the edge from 3 to 1 has the weight -12; weights must not be "
                  "negative [bad_graph]") +
          shift);
  CHECK(of("real symmetric", "3 1 -0.5", WeightUse::f32) ==
        std::string("tidegate: a.mtx:4:5: error: the edge from 3 to 1 has the weight -0.5; weights must not "
                    "be negative [bad_graph]") +
            shift);
  CHECK(of("integer skew-symmetric", "3 1 12", WeightUse::u32) ==
        std::string(
            "tidegate: a.mtx:4:5: error: the edge from 1 to 3, opposite in a skew-symmetric matrix, has the "
            "weight -12; weights must not be negative [bad_graph]") +
            shift);
  CHECK(of("real general", "3 1 1.5", WeightUse::u32) ==
        "tidegate: a.mtx:4:5: error: the weight 1.5 is not a whole number [bad_graph]\n"
        "  fix: take the weights as f32");
  CHECK(of("integer general", "3 1 4294967296", WeightUse::u32) ==
        "tidegate: a.mtx:4:5: error: the weight 4294967296 is above 4294967295 [bad_graph]\n"
        "  fix: scale the weights down, or take them as f32");
  CHECK(of("real general", "3 1 1e39", WeightUse::f32) ==
        "tidegate: a.mtx:4:5: error: the weight 1e39 does not fit 32 bits [bad_graph]\n"
        "  fix: scale the weights down");
  CHECK(of("integer general", "3 1 -12", WeightUse::ignored) == "it is loaded");
}

TEST_CASE("banners of matrices that are not graphs") {
  constexpr const char* begin = "\n  fix: begin with \"%%MatrixMarket matrix coordinate pattern|integer|real "
                                "general|symmetric|skew-symmetric\"";
  const auto banner = [](const std::string& words) {
    return refused("%%MatrixMarket " + words + "\n1 1 0\n");
  };
  CHECK(banner("mangled coordinate pattern symmetric") ==
        std::string("tidegate: a.mtx:1:16: error: unknown object \"mangled\" [bad_graph]") + begin);
  CHECK(banner("matrix coordinate real mangled") ==
        std::string("tidegate: a.mtx:1:39: error: unknown symmetry \"mangled\" [bad_graph]") + begin);
  CHECK(banner("matrix coordinate") ==
        std::string("tidegate: a.mtx:1:33: error: the banner ends before its field [bad_graph]") + begin);
  CHECK(banner("matrix coordinate real general again") ==
        std::string("tidegate: a.mtx:1:47: error: unexpected \"again\" after the banner [bad_graph]") +
            begin);
  CHECK(banner("matrix array real general") ==
        "tidegate: a.mtx:1:23: error: the format \"array\" is not supported [bad_graph]\n"
        "  fix: write it with format coordinate");
  CHECK(banner("matrix coordinate complex general") ==
        "tidegate: a.mtx:1:34: error: the field \"complex\" is not supported [bad_graph]\n"
        "  fix: write it with field pattern, integer, real or double");
  CHECK(banner("matrix coordinate pattern hermitian") ==
        "tidegate: a.mtx:1:42: error: the symmetry \"hermitian\" is not supported [bad_graph]\n"
        "  fix: write it with symmetry general, symmetric or skew-symmetric");
  CHECK(banner("matrix coordinate pattern skew-symmetric") ==
        "tidegate: a.mtx:1: error: a pattern matrix has no values, so it cannot be skew-symmetric "
        "[bad_graph]\n"
        "  fix: make it symmetric, or give values");
  CHECK(refused("3 3\n.646\n") ==
        std::string("tidegate: a.mtx:1: error: expected the banner %%MatrixMarket, got \"3 3\" [bad_graph]") +
            begin);
}

TEST_CASE("invalid sizes") {
  const auto size = [](const std::string& line) {
    return refused(matrix("coordinate pattern general", line));
  };
  constexpr const char* fix = "\n  fix: write ROWS COLUMNS ENTRIES after the comments";
  CHECK(size("% only this\n") ==
        std::string("tidegate: a.mtx:2: error: the file ends before the size line [bad_graph]") + fix);
  CHECK(size("3\n1 1\n") ==
        std::string("tidegate: a.mtx:2:2: error: the size line has 1 of 3 numbers [bad_graph]") + fix);
  CHECK(size("3 x 3\n") ==
        std::string("tidegate: a.mtx:2:3: error: expected a whole number of 64 bits, got \"x\" [bad_graph]") +
            fix);
  CHECK(size("3 3 18446744073709551616\n") ==
        std::string(
            "tidegate: a.mtx:2:5: error: expected a whole number of 64 bits, got \"18446744073709551616\" "
            "[bad_graph]") +
            fix);
  CHECK(size("3 3 1 1\n") ==
        std::string("tidegate: a.mtx:2:7: error: unexpected \"1\" after the size line [bad_graph]") + fix);
  CHECK(
      size("3 4 0\n") ==
      "tidegate: a.mtx:2: error: the matrix has 3 rows and 4 columns; an adjacency matrix "
      "is square [bad_graph]\n"
      "  fix: pad it with empty rows or columns; in a bipartite graph, number the second side after the first");
  CHECK(size("4294967296 4294967296 0\n") ==
        "tidegate: a.mtx:2: error: the graph has 4294967296 vertices, more than 2147483648 [bad_graph]\n"
        "  fix: vertices are numbers of 32 bits");
}

TEST_CASE("invalid entries") {
  const auto entries = [](const std::string& field, const std::string& lines) {
    return refused(matrix("coordinate " + field + " general", "3 3 2\n1 1 1\n" + lines));
  };
  const auto integer = [&](const std::string& line) { return entries("integer", line); };
  constexpr const char* fix = "\n  fix: give an edge on each line, as the header says";
  constexpr const char* size = "\n  fix: correct it, or the size that the file states";
  const auto expected = [](const std::string& place, const std::string& what) {
    return "tidegate: a.mtx:" + place + ": error: expected " + what + " [bad_graph]" + fix;
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
  CHECK(integer("4 1 1\n") ==
        std::string("tidegate: a.mtx:4:1: error: the row is 4, and vertices are 1 to 3 [bad_graph]") + size);
  CHECK(integer("1 0 1\n") ==
        std::string("tidegate: a.mtx:4:3: error: the column is 0, and vertices are 1 to 3 [bad_graph]") +
            size);
  CHECK(integer("1 18446744073709551617 1\n") ==
        std::string("tidegate: a.mtx:4:3: error: the column is 18446744073709551617, and vertices are 1 to 3 "
                    "[bad_graph]") +
            size);
  CHECK(entries("real", "1 2 inf\n") == "tidegate: a.mtx:4:5: error: the value inf is not a finite number of "
                                        "64 bits [bad_graph]\n  fix: correct it");
  CHECK(
      integer("1 2 9223372036854775808\n") ==
      "tidegate: a.mtx:4:5: error: the value 9223372036854775808 is not an integer: -9223372036854775808 to "
      "9223372036854775807 [bad_graph]\n"
      "  fix: correct it, or the type that the file states");
  CHECK(integer("1 2 -9223372036854775808\n") == "it is loaded");
  CHECK(refused(matrix("coordinate integer skew-symmetric", "3 3 1\n2 2 1\n")) ==
        "tidegate: a.mtx:3:4: error: a skew-symmetric matrix has no entries on its diagonal [bad_graph]\n"
        "  fix: leave it out");
}

TEST_CASE("the number of entries matches the size line") {
  const auto of = [](const std::string& rest) { return refused(matrix("coordinate pattern general", rest)); };
  CHECK(of("3 3 3\n1 1\n2 2\n") ==
        "tidegate: a.mtx:4: error: line 2 states 3 entries, and the file has 2 [bad_graph]\n"
        "  fix: the file may be cut off: download it again, or correct the number");
  CHECK(of("3 3 1\n1 1\n2 2\n") ==
        "tidegate: a.mtx:2: error: line 2 states 1 entry, and the file has 2 [bad_graph]\n"
        "  fix: correct the number, or remove the surplus entries");
}

TEST_CASE("the type line of GraphBLAS narrows the values") {
  const auto of = [](const std::string& type, const std::string& value) {
    return refused(
        matrix("coordinate integer general", "%%GraphBLAS type " + type + "\n2 2 1\n1 2 " + value + "\n"));
  };
  CHECK(of("int32_t", "-2147483648") == "it is loaded");
  CHECK(of("int32_t", "-2147483649") ==
        "tidegate: a.mtx:4:5: error: the value -2147483649 is not an int32_t: -2147483648 to 2147483647 "
        "[bad_graph]\n"
        "  fix: correct it, or the type that the file states");
  CHECK(of("uint8_t", "256") ==
        "tidegate: a.mtx:4:5: error: the value 256 is not a uint8_t: 0 to 255 [bad_graph]\n"
        "  fix: correct it, or the type that the file states");
  CHECK(of("double", "1") == "it is loaded");
  CHECK(of("gunk", "1") == "tidegate: a.mtx:2:18: error: unknown value type \"gunk\" [bad_graph]\n"
                           "  fix: give one of bool, int8_t to int64_t, uint8_t to uint64_t, float and "
                           "double, or leave the line out");
}
