// Lists of edges, and DIMACS .gr files.
#include "graph_support.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace tidegate;
using namespace tidegate::test;

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
  CHECK(refusal("a.txt", "9223372036854775808 1\n", {.compact = true})
            .ends_with("vertices are 0 to 9223372036854775807 [bad_graph]\n  fix: correct it"));
  CHECK(load_text("a.txt", "1 2\n")->facts->least_vertex == 1U);
  CHECK(load_text("a.txt", "2 0\n")->facts->least_vertex == 0U);
}

TEST_CASE("a byte order mark begins no line") {
  CHECK(pairs(load_text("a.txt", "\xef\xbb\xbf"
                                 "0 5\n5 2\n")
                  ->graph.out) == Pairs{{0, 5}, {5, 2}});
  CHECK(vertex_count(load_text("a.txt", "\xef\xbb\xbf# nothing\n")->graph) == 0);
  CHECK(refusal("a.txt", "\xef\xbb\xbf") == refusal("a.txt", ""));
  CHECK(refusal("a.txt", "\xef\xbb\xbf"
                         "0 1 x\n") == refusal("a.txt", "0 1 x\n")); // columns do not count it
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
  constexpr const char* fix = "\n  fix: give an edge on each line, with the columns of the first one";
  CHECK(refusal("a.wel", "0 1 5\n1 0\n") ==
        std::string("tidegate: a.wel:2:4: error: expected the value, got the end of the line [bad_graph]") +
            fix);
  CHECK(refusal("a.wel", "0 1\n1 0 5\n") ==
        std::string("tidegate: a.wel:2:5: error: expected the end of the line, got \"5\" [bad_graph]") + fix);
  // One of them that is not an integer makes all of them real.
  CHECK(reals_of(weights("0 1 5\n1 0 5.5\n")) == std::vector<float>{5, 5.5});
  CHECK(refusal("a.wel", "0 1 5\n1 0 5.5x\n") ==
        std::string("tidegate: a.wel:2:5: error: expected an integer, got \"5.5x\" [bad_graph]") + fix);
  CHECK(load_text("a.wel", "0 1 5\n1 0 5.5\n", {.weights = WeightUse::ignored})->facts->values ==
        ValueColumn::real);
  CHECK(refusal("a.txt", "0 1\n0,1\n") ==
        std::string("tidegate: a.txt:2:2: error: expected a blank and the target, got \",1\" [bad_graph]\n"
                    "  fix: write blanks where the commas are"));
  CHECK(refusal("a.txt", "0 4294967295\n") ==
        "tidegate: a.txt:1:3: error: the target is 4294967295, and vertices are 0 to 2147483647 [bad_graph]\n"
        "  fix: correct it, or give the graph \"ids\": \"compact\", which numbers the vertices that occur");
}

TEST_CASE("weights from a pipe may be real after an integer one") {
  for (const auto& [use, found] : {std::pair(WeightUse::as_given, ""),
                                   {WeightUse::u32, "the weight 5.5 is not a whole number"},
                                   {WeightUse::f32, ""},
                                   {WeightUse::ignored, ""}}) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    REQUIRE(::write(ends[1], "0 1 5\n1 0 5.5\n", 14) == 14);
    ::close(ends[1]);
    const auto loaded = load_graph(fmt::format("/dev/fd/{}", ends[0]), {.weights = use});
    ::close(ends[0]);
    CHECK((loaded ? "" : loaded.error().message) == found);
    if (use == WeightUse::f32) {
      CHECK(reals_of(loaded->graph.out) == std::vector<float>{5, 5.5});
    }
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
    CHECK(refusal("a.wel", fmt::format("0 1 0.5\n1 0 {}\n", weight), {.weights = WeightUse::f32}) ==
          fmt::format(
              "tidegate: a.wel:2:5: error: the weight {} is below 1.1754944e-38, the least of 32 bits that "
              "keeps all digits [bad_graph]\n  fix: scale the weights up",
              weight));
    CHECK(load_text("a.wel", fmt::format("0 1 0.5\n1 0 {}\n", weight)));
  }
  CHECK(load_text("a.wel", "0 1 0.0\n1 0 0e-400\n", {.weights = WeightUse::f32}));
}

TEST_CASE("files that are not graphs") {
  constexpr const char* fix =
      "\n  fix: give a Matrix Market, DIMACS .gr, METIS .graph or .csv file or a list of edges (two numbers a "
      "line), plain or compressed by gzip";
  CHECK(refusal("a.txt", "") ==
        "tidegate: a.txt: error: the file is empty [bad_graph]\n"
        "  fix: give a Matrix Market, DIMACS .gr, METIS or CSV file or a list of edges");
  CHECK(refusal("a.json", "{\"a\": 1}\n") ==
        std::string(
            "tidegate: a.json:1: error: unknown graph format; the first line is \"{\"a\": 1}\" [bad_graph]") +
            fix);
  using namespace std::string_literals;
  std::string archive(512, '\0');
  archive.replace(0, 7, "list.el").replace(257, 5, "ustar");
  for (const auto& [bytes, name, unpack] :
       std::vector<std::array<std::string, 3>>{{"\xfd"
                                                "7zXZ\0\0"s,
                                                "compressed by xz", "xz -d"},
                                               {"BZh91AY&SY", "compressed by bzip2", "bunzip2"},
                                               {"\x28\xb5\x2f\xfd\x04", "compressed by zstd", "zstd -d"},
                                               {"PK\x03\x04\x14", "a zip archive", "unzip"},
                                               {archive, "a tar archive", "tar -x"},
                                               {gzip_member(archive), "a tar archive", "tar -x"},
                                               {"\xff\xfe"
                                                "0\0 \0001\0\n\0"s,
                                                "text in UTF-16", "iconv -f UTF-16 -t UTF-8"}}) {
    CHECK(refusal("a.mtx", bytes) ==
          fmt::format("tidegate: a.mtx: error: the file is {} [bad_graph]\n"
                      "  fix: unpack it first (`{}`), or compress the graph by gzip",
                      name, unpack));
  }
  CHECK(refusal("a.txt", "0 1\n\0\0 1\n"s) == "tidegate: a.txt: error: the file is not text [bad_graph]\n"
                                              "  fix: give a graph as text, plain or compressed by gzip");
}

TEST_CASE("a large vertex number does not allocate more memory than there is") {
  CHECK(refusal("a.txt", "0 2000000000\n", {.build = {.most_bytes = 1U << 20U}}) ==
        "tidegate: a.txt: error: a graph of 2000000001 vertices and 1 edge needs 14.9 GiB of memory to "
        "build; 1 MiB are available [input_too_large]\n"
        "  fix: take a machine with more memory; vertices that are numbered without gaps need the least");
  CHECK(refusal("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3000000000\n",
                {.build = {.most_bytes = 1U << 30U}}) ==
        "tidegate: a.mtx: error: a graph of 3 vertices and 3000000000 edges needs 33.5 GiB of memory to "
        "build; 1 GiB are available [input_too_large]\n"
        "  fix: take a machine with more memory; vertices that are numbered without gaps need the least");
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
