// Edge lists with commas, semicolons or tabs.
#include "graph_support.hpp"

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
