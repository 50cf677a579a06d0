// The checks accept right results on random graphs, and name the fault in wrong ones.
#include "../graph/graph_support.hpp"
#include "../test_scale.hpp"
#include "traversal/checks.hpp"

namespace tidegate::traversal {
namespace {

using graphs::Algorithm;
using test::none;
using Words = std::vector<std::uint32_t>;

std::string text(const std::optional<Error>& violation) {
  if (violation) {
    CHECK(violation->code == ErrorCode::outputs_differ);
    CHECK(violation->message.starts_with(*violation->field + ": "));
  }
  return violation ? violation->message : "right";
}

std::string verified(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     TraversalResults results) {
  const Verification verification = verify(program, graph, results);
  CHECK(verification.right == !verification.error);
  return text(verification.error);
}

Words bits(const std::vector<double>& ranks) {
  Words words;
  for (const double rank : ranks) {
    words.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(rank)));
  }
  return words;
}

//  0 → 1 → 3 → 4    5 → 6 → 5
//  0 → 2 → 3
const graphs::Graph& two_parts() {
  static const graphs::Graph graph = test::graph_of(
      7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {5, 6}, {6, 5}}, false, {4, 1, 1, 2, 5, 0, 0});
  return graph;
}

std::string parents(Words given) {
  return verified({.algorithm = Algorithm::bfs, .sources = {0}}, two_parts(),
                  {.values = {0, 1, 1, 2, 3, none, none}, .parents = std::move(given)});
}

} // namespace

TEST_CASE("wrong parents") {
  CHECK(parents({0, 0, 0, 1, 3, none, none}) == "right");
  CHECK(parents({0, 0, 0, 2, 3, none, none}) == "right");
  CHECK(parents({1, 0, 0, 1, 3, none, none}) ==
        "source_parent: the parent of vertex 0, a source, is 1 and should be 0");
  CHECK(parents({0, 0, 0, 1, 3, 6, none}) ==
        "parent_level: the parent of vertex 5, which is unreached, is 6 and should be 4294967295");
  CHECK(parents({0, 0, 0, none, 3, none, none}) ==
        "parent_out_of_range: the parent of vertex 3 is 4294967295, which is not a vertex");
  CHECK(parents({0, 0, 0, 0, 3, none, none}) ==
        "parent_level: vertex 3 has level 2, and its parent 0 is level 0");
  CHECK(parents({0, 0, 0, 6, 3, none, none}) ==
        "parent_level: vertex 3 has level 2, and its parent 6 is unreached");
  CHECK(verified({.algorithm = Algorithm::bfs, .sources = {0}}, test::graph_of(4, {{0, 1}, {0, 2}, {1, 3}}),
                 {.values = {0, 1, 1, 2}, .parents = {0, 0, 0, 2}}) ==
        "parent_not_adjacent: the parent of vertex 3 is 2, and there is no edge between them");
}

TEST_CASE("wrong ranks") {
  const graphs::FrontierProgram program{.algorithm = Algorithm::pagerank,
                                        .pagerank = graphs::PageRankOptions{.tolerance = 1e-7}};
  const graphs::Graph graph = test::graph_of(4, {{0, 1}, {1, 2}, {2, 0}, {3, 0}});
  const std::vector<double> right = page_ranks(graph, page_rank_options(program)).ranks;
  const auto with = [&](std::size_t vertex, double rank) {
    std::vector<double> ranks = right;
    ranks[vertex] = rank;
    return verified(program, graph, {.values = bits(ranks)});
  };
  CHECK(with(0, right[0]) == "right");
  CHECK(with(3, 0.01).starts_with("residual: the rank of vertex 0 is "));
  CHECK(with(0, right[2]).starts_with("residual: the rank of vertex 0 is "));
  CHECK(
      with(1, std::numeric_limits<double>::quiet_NaN()).starts_with("residual: the rank of vertex 1 is nan"));
}

// As in a scale-free graph with 16 million vertices: floats cannot add a hub's edges more exactly.
TEST_CASE("ranks of hubs may differ by rounding errors") {
  constexpr std::uint32_t leaves = 20'000;
  test::Pairs edges;
  for (graphs::Vertex v = 1; v <= leaves; ++v) {
    edges.emplace_back(v, 0);
    edges.emplace_back(0, v);
  }
  const graphs::FrontierProgram program{.algorithm = Algorithm::pagerank,
                                        .pagerank = graphs::PageRankOptions{.tolerance = 1e-7}};
  const graphs::Graph star = test::graph_of(leaves + 1, edges);
  std::vector<double> ranks = page_ranks(star, page_rank_options(program)).ranks;
  const auto of = [&](const std::vector<double>& given) {
    return verify(program, star, {.values = bits(given)});
  };
  CHECK(*of(ranks).allowed_change > 5e-4); // the hub has half of all rank: 20 000 / 2^24 / 2
  CHECK(*of(ranks).allowed_change < 7e-4);
  ranks[0] *= 1.0005; // less than 20 000 / 2^24
  CHECK(text(of(ranks).error) == "right");
  std::vector<double> hub = ranks;
  hub[0] *= 1.003;
  CHECK(text(of(hub).error).starts_with("residual"));
  for (graphs::Vertex v = 1; v <= leaves; ++v) { // each within the tolerance, but not in total
    ranks[v] += v % 2 == 0 ? 9e-8 : -9e-8;
  }
  CHECK(text(of(ranks).error).starts_with("residual: one more iteration changes the ranks by 0.00"));
}

TEST_CASE("the first difference of two results") {
  const auto differing = [](Algorithm algorithm, TraversalResults right, TraversalResults got,
                            bool floats = false) {
    const graphs::Graph graph = test::graph_of(3, {{0, 1}, {1, 2}});
    graphs::Graph weighted = graph;
    if (floats) {
      weighted.out.weight_type = graphs::WeightType::f32;
      weighted.out.weights = bits({1, 1});
    }
    const auto compared = compare({.algorithm = algorithm, .sources = {0}}, weighted, right, got);
    return compared ? "right" : text(compared.error());
  };
  CHECK(differing(Algorithm::bfs, {.values = {0, 1, 2}}, {.values = {0, 1, 2}}) == "right");
  CHECK(differing(Algorithm::bfs, {.values = {0, 1, 2}}, {.values = {0, 7, 7}}) ==
        "result_differs: the levels differ at vertex 1: 7 instead of 1");
  CHECK(differing(Algorithm::sssp, {.values = bits({0, INFINITY})}, {.values = bits({0, 2.5})}, true) ==
        "result_differs: the distances differ at vertex 1: 2.5 instead of inf");
  CHECK(differing(Algorithm::sssp, {.values = {0, 0, none, 0}, .wide = true}, {.values = {0, none}}) ==
        "result_differs: the distances differ at vertex 1: 18446744073709551615 instead of 4294967295");
  CHECK(differing(Algorithm::pagerank, {.values = bits({0.5, 0.25, 0.25})},
                  {.values = bits({0.5, 0.2501, 0.2499}), .rank_change = 1e-3}) == "right");
  CHECK(
      differing(Algorithm::pagerank, {.values = bits({0.5, 0.25, 0.25})}, {.values = bits({0.5, 0.25, 0.24})})
          .starts_with("result_differs: the ranks are off by 0.0"));
  CHECK(
      differing(Algorithm::pagerank, {.values = bits({0.5, 0.25, 0.25})}, {.values = bits({0.5, NAN, 0.25})})
          .starts_with("result_differs: the ranks are off by nan in sum"));
}

TEST_CASE("on random graphs the serial results pass and modified ones fail") {
  for (unsigned seed = 1; seed <= 200U / test::scale; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto vertices = static_cast<std::uint32_t>(2 + random() % 60);
    const graphs::GeneratorSpec spec{
        .uniform =
            graphs::UniformSpec{.vertices = vertices, .edges = random() % (3 * vertices), .seed = seed}};
    const graphs::Graph graph =
        *generate_graph(spec, {.undirected = seed % 3 == 0, .build = {.in_rows = true, .threads = 1}});
    graphs::FrontierProgram program{.algorithm = Algorithm::bfs};
    for (std::size_t count = 1 + random() % 3; program.sources.size() < count;) {
      program.sources.push_back(random() % vertices);
    }
    const graphs::BreadthFirstTree tree = breadth_first(graph, source_vertices(program));
    REQUIRE(verified(program, graph, {.values = tree.levels, .parents = tree.parents}) == "right");
    program.algorithm = Algorithm::pagerank;
    program.pagerank = graphs::PageRankOptions{.tolerance = 1e-9};
    std::vector<double> ranks = page_ranks(graph, page_rank_options(program)).ranks;
    REQUIRE(verified(program, graph, {.values = bits(ranks)}) == "right");
    ranks[random() % vertices] *= 1.01;
    REQUIRE(verified(program, graph, {.values = bits(ranks)}) != "right");
  }
}

} // namespace tidegate::traversal
