// The checks accept the serial results on random graphs, and name the fault in wrong ones.
#include "../test_scale.hpp"
#include "graph_support.hpp"
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/verify.hpp>

using namespace tidegate;
using namespace tidegate::test;

namespace {

using Words = std::vector<std::uint32_t>;
using Floats = std::vector<float>;
constexpr float far = std::numeric_limits<float>::infinity();

std::string text(const std::optional<Error>& violation) {
  if (violation) {
    CHECK(violation->code == ErrorCode::outputs_differ);
    CHECK(violation->message.starts_with(*violation->field + ": "));
  }
  return violation ? violation->message : "right";
}

//  0 → 1 → 3 → 4    5 → 6 → 5
//  0 → 2 → 3
const Graph& two_parts() {
  static const Graph graph =
      graph_of(7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {5, 6}, {6, 5}}, false, {4, 1, 1, 2, 5, 0, 0});
  return graph;
}
const std::vector<Vertex> from{0};

std::string parents(Words given) {
  return text(check_parents(two_parts(), from, Words{0, 1, 1, 2, 3, none, none}, given));
}
Floats narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

} // namespace

TEST_CASE("wrong parents") {
  CHECK(parents({0, 0, 0, 1, 3, none, none}) == "right");
  CHECK(parents({0, 0, 0, 2, 3, none, none}) == "right");
  CHECK(parents({0}) == "wrong_length: there are 1 parents of 7 vertices");
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
  const Graph two = graph_of(4, {{0, 1}, {0, 2}, {1, 3}});
  CHECK(text(check_parents(two, from, Words{0, 1, 1, 2}, Words{0, 0, 0, 2})) ==
        "parent_not_adjacent: the parent of vertex 3 is 2, and there is no edge between them");
}

TEST_CASE("wrong ranks") {
  const Graph graph = graph_of(4, {{0, 1}, {1, 2}, {2, 0}, {3, 0}});
  const PageRankOptions options{.tolerance = 1e-7};
  const Floats right = narrow(page_ranks(graph, options).ranks);
  const auto of = [&](const Floats& ranks) { return text(check_ranks(graph, ranks, options)); };
  CHECK(of(right) == "right");
  CHECK(of({1}) == "wrong_length: there are 1 ranks of 4 vertices");
  Floats low = right;
  low[3] = 0.01F;
  CHECK(of(low) == "rank_range: the rank of vertex 3 is 0.01, and all have at least 0.037500000000000006");
  Floats more = right;
  more[0] += 0.5F;
  CHECK(of(more).starts_with("rank_sum: the ranks have the sum 1.5"));
  Floats swapped = right;
  std::swap(swapped[0], swapped[2]);
  CHECK(of(swapped).starts_with("residual: the rank of vertex 0 is "));
  Floats none_at_all = right;
  none_at_all[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(of(none_at_all).starts_with("rank_range: the rank of vertex 1 is nan"));
}

// As in a scale-free graph with 16 million vertices: floats cannot add a hub's edges more exactly.
TEST_CASE("ranks of hubs may differ by rounding errors") {
  constexpr std::uint32_t leaves = 20'000;
  Pairs edges;
  for (Vertex v = 1; v <= leaves; ++v) {
    edges.emplace_back(v, 0);
    edges.emplace_back(0, v);
  }
  const Graph star = graph_of(leaves + 1, edges);
  const PageRankOptions options{.tolerance = 1e-7};
  Floats ranks = narrow(page_ranks(star, options).ranks);
  const double allowed = allowed_rank_change(star, ranks, options);
  CHECK(allowed > 5e-4); // the hub has half of all rank: 20 000 / 2^24 / 2
  CHECK(allowed < 7e-4);
  ranks[0] *= 1.0005F; // less than 20 000 / 2^24
  CHECK(text(check_ranks(star, ranks, options)) == "right");
  Floats hub = ranks;
  hub[0] *= 1.003F;
  CHECK(text(check_ranks(star, hub, options)).starts_with("residual"));
  for (Vertex v = 1; v <= leaves; ++v) { // each within the tolerance, but not in total
    ranks[v] += v % 2 == 0 ? 9e-8F : -9e-8F;
  }
  CHECK(text(check_ranks(star, ranks, options))
            .starts_with("residual: one more iteration changes the ranks by 0.00"));
  const std::vector<double> expected{0.5, 0.25, 0.25};
  CHECK(text(check_rank_distance(expected, Floats{0.5F, 0.2501F, 0.2499F}, 1e-4, 0.5)) == "right");
  CHECK(text(check_rank_distance(expected, Floats{0.5F, 0.25F, 0.2497F}, 1e-4, 0.5))
            .starts_with("result_differs: the ranks are off by 0.0003"));
  CHECK(text(check_rank_distance(expected, Floats{0.5F, std::numeric_limits<float>::quiet_NaN(), 0.25F}, 1,
                                 0.5))
            .starts_with("result_differs: the ranks are off by nan in sum, and 2 is allowed"));
}

TEST_CASE("the first difference of two results") {
  CHECK(text(first_difference("levels", Words{0, 1, 2}, Words{0, 1, 2})) == "right");
  CHECK(text(first_difference("levels", Words{0, 1, 2}, Words{0, 7, 7})) ==
        "result_differs: the levels differ at vertex 1: 7 instead of 1");
  CHECK(text(first_difference("distances", Floats{0, far}, Floats{0, 2.5F})) ==
        "result_differs: the distances differ at vertex 1: 2.5 instead of inf");
  const std::vector<std::uint64_t> wide{0, 0xffffffff};
  CHECK(text(first_difference("distances", wide, widened(Words{0, none}))) ==
        "result_differs: the distances differ at vertex 1: 18446744073709551615 instead of "
        "4294967295");
  CHECK(text(first_difference("labels", Words{0}, Words{})) ==
        "wrong_length: there are 0 labels and should be 1");
}

TEST_CASE("on random graphs the serial results pass and modified ones fail") {
  for (unsigned seed = 1; seed <= 200U / test::scale; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto vertices = static_cast<std::uint32_t>(2 + random() % 60);
    const GeneratorSpec spec{
        .uniform = UniformSpec{.vertices = vertices, .edges = random() % (3 * vertices), .seed = seed}};
    const LoadOptions options{.undirected = seed % 3 == 0, .build = {.in_rows = true, .threads = 1}};
    const Graph graph = *generate_graph(spec, options);
    std::vector<Vertex> sources;
    for (std::size_t count = 1 + random() % 3; sources.size() < count;) {
      sources.push_back(static_cast<Vertex>(random() % vertices));
    }
    const BreadthFirstTree tree = breadth_first(graph, sources);
    REQUIRE(text(check_parents(graph, sources, tree.levels, tree.parents)) == "right");
    const PageRankOptions precise{.tolerance = 1e-9};
    Floats ranks = narrow(page_ranks(graph, precise).ranks);
    REQUIRE(text(check_ranks(graph, ranks, precise)) == "right");
    ranks[random() % vertices] *= 1.01F;
    REQUIRE(check_ranks(graph, ranks, precise));
  }
}
