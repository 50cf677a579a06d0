// Edge lists with commas, semicolons or tabs.
#include "graph_support.hpp"

#include <fmt/format.h>

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
    const auto* const floats = std::get_if<std::vector<float>>(&rows.weights);
    edges += fmt::format("{}>{}:{} ", from, to,
                         floats ? (*floats)[e] : static_cast<float>(std::get<1>(rows.weights)[e]));
    ++e;
  }
  return edges;
}

std::string csv_fault(const std::string& text) {
  return fault("a.csv", text);
}

} // namespace

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

TEST_CASE("what is not an edge is refused with its place") {
  CHECK(csv_fault("from,to\n0,1\n1,\n") ==
        "3:3: expected the target, a whole number, got the end of the line");
  CHECK(csv_fault("0,1\n1\n") == "2:2: expected the target, got the end of the line");
  CHECK(csv_fault("0,1\n1;2\n") == "2:2: expected a comma and the target, got \";2\"");
  CHECK(csv_fault("0;1\n1,2\n") == "2:2: expected a semicolon and the target, got \",2\"");
  CHECK(csv_fault("0\t1\n1 2\n") == "2:3: expected a tab and the target, got \"2\"");
  CHECK(csv_fault("0\t1\n1\t\t2\n") == "2:3: expected the target, a whole number, got the end of the line");
  CHECK(csv_fault("0,1,5\n1,0\n") == "2:4: expected the value, got the end of the line");
  CHECK(csv_fault("0,1\n1,0,5\n") == "2:4: expected the end of the line, got \",5\"");
  CHECK(csv_fault("0,1,5,6\n") == "1:5: expected an integer, got \"5,6\"");
  CHECK(csv_fault("0,1,5\n0,1,x\n") == "2:5: expected an integer, got \"x\"");
  CHECK(csv_fault("\"0\",\"1\"\n1,2\n") == "1:1: expected a number or a name, got \"0\"");
  CHECK(csv_fault("0,1\n0.0,1.0\n") == "2:2: expected a comma and the target, got \".0,1.0\"");
  CHECK(csv_fault("0,1\n-1,2\n") == "2:1: expected the source, a whole number, got \"-1,2\"");
  CHECK(csv_fault("0,1\nä,2\n") == "2:1: expected the source, a whole number, got \"ä,2\"");
  CHECK(csv_fault("0,4294967295\n") == "1:3: the target is 4294967295, and vertices are 0 to 2147483647");
  CHECK(csv_fault("0,123456789012345678901234567890\n") ==
        "1:3: the target is 123456789012345678901234567890, and vertices are 0 to 2147483647");
  CHECK(csv_fault("u,v\n\"0\",\"1\"\n") == "2:1: expected the source, a whole number, got \"\"0\",\"1\"\"");
}

TEST_CASE("columns that are something else are not taken for vertices") {
  CHECK(csv_fault("\"\",\"from\",\"to\"\n\"1\",1,2\n") == "1:1: column 1 has no name");
  CHECK(csv_fault(",from,to\n0,1,2\n") == "1:1: column 1 has no name");
  CHECK(csv_fault("id,Source,Target\n0,1,2\n") == "1:4: Source is column 2, and should be column 1");
  CHECK(csv_fault("target,source\n0,1\n") == "1:1: target is column 1, and should be column 2");
  CHECK(csv_fault("Source,Target,Type,Id\n0,1,Directed,0\n") == "1: the first line names 4 columns");
  CHECK(csv_fault("source\n0,1\n") == "1:1: expected the source, a whole number, got \"source\"");
}
