// METIS files: a row for each vertex.
#include "graph_support.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

// The graph of the METIS manual, and its forms.
constexpr const char* metis_plain = "% figure 3\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
constexpr const char* metis_weighted =
    "7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n";
constexpr const char* metis_all =
    "7 11 011 2\n4 3 5 1 3 2 2 1\n9 0 1 1 3 2 4 1\n1 1 5 3 4 2 2 2 1 2\n1 1 2 1 3 2 6 2 7 5\n1 1 1 1 3 3 6 2\n1 1 5 2 4 2 7 6\n1 1 6 6 4 5\n";

} // namespace

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
    CHECK(loaded->facts->lines == (text == metis_plain ? 9 : 8));
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
