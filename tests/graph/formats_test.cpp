// The formats of graph files: lists of edges, DIMACS .gr, CSV, METIS, and Matrix Market with every supported banner.
#include "graph_support.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace tidegate;
using namespace tidegate::test;

namespace {

// The edges of a file, with their weights if these are loaded as they are given.
std::string edges_of(const std::string& name, const std::string& text) {
  const auto loaded = load_text(name, text, {.weights = WeightUse::as_given});
  if (!loaded) {
    return describe(loaded.error());
  }
  CHECK(loaded->facts->format == FileFormat::csv);
  CHECK(loaded->facts->first_vertex == 0);
  const Rows& rows = loaded->graph.out;
  std::string edges;
  std::size_t e = 0;
  for (const auto& [from, to] : pairs(rows)) {
    edges += fmt::format("{}>{}:{} ", from, to, static_cast<float>(weight_of(rows, e)));
    ++e;
  }
  return edges;
}

// The graph of the METIS manual, and its forms.
constexpr const char* metis_plain = "% figure 3\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
constexpr const char* metis_weighted =
    "7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n";
constexpr const char* metis_all =
    "7 11 011 2\n4 3 5 1 3 2 2 1\n9 0 1 1 3 2 4 1\n1 1 5 3 4 2 2 2 1 2\n1 1 2 1 3 2 6 2 7 5\n1 1 1 1 3 3 6 2\n1 1 5 2 4 2 7 6\n1 1 6 6 4 5\n";

std::string matrix(const std::string& banner, const std::string& rest) {
  return "%%MatrixMarket matrix " + banner + "\n" + rest;
}

} // namespace

TEST_CASE("vertices count from 0 up to the greatest number in the file") {
  const auto loaded = load_text("a.txt", "# Nodes: 3\n% KONECT\n0\t5\n5 2\n\n2 2\n");
  REQUIRE(loaded);
  CHECK(vertex_count(loaded->graph) == 6);
  CHECK(pairs(loaded->graph.out) == Pairs{{0, 5}, {2, 2}, {5, 2}});
  CHECK(loaded->facts->format == FileFormat::edge_list);
  CHECK(vertex_count(load_text("a.txt", "# nothing\n")->graph) == 0);
}

TEST_CASE("compact ids: the vertices that occur are numbered in the order of their ids") {
  std::string text;
  for (int i = 0; i < 40; ++i) { // several blocks
    text +=
        fmt::format("{} 9223372036854775807 {}\n9223372036854775807 {} 1\n", 5'000'000'000 + i % 3, i + 2, 7);
  }
  const auto loaded = load_text("a.txt", text, {.weights = WeightUse::as_given, .compact = true});
  REQUIRE(loaded);
  CHECK(loaded->ids ==
        std::vector<std::uint64_t>{7, 5'000'000'000, 5'000'000'001, 5'000'000'002, 9223372036854775807U});
  CHECK(vertex_count(loaded->graph) == 5);
  CHECK(loaded->graph.out.degree(4) == 40);
  CHECK(std::ranges::count(loaded->graph.out.row(4), 0U) == 40);
  CHECK(loaded->graph.out.degree(1) == 14);
  CHECK(loaded->facts->value_range.greatest == Number(std::uint64_t{41}));
  CHECK(vertex_count(load_text("a.txt", "# nothing\n", {.compact = true})->graph) == 0);
  const auto beyond = load_text("a.txt", "9223372036854775808 1\n", {.compact = true});
  CHECK(in_a_line(beyond.error()) ==
        "the source is 9223372036854775808, and vertices are 0 to 9223372036854775807 |  | correct it");
  CHECK(load_text("a.txt", "1 2\n")->facts->least_vertex == 1U);
  CHECK(load_text("a.txt", "2 0\n")->facts->least_vertex == 0U);
}

TEST_CASE("a byte order mark begins no line") {
  CHECK(pairs(load_text("a.txt", "\xef\xbb\xbf"
                                 "0 5\n5 2\n")
                  ->graph.out) == Pairs{{0, 5}, {5, 2}});
  CHECK(vertex_count(load_text("a.txt", "\xef\xbb\xbf# nothing\n")->graph) == 0);
  CHECK(fault("a.txt", "\xef\xbb\xbf") == "the file is empty");
  CHECK(fault("a.txt", "\xef\xbb\xbf\x30 1 x\n") ==
        "1:5: expected an integer, got \"x\""); // columns do not count it
  CHECK(load_text("a.mtx", "\xef\xbb\xbf%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n"));
  CHECK(vertex_count(
            load_text("a.txt", "%%MATRIXMARKET matrix coordinate pattern general\n3 3 1\n1 2\n")->graph) ==
        3);
}

TEST_CASE("undirected edges are in both rows, loops in one") {
  const auto loaded = load_text("a.el", "0 1\n1 1\n", {.undirected = true, .build = {.in_rows = true}});
  REQUIRE(loaded);
  CHECK(pairs(loaded->graph.out) == Pairs{{0, 1}, {1, 0}, {1, 1}});
  CHECK(loaded->graph.symmetric);
  CHECK_FALSE(loaded->graph.in);
  CHECK(in_rows(loaded->graph) == &loaded->graph.out);
}

TEST_CASE("the first edge determines the columns of the others") {
  const auto weights = [](const std::string& text) {
    return load_text("a.wel", text, {.weights = WeightUse::as_given})->graph.out;
  };
  CHECK(integers_of(weights("0 1 5\n1 0 6\n")) == std::vector<std::uint32_t>{5, 6});
  CHECK(reals_of(weights("0 1 5.0\n1 0 6\n")) == std::vector<float>{5, 6});
  // One of them that is not an integer makes all of them real.
  CHECK(reals_of(weights("0 1 5\n1 0 5.5\n")) == std::vector<float>{5, 5.5});
  CHECK(reals_of(load_text("a.wel", "0 1 5\n1 0 5.5\n", {.weights = WeightUse::f32})->graph.out) ==
        std::vector<float>{5, 5.5});
  CHECK(fault("a.wel", "0 1 5\n1 0 5.5\n", {.weights = WeightUse::u32}) ==
        "2:5: the weight 5.5 is not a whole number");
  CHECK(load_text("a.wel", "0 1 5\n1 0 5.5\n")->facts->values == ValueColumn::real);
  std::array<int, 2> ends{}; // also from a pipe, which can be read once
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  REQUIRE(::write(ends[1], "0 1 5\n1 0 5.5\n", 14) == 14);
  ::close(ends[1]);
  CHECK(load_graph(fmt::format("/dev/fd/{}", ends[0]), {})->facts->values == ValueColumn::real);
  ::close(ends[0]);
}

TEST_CASE("lists that are refused, and files that are not graphs") {
  using namespace std::string_literals;
  std::string archive(512, '\0');
  archive.replace(0, 7, "list.el").replace(257, 5, "ustar");
  const std::string columns = "give an edge on each line, with the columns of the first one";
  const auto unpack = [](const std::string& command) {
    return "unpack it first (`" + command + "`), or compress the graph by gzip";
  };
  for (const auto& [text, error, fix] : std::vector<std::array<std::string, 3>>{
           {"0 1 5\n1 0\n", "2:4: expected the value, got the end of the line", columns},
           {"0 1\n1 0 5\n", "2:5: expected the end of the line, got \"5\"", columns},
           {"0 1 5\n1 0 5.5x\n", "2:5: expected an integer, got \"5.5x\"", columns},
           {"0 1\n0,1\n", "2:2: expected a blank and the target, got \",1\"",
            "write blanks where the commas are"},
           {"0 4294967295\n", "1:3: the target is 4294967295, and vertices are 0 to 2147483647",
            "correct it, or give the graph \"ids\": \"compact\", which numbers the vertices that occur"},
           {"", "the file is empty",
            "give a Matrix Market, DIMACS .gr, METIS or CSV file or a list of edges"},
           {"{\"a\": 1}\n", "1: unknown graph format; the first line is \"{\"a\": 1}\"",
            "give a Matrix Market, DIMACS .gr, METIS .graph or .csv file or a list of edges (two numbers a "
            "line), plain or compressed by gzip"},
           {"0 1\n\0\0 1\n"s, "the file is not text", "give a graph as text, plain or compressed by gzip"},
           {"\xfd\x37zXZ\0\0"s, "the file is compressed by xz", unpack("xz -d")},
           {"BZh91AY&SY", "the file is compressed by bzip2", unpack("bunzip2")},
           {"\x28\xb5\x2f\xfd\x04", "the file is compressed by zstd", unpack("zstd -d")},
           {"PK\x03\x04\x14", "the file is a zip archive", unpack("unzip")},
           {archive, "the file is a tar archive", unpack("tar -x")},
           {gzip_member(archive), "the file is a tar archive", unpack("tar -x")},
           {"\xff\xfe\x30\0 \0\x31\0\n\0"s, "the file is text in UTF-16",
            unpack("iconv -f UTF-16 -t UTF-8")}}) {
    CHECK(fault("a.wel", text) == error);
    CHECK(load_text("a.wel", text).error().fix == fix);
  }
}

TEST_CASE("decimal numbers in any notation become the nearest doubles") {
  std::mt19937_64 random(1);
  std::string text = "0 0 0.0\n";
  std::vector<float> wanted{0};
  const auto add = [&](const std::string& number) {
    text += "0 0 " + number + '\n';
    wanted.push_back(static_cast<float>(std::strtod(number.c_str(), nullptr)));
  };
  for (const char* number :
       {"1.", ".5", "+2.5", "1e-3", "123456789012345", "1234567890123456.75", "0.1e1",
        "000000000000000000001.5", "3.4028234e38", "1.1754944e-38", "0.30000000000000004"}) {
    add(number);
  }
  for (int i = 0; i < 3000; ++i) {
    std::string digits = std::to_string(random() >> random() % 60U);
    digits.insert(random() % digits.size() + 1, ".");
    add(digits);
  }
  std::ranges::sort(wanted);
  CHECK(reals_of(load_text("a", text, {.weights = WeightUse::f32})->graph.out) == wanted);
}

TEST_CASE("weights that would vanish or lose digits as floats are refused") {
  for (const char* weight : {"1e-45", "1e-39", "1e-300", "1.1754942e-38"}) {
    CHECK(fault("a.wel", fmt::format("0 1 0.5\n1 0 {}\n", weight), {.weights = WeightUse::f32}) ==
          fmt::format("2:5: the weight {} is below 1.1754944e-38, the least of 32 bits that keeps all digits",
                      weight));
    CHECK(load_text("a.wel", fmt::format("0 1 0.5\n1 0 {}\n", weight)));
  }
  CHECK(load_text("a.wel", "0 1 0.5\n1 0 1e-39\n", {.weights = WeightUse::f32}).error().fix ==
        "scale the weights up");
  CHECK(load_text("a.wel", "0 1 0.0\n1 0 0e-400\n", {.weights = WeightUse::f32}));
}

TEST_CASE("a large vertex number does not allocate more memory than there is") {
  const std::string fix =
      " |  | take a machine with more memory; vertices that are numbered without gaps need the least";
  for (
      const auto& [text, most_bytes, error] :
      std::vector<std::tuple<std::string, std::uint64_t, std::string>>{
          {"0 2000000000\n", 1U << 20U,
           "a graph of 2000000001 vertices and 1 edge needs 14.9 GiB of memory to build; 1 MiB are available"},
          {"%%MatrixMarket matrix coordinate pattern general\n3 3 3000000000\n", 1U << 30U,
           "a graph of 3 vertices and 3000000000 edges needs 33.5 GiB of memory to build; 1 GiB are available"}}) {
    const auto loaded = load_text("a.txt", text, {.build = {.most_bytes = most_bytes}});
    REQUIRE(!loaded);
    CHECK(loaded.error().code == ErrorCode::input_too_large);
    CHECK(in_a_line(loaded.error()) == error + fix);
  }
  std::string many;
  for (int i = 0; i < 2000; ++i) {
    many += "1 2\n";
  }
  const auto loaded = load_text("a.txt", many, {.build = {.most_bytes = 4096}});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == ErrorCode::input_too_large);
}

TEST_CASE("arcs with their weights") {
  const auto loaded =
      load_text("a.gr", "c a road\nc\np sp 4 3\nc between\na 1 2 7\n\na 2 4 0\na 4 1 4294967295\n",
                {.weights = WeightUse::as_given});
  REQUIRE(loaded);
  CHECK(pairs(loaded->graph.out) == Pairs{{0, 1}, {1, 3}, {3, 0}});
  CHECK(integers_of(loaded->graph.out) == std::vector<std::uint32_t>{7, 0, 4294967295U});
  CHECK(loaded->facts->format == FileFormat::dimacs);
  CHECK_FALSE(loaded->graph.symmetric);
}

TEST_CASE("the format is recognised by content under any file name") {
  CHECK(load_text("road", "c x\np sp 1 0\n")->facts->format == FileFormat::dimacs);
  CHECK(load_text("road", "p sp 1 0\n")->facts->format == FileFormat::dimacs);
}

TEST_CASE("separators, headers, blanks and line ends") {
  for (const char* text : {"0,1\n1,2\n", "0;1\n1;2\n", "0\t1\n1\t2\n", "source,target\n0,1\n1,2",
                           "\xef\xbb\xbf"
                           "From;To\r\n0;1\r\n\r\n1;2\r\n",
                           "\"a\",\"b\"\n0,1\n1,2\n", "# from a program\nu,v\n\n% more\n0 , 1\n  1,2  \n",
                           "src\tdst\n0\t1\n1\t2\n"}) {
    CAPTURE(text);
    CHECK(edges_of("a.csv", text) == "0>1:1 1>2:1 ");
  }
  CHECK(edges_of("a.tsv", "0\t1\t7\n") == "0>1:7 ");
  CHECK(edges_of("edges", "0,1,7\n") == "0>1:7 "); // known by its first line
  CHECK(edges_of("edges", "# from a program\n0;1;0.5\n2;0;-0\n") == "0>1:0.5 2>0:0 ");
  CHECK(edges_of("a.csv", "from,to,weight\n400000,0,0.5\n0,3,1e-3\n") == "0>3:0.001 400000>0:0.5 ");
  CHECK(edges_of("a.csv", "from,to\n") == "");
  CHECK(edges_of("a.csv.gz", gzip_member("0,1,3\n")) == "0>1:3 ");
  CHECK(edges_of("a.csv", "0 1\n") == "0>1:1 "); // blanks are fine, too
}

TEST_CASE("rows, with and without weights of vertices and edges") {
  const Pairs edges{{0, 1}, {0, 2}, {0, 4}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {2, 4}, {3, 1},
                    {3, 2}, {3, 5}, {3, 6}, {4, 0}, {4, 2}, {4, 5}, {5, 3}, {5, 4}, {5, 6}, {6, 3}, {6, 5}};
  const std::vector<std::uint32_t> weights{1, 2, 1, 1, 2, 1, 2, 2, 2, 3, 1, 2, 2, 5, 1, 3, 2, 2, 2, 6, 5, 6};
  for (const std::string text : {metis_plain, metis_weighted, metis_all}) {
    CAPTURE(text);
    const auto loaded =
        load_text("a.graph", text, {.weights = WeightUse::as_given, .build = {.in_rows = true}});
    REQUIRE(loaded);
    CHECK(pairs(loaded->graph.out) == edges);
    CHECK(integers_of(loaded->graph.out) ==
          (text == metis_plain ? std::vector<std::uint32_t>(22, 1) : weights));
    CHECK(loaded->graph.symmetric);
    CHECK_FALSE(loaded->graph.in);
    CHECK(loaded->facts->format == FileFormat::metis);
    CHECK(loaded->facts->first_vertex == 1);
    CHECK(loaded->facts->entries == 22);
    std::string dos = "\xef\xbb\xbf" + text;
    for (std::size_t at = dos.find('\n'); at != std::string::npos; at = dos.find('\n', at + 2)) {
      dos.insert(at, "\r");
    }
    CHECK(pairs(load_text("a.metis.gz", gzip_member(dos + "\r\n"), {.undirected = true})->graph.out) ==
          edges);
  }
  // Sizes alone; a blank row is that of a vertex without neighbours, also the last one.
  CHECK(pairs(load_text("a.graph", "3 1 100\n1 3\n7\n1 1\n")->graph.out) == Pairs{{0, 2}, {2, 0}});
  CHECK(pairs(load_text("a.graph", "4 1\n3\n\n% of no vertex\n1\n\n")->graph.out) == Pairs{{0, 2}, {2, 0}});
  CHECK(vertex_count(load_text("a.graph", "0 0\n")->graph) == 0);
  CHECK(load_text("a.graph", "2 18446744073709551615\n2\n1\n").error().code == ErrorCode::input_too_large);
}

TEST_CASE("rows in many blocks belong to their vertices, whatever the comments between them") {
  std::mt19937 random(20261125);
  for (int round = 0; round < 20; ++round) {
    const auto vertices = static_cast<std::uint32_t>(random() % 300 + 2);
    std::map<std::pair<Vertex, Vertex>, std::uint32_t> edges; // both directions
    for (std::uint32_t i = 0; i < 3 * vertices; ++i) {
      const auto a = static_cast<Vertex>(random() % vertices), b = static_cast<Vertex>(random() % vertices);
      if (a != b) {
        edges[{a, b}] = edges[{b, a}] = static_cast<std::uint32_t>(random() % 100 + 1);
      }
    }
    std::string text = fmt::format("{} {} 1\n", vertices, edges.size() / 2);
    Pairs wanted;
    std::vector<std::uint32_t> weights;
    for (Vertex v = 0; v < vertices; ++v) {
      text += random() % 4 == 0 ? "% 1 2 3\n" : "";
      for (auto edge = edges.lower_bound({v, 0}); edge != edges.end() && edge->first.first == v; ++edge) {
        text += fmt::format("{} {} ", edge->first.second + 1, edge->second);
        wanted.push_back(edge->first);
        weights.push_back(edge->second);
      }
      text += '\n';
    }
    const auto loaded = load_text("a.graph", text, {.weights = WeightUse::as_given});
    REQUIRE_MESSAGE(loaded, "round ", round);
    CHECK(pairs(loaded->graph.out) == wanted);
    CHECK(integers_of(loaded->graph.out) == weights);
  }
}

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
