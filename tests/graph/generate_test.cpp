// Generated graphs are the same everywhere.
#include "graph_support.hpp"
#include <tidegate/graph/load.hpp>

using namespace tidegate;
using namespace tidegate::test;

namespace {

Rows rows_of(const GeneratorSpec& spec, LoadOptions options = {}) {
  options.build.threads = 2;
  return generate_graph(spec, options)->out;
}

// A hash of a graph; other graphs hardly ever have the same.
std::uint64_t fingerprint(const Rows& rows) {
  std::uint64_t hash = rows.vertices();
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3U; };
  for (const auto& [source, target] : pairs(rows)) {
    add(source);
    add(target);
  }
  std::ranges::for_each(rows.weights, add);
  return hash;
}

} // namespace

TEST_CASE("a grid joins each vertex with its neighbours, both ways") {
  const Rows rows = rows_of({.grid = GridSpec{.width = 3, .height = 2}});
  Pairs edges{{0, 1}, {0, 3}, {1, 0}, {1, 2}, {1, 4}, {2, 1}, {2, 5},
              {3, 0}, {3, 4}, {4, 1}, {4, 3}, {4, 5}, {5, 2}, {5, 4}};
  CHECK(pairs(rows) == edges);
  CHECK(rows_of({.grid = GridSpec{.width = 1, .height = 1}}).edges() == 0);
  CHECK(rows_of({.grid = GridSpec{.width = 0, .height = 5}}).vertices() == 0);
  for (const auto& [width, height] : {std::pair{1U, 9U}, {9U, 1U}, {70000U, 2U}, {2U, 70000U}}) {
    const GeneratorSpec spec{.grid = GridSpec{.width = width, .height = height}};
    CHECK(rows_of(spec).edges() == 2 * generated_size(spec)->edges);
  }
}

TEST_CASE("weights of a grid are the same both ways and in range") {
  const Graph graph =
      *generate_graph({.grid = GridSpec{.width = 40, .height = 30, .seed = 5, .max_weight = 7}},
                      {.weights = WeightUse::as_given});
  const auto& weights = integers_of(graph.out);
  CHECK(*std::ranges::min_element(weights) == 1);
  CHECK(*std::ranges::max_element(weights) == 7);
  const Rows opposite = transposed(graph.out, 1);
  CHECK(integers_of(opposite) == weights);
  CHECK(reals_of(rows_of({.grid = GridSpec{.width = 2, .height = 1}}, {.weights = WeightUse::f32})) ==
        std::vector<float>{1, 1});
}

TEST_CASE("rmat has few vertices with many edges, uniform none") {
  const auto most = [](const Rows& rows) {
    std::uint64_t degree = 0;
    for (Vertex v = 0; v < rows.vertices(); ++v) {
      degree = std::max(degree, rows.degree(v));
    }
    return degree;
  };
  const Rows rmat = rows_of({.rmat = RmatSpec{.scale = 12, .seed = 3}});
  const Rows uniform = rows_of({.uniform = UniformSpec{.vertices = 4096, .edges = 65536, .seed = 3}});
  CHECK(rmat.vertices() == 4096);
  CHECK(rmat.edges() == 65536);
  CHECK(uniform.edges() == 65536);
  CHECK(most(uniform) < 50);
  CHECK(most(rmat) > 500);
}

TEST_CASE("equal seeds give equal graphs on every machine") {
  // The expected values come from an independent Python implementation.
  const LoadOptions weighted{.weights = WeightUse::u32};
  CHECK(fingerprint(rows_of({.rmat = RmatSpec{.scale = 10, .seed = 1, .max_weight = 255}}, weighted)) ==
        8580272887980775067U);
  CHECK(fingerprint(rows_of({.uniform = UniformSpec{.vertices = 1000, .edges = 9000, .seed = 1}})) ==
        10300650790174793708U);
  CHECK(fingerprint(rows_of({.grid = GridSpec{.width = 33, .height = 44, .seed = 1, .max_weight = 9}},
                            weighted)) == 7687808430209171444U);
  CHECK(fingerprint(rows_of({.rmat = RmatSpec{.scale = 10, .seed = 1}})) !=
        fingerprint(rows_of({.rmat = RmatSpec{.scale = 10, .seed = 2}})));
}

TEST_CASE("impossible graphs") {
  for (const auto& [spec, error] : std::vector<std::pair<GeneratorSpec, const char*>>{
           {{}, "generate has 0 of rmat, grid and uniform |  | give exactly one of them"},
           {{.rmat = RmatSpec{}, .grid = GridSpec{}},
            "generate has 2 of rmat, grid and uniform |  | give exactly one of them"},
           {{.rmat = RmatSpec{.scale = 32}},
            "the scale is 32, and vertices are numbers of 32 bits | /rmat/scale | give a scale up to 31"},
           {{.rmat = RmatSpec{.b = -0.5}}, "the probability b is -0.5 | /rmat/b | give a number from 0 to 1"},
           {{.rmat = RmatSpec{.a = 0.75, .b = 0.25, .c = 0.25}},
            "the probabilities a, b and c have the sum 1.25 | /rmat | "
            "make them smaller; the fourth quadrant gets the rest up to 1"},
           {{.grid = GridSpec{.width = 65536, .height = 65536}},
            "the grid has 4294967296 vertices, more than 2147483648 | /grid | make it smaller"},
           {{.uniform = UniformSpec{.vertices = 0, .edges = 1}},
            "a graph without vertices has no edges | /uniform/vertices | give it vertices"}}) {
    const auto size = generated_size(spec);
    REQUIRE(!size);
    CHECK(size.error().code == ErrorCode::invalid_program);
    CHECK(in_a_line(size.error()) == error);
  }
  // More than 2^31 edges are counted, but not generated if they do not fit.
  const GeneratorSpec large{.rmat = RmatSpec{.scale = 28, .edge_factor = 16}};
  CHECK(generated_size(large)->edges == std::uint64_t{1} << 32U);
  CHECK(generate_graph(large, {.build = {.most_bytes = 1U << 30U}}).error().code ==
        ErrorCode::input_too_large);
}
