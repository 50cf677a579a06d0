// The checks accept correct results on random graphs, and name the fault in modified ones.
#include "../test_scale.hpp"
#include "graph_support.hpp"
#include <tidegate/graph/load.hpp>
#include <tidegate/graph/verify.hpp>

#include <limits>

using namespace tidegate;
using namespace tidegate::test;

namespace {

using Words = std::vector<std::uint32_t>;
using Floats = std::vector<float>;
constexpr float far = std::numeric_limits<float>::infinity();

std::string text(const std::optional<Violation>& violation) {
  if (!violation) {
    return "right";
  }
  std::string place;
  if (violation->vertex) {
    place = " at " + std::to_string(*violation->vertex);
  }
  if (violation->edge) {
    place = " at " + std::to_string(violation->edge->source) + "-" + std::to_string(violation->edge->target);
  }
  return std::string(violation->rule) + place + ": " + violation->message;
}

//  0 → 1 → 3 → 4    5 → 6 → 5
//  0 → 2 → 3
const Graph& two_parts() {
  static const Graph graph =
      graph_of(7, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {5, 6}, {6, 5}}, false, {4, 1, 1, 2, 5, 0, 0});
  return graph;
}
const std::vector<Vertex> from{0};

std::string levels(Words given) {
  return text(check_levels(two_parts(), from, given));
}
std::string parents(Words given) {
  return text(check_parents(two_parts(), from, Words{0, 1, 1, 2, 3, none, none}, given));
}
std::string reached(Words given) {
  return text(check_reached(two_parts(), std::vector<Vertex>{0, 3}, given));
}
std::string distances(Words given) {
  return text(check_distances(two_parts(), from, given));
}

template <class Value>
std::vector<Value> changed(std::vector<Value> values, std::mt19937& random,
                           const std::vector<Value>& others) {
  const std::size_t at = random() % values.size();
  const Value before = values[at];
  while (values[at] == before) {
    values[at] = random() % 2 == 0 ? others[random() % others.size()] : static_cast<Value>(before + 1);
  }
  return values;
}

Floats narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

} // namespace

TEST_CASE("wrong levels") {
  CHECK(levels({0, 1, 1, 2, 3, none, none}) == "right");
  CHECK(levels({0, 1}) == "wrong_length: there are 2 levels of 7 vertices");
  CHECK(levels({1, 1, 1, 2, 3, none, none}) == "source_level at 0: the source 0 is level 1");
  CHECK(levels({0, 0, 1, 2, 3, none, none}) == "source_level at 1: vertex 1 has level 0 and is not a source");
  CHECK(levels({0, 1, 1, 3, 4, none, none}) ==
        "level_jump at 1-3: the edge from 1 at level 1 leads to 3, level 3");
  CHECK(levels({0, 1, 1, 2, none, none, none}) ==
        "level_jump at 3-4: the edge from 3 at level 2 leads to 4, unreached");
  CHECK(levels({0, 1, 1, 2, 2, none, none}) ==
        "unsupported_level at 4: vertex 4 has level 2, and no edge leads to it from level 1");
  CHECK(levels({0, 1, 1, 2, 3, 5, 6}) ==
        "unsupported_level at 5: vertex 5 has level 5, and no edge leads to it from level 4");
}

TEST_CASE("wrong parents") {
  CHECK(parents({0, 0, 0, 1, 3, none, none}) == "right");
  CHECK(parents({0, 0, 0, 2, 3, none, none}) == "right");
  CHECK(parents({0}) == "wrong_length: there are 1 parents of 7 vertices");
  CHECK(parents({1, 0, 0, 1, 3, none, none}) ==
        "source_parent at 0: the parent of vertex 0, a source, is 1 and should be 0");
  CHECK(parents({0, 0, 0, 1, 3, 6, none}) ==
        "parent_level at 5: the parent of vertex 5, which is unreached, is 6 and should be 4294967295");
  CHECK(parents({0, 0, 0, none, 3, none, none}) ==
        "parent_out_of_range at 3: the parent of vertex 3 is 4294967295, which is not a vertex");
  CHECK(parents({0, 0, 0, 0, 3, none, none}) ==
        "parent_level at 3: vertex 3 has level 2, and its parent 0 is level 0");
  CHECK(parents({0, 0, 0, 6, 3, none, none}) ==
        "parent_level at 3: vertex 3 has level 2, and its parent 6 is unreached");
  const Graph two = graph_of(4, {{0, 1}, {0, 2}, {1, 3}});
  CHECK(text(check_parents(two, from, Words{0, 1, 1, 2}, Words{0, 0, 0, 2})) ==
        "parent_not_adjacent at 2-3: the parent of vertex 3 is 2, and there is no edge between them");
}

TEST_CASE("wrong reached sources") {
  CHECK(reached({1, 1, 1, 3, 3, 0, 0}) == "right");
  CHECK(reached({1}) == "wrong_length: there are 1 words of reached sources of 7 vertices");
  CHECK(reached({1, 1, 1, 1, 3, 0, 0}) ==
        "source_bit at 3: vertex 3 is source 1 and lacks its bit: 0x00000001");
  CHECK(reached({1, 1, 1, 3, 1, 0, 0}) ==
        "bit_not_passed at 3-4: vertex 3 has 0x00000003, but its neighbour 4 has 0x00000001");
  CHECK(reached({1, 1, 1, 3, 7, 0, 0}) ==
        "unsupported_bit at 4: vertex 4 has 0x00000007, but only 0x00000003 have a path to it");
  CHECK(reached({1, 1, 1, 3, 3, 1, 1}) ==
        "unsupported_bit at 5: vertex 5 has 0x00000001, but only 0x00000000 have a path to it");
}

TEST_CASE("wrong distances") {
  CHECK(distances({0, 4, 1, 3, 8, none, none}) == "right");
  CHECK(distances({0}) == "wrong_length: there are 1 distances of 7 vertices");
  CHECK(distances({1, 4, 1, 3, 8, none, none}) == "source_distance at 0: the source 0 has the distance 1");
  CHECK(distances({0, 4, 1, 4, 8, none, none}) ==
        "triangle at 2-3: vertex 3 has the distance 4; through vertex 2 at 1 and an edge of 2 it is 3");
  CHECK(
      distances({0, 4, 1, 3, none, none, none}) ==
      "triangle at 3-4: vertex 4 has the distance 4294967295; through vertex 3 at 3 and an edge of 5 it is 8");
  CHECK(distances({0, 4, 1, 3, 7, none, none}) ==
        "loose_distance at 4: vertex 4 has the distance 7, but no path from a source has that length");
  // Two vertices support each other over edges of weight 0, but no source reaches them.
  CHECK(distances({0, 4, 1, 3, 8, 2, 2}) ==
        "loose_distance at 5: vertex 5 has the distance 2, but no path from a source has that length");
  const Graph heavy = graph_of(3, {{0, 1}, {1, 2}}, false, {0xffffffff, 1});
  CHECK(
      text(check_distances(heavy, from, Words{0, none, none})) ==
      "triangle at 0-1: vertex 1 has the distance 4294967295; through vertex 0 at 0 and an edge of 4294967295 it "
      "is 4294967295");
  const Graph plain = graph_of(2, {{0, 1}});
  CHECK(text(check_distances(plain, from, Floats{0, 1})) == "right");
  CHECK(text(check_distances(plain, from, Floats{0, far})) ==
        "triangle at 0-1: vertex 1 has the distance inf; through vertex 0 at 0 and an edge of 1 it is 1");
  CHECK(text(check_distances(plain, from, Floats{0, std::numeric_limits<float>::quiet_NaN()})) ==
        "loose_distance at 1: the distance of vertex 1 is not a number");
}

TEST_CASE("wrong components") {
  const Graph graph = graph_of(5, {{0, 1}, {3, 2}, {3, 4}});
  const auto of = [&graph](Words labels) { return text(check_components(graph, labels)); };
  CHECK(of({0, 0, 2, 2, 2}) == "right");
  CHECK(of({0}) == "wrong_length: there are 1 labels of 5 vertices");
  CHECK(of({0, 0, 2, 2, 4}) == "label_differs at 3-4: an edge joins vertex 3 with the label 2 and 4 with 4");
  CHECK(of({0, 0, 0, 0, 0}) == "label_shared at 2: vertices 0 and 2 are not connected and have one label, 0");
  CHECK(of({0, 0, 3, 3, 3}) ==
        "label_not_smallest at 2: vertex 2 has the label 3, and the smallest of its component is 2");
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
  CHECK(of(low) ==
        "rank_range at 3: the rank of vertex 3 is 0.01, and all have at least 0.037500000000000006");
  Floats more = right;
  more[0] += 0.5F;
  CHECK(of(more).starts_with("rank_sum: the ranks have the sum 1.5"));
  Floats swapped = right;
  std::swap(swapped[0], swapped[2]);
  CHECK(of(swapped).starts_with("residual at 0: the rank of vertex 0 is "));
  Floats none_at_all = right;
  none_at_all[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(of(none_at_all).starts_with("rank_range at 1: the rank of vertex 1 is nan"));
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
  CHECK(text(check_ranks(star, hub, options)).starts_with("residual at 0"));
  for (Vertex v = 1; v <= leaves; ++v) { // each within the tolerance, but not in total
    ranks[v] += v % 2 == 0 ? 9e-8F : -9e-8F;
  }
  CHECK(text(check_ranks(star, ranks, options))
            .starts_with("residual: one more iteration changes the ranks by 0.00"));
  const std::vector<double> expected{0.5, 0.25, 0.25};
  CHECK(text(check_rank_distance(expected, Floats{0.5F, 0.2501F, 0.2499F}, 1e-4, 0.5)) == "right");
  CHECK(text(check_rank_distance(expected, Floats{0.5F, 0.25F, 0.2497F}, 1e-4, 0.5))
            .starts_with("result_differs at 2: the ranks are off by 0.0003"));
  CHECK(text(check_rank_distance(expected, Floats{0.5F, std::numeric_limits<float>::quiet_NaN(), 0.25F}, 1,
                                 0.5))
            .starts_with("result_differs at 1: the ranks are off by nan in sum, and 2 is allowed"));
}

TEST_CASE("the first difference of two results, and a violation as an error") {
  CHECK(text(first_difference("levels", Words{0, 1, 2}, Words{0, 1, 2})) == "right");
  CHECK(text(first_difference("levels", Words{0, 1, 2}, Words{0, 7, 7})) ==
        "result_differs at 1: the levels differ at vertex 1: 7 instead of 1");
  CHECK(text(first_difference("distances", Floats{0, far}, Floats{0, 2.5F})) ==
        "result_differs at 1: the distances differ at vertex 1: 2.5 instead of inf");
  const std::vector<std::uint64_t> wide{0, 0xffffffff};
  CHECK(text(first_difference("distances", wide, Words{0, none})) ==
        "result_differs at 1: the distances differ at vertex 1: 18446744073709551615 instead of "
        "4294967295");
  CHECK(text(first_difference("labels", Words{0}, Words{})) ==
        "wrong_length: there are 0 labels and should be 1");
  const Error error = to_error(*first_difference("levels", Words{0}, Words{1}));
  CHECK(error.code == ErrorCode::outputs_differ);
  CHECK(error.message == "result_differs: the levels differ at vertex 0: 1 instead of 0");
}

TEST_CASE("on random graphs the serial results pass and modified ones fail") {
  for (unsigned seed = 1; seed <= 200U / test::scale; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto vertices = static_cast<std::uint32_t>(2 + random() % 60);
    const GeneratorSpec spec{.uniform = UniformSpec{.vertices = vertices,
                                                    .edges = random() % (3 * vertices),
                                                    .seed = seed,
                                                    .max_weight = static_cast<std::uint32_t>(random() % 4)}};
    const LoadOptions options{.weights = seed % 2 == 0 ? WeightUse::u32 : WeightUse::f32,
                              .undirected = seed % 3 == 0,
                              .build = {.in_rows = true, .threads = 1}};
    const Graph graph = *generate_graph(spec, options);
    std::vector<Vertex> sources;
    for (std::size_t count = 1 + random() % 3; sources.size() < count;) {
      sources.push_back(static_cast<Vertex>(random() % vertices));
    }
    const Words some{0, 1, 2, 3, none};

    const BreadthFirstTree tree = breadth_first(graph, sources);
    REQUIRE(text(check_levels(graph, sources, tree.levels)) == "right");
    REQUIRE(text(check_parents(graph, sources, tree.levels, tree.parents)) == "right");
    REQUIRE(check_levels(graph, sources, changed(tree.levels, random, some)));

    const Words words = reached_from(graph, sources);
    REQUIRE(text(check_reached(graph, sources, words)) == "right");
    REQUIRE(check_reached(graph, sources, changed(words, random, some)));

    const Words labels = components(graph);
    REQUIRE(text(check_components(graph, labels)) == "right");
    REQUIRE(check_components(graph, changed(labels, random, Words{0, 1, vertices - 1, none})));

    if (options.weights == WeightUse::u32) {
      Words lengths;
      for (const std::uint64_t length : shortest_distances_u32(graph, sources)) {
        lengths.push_back(static_cast<std::uint32_t>(length)); // far_away becomes unreached
      }
      REQUIRE(text(check_distances(graph, sources, lengths)) == "right");
      REQUIRE(check_distances(graph, sources, changed(lengths, random, some)));
    } else {
      const Floats lengths = shortest_distances_f32(graph, sources);
      REQUIRE(text(check_distances(graph, sources, lengths)) == "right");
      REQUIRE(check_distances(graph, sources, changed(lengths, random, Floats{0, 1, 2, 0.5F, far})));
    }

    const PageRankOptions precise{.tolerance = 1e-9};
    Floats ranks = narrow(page_ranks(graph, precise).ranks);
    REQUIRE(text(check_ranks(graph, ranks, precise)) == "right");
    ranks[random() % vertices] *= 1.01F;
    REQUIRE(check_ranks(graph, ranks, precise));
  }
}
