// The serial algorithms on graphs small enough to check by hand.
#include "graph_support.hpp"
#include <tidegate/graph/serial.hpp>

using namespace tidegate;
using namespace tidegate::test;

namespace {

using Words = std::vector<std::uint32_t>;

//  0 → 1 → 3 → 4 → 1    5 alone, 6 with itself
//  0 → 2 → 3
const Graph& example() {
  static const Graph graph =
      graph_of(7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 1}, {6, 6}}, false, {4, 1, 1, 2, 0, 9, 3});
  return graph;
}

} // namespace

TEST_CASE("levels and parents") {
  const std::vector<Vertex> from{0};
  const BreadthFirstTree tree = breadth_first(example(), from);
  CHECK(tree.levels == Words{0, 1, 1, 2, 3, none, none});
  CHECK(tree.parents == Words{0, 0, 0, 1, 3, none, none});
  const std::vector<Vertex> both{4, 6, 4};
  CHECK(breadth_first(example(), both).levels == Words{none, 1, none, 2, 0, none, 0});
}

TEST_CASE("reached sources") {
  const std::vector<Vertex> from{0, 4, 5};
  CHECK(reached_from(example(), from) == Words{1, 3, 1, 3, 3, 4, 0});
}

TEST_CASE("distances, with sums of more than 32 bits and weights of 0") {
  using Distances = std::vector<std::uint64_t>;
  const std::vector<Vertex> from{0};
  CHECK(shortest_distances_u32(example(), from) == Distances{0, 4, 1, 3, 3, far_away, far_away});
  const Graph heavy = graph_of(4, {{0, 1}, {1, 2}, {2, 3}}, false, {0xfffffffe, 1, 1});
  CHECK(shortest_distances_u32(heavy, from) == Distances{0, 0xfffffffe, 0xffffffff, 0x100000000});
  const Graph plain = graph_of(3, {{0, 1}, {1, 2}});
  CHECK(shortest_distances_u32(plain, from) == Distances{0, 1, 2});
  CHECK(shortest_distances_f32(plain, from) == std::vector<float>{0, 1, 2});
  CHECK(std::isinf(shortest_distances_f32(graph_of(2, {}), from)[1]));
}

TEST_CASE("weights are whole where a float would round them") {
  CHECK(weight_of(graph_of(2, {{0, 1}}, false, {16'777'217}).out, 0) == 16'777'217);
  CHECK(weight_of(graph_of(2, {{0, 1}}).out, 0) == 1);
}

TEST_CASE("components are named by their smallest vertex, edges counting both ways") {
  CHECK(components(graph_of(6, {{3, 1}, {1, 3}, {4, 3}, {5, 0}})) == Words{0, 1, 2, 1, 1, 0});
}

TEST_CASE("ranks have the sum 1, and those of a star match the formula") {
  // Two vertices point to a third, which has no edges: x = (1 - d + d z) / 3, z = x + 2 d x.
  const Graph star = graph_of(3, {{0, 2}, {1, 2}});
  const PageRanks result = page_ranks(star, {.tolerance = 1e-14});
  const double x = 1 / (3 + 2 * 0.85);
  CHECK(result.ranks[0] == doctest::Approx(x).epsilon(1e-12));
  CHECK(result.ranks[2] == doctest::Approx(x * (1 + 2 * 0.85)).epsilon(1e-12));
  CHECK(result.change < 1e-14);
  CHECK(page_ranks(star, {.max_iterations = 2}).iterations == 2);
  CHECK(page_ranks(graph_of(0, {}), {}).ranks.empty());
}

TEST_CASE("ranks by weights match the formula; an edge of weight 0 is none") {
  // 0 → 1 with 3 of 4 parts, 0 → 2 with one, both back to 0, and 1 → 2 with none:
  // a = x + d (b + c), b = x + 3/4 d a, c = x + 1/4 d a, with x = (1 - d) / 3.
  Graph graph = graph_of(3, {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {1, 2}}, false, {3, 1, 7, 5, 0});
  use_shares(graph);
  CHECK(edge_count(graph) == 4);
  const double d = 0.85, x = 0.05;
  const double a = (x + 2 * d * x) / (1 - d * d);
  const std::vector<double> ranks = page_ranks(graph, {.tolerance = 1e-14, .by_shares = true}).ranks;
  CHECK(ranks[0] == doctest::Approx(a).epsilon(1e-12));
  CHECK(ranks[1] == doctest::Approx(x + 0.75 * d * a).epsilon(1e-12));
  CHECK(ranks[2] == doctest::Approx(x + 0.25 * d * a).epsilon(1e-12));

  // Edges of both directions have shares of their own; vertex 2 has no weights but 0, as if it had no edges.
  Graph path = graph_of(3, {{0, 1}, {1, 2}}, true, {2, 0});
  use_shares(path);
  CHECK(reals_of(path.out) == std::vector<float>{1, 1});
  CHECK(path.out.degree(2) == 0);
  CHECK(path.in->offsets == std::vector<std::uint64_t>{0, 1, 2, 2});
}
