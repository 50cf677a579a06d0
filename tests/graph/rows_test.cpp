// Rows from edges, and their transpose.
#include "graph_support.hpp"
#include <tidegate/graph/serial.hpp>

using namespace tidegate;
using namespace tidegate::test;

namespace {

using Triple = std::tuple<Vertex, Vertex, std::uint32_t>;

std::vector<Triple> triples(const Rows& rows) {
  const auto& weights = integers_of(rows);
  std::vector<Triple> edges;
  for (Vertex v = 0; v < rows.vertices(); ++v) {
    for (std::uint64_t e = rows.offsets[v]; e < rows.offsets[v + 1]; ++e) {
      edges.emplace_back(v, rows.neighbours[e], weights[e]);
    }
  }
  return edges;
}

} // namespace

TEST_CASE("rows are the sorted edges, for any threads, chunks and sizes") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&random](std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); };
    const std::uint32_t vertices = 1 + below(std::array{4U, 100U, 3000U}[seed % 3]);
    EdgeChunks edges{
        .vertices = vertices, .chunks = {}, .weights = WeightType::u32, .both_directions = seed % 2 == 0};
    std::vector<Triple> wanted, opposite;
    const bool many = seed == 12; // enough for several threads
    for (std::uint32_t chunk = many ? 3 : below(6); chunk > 0; --chunk) {
      EdgeChunk& list = edges.chunks.emplace_back();
      for (std::uint32_t edge = many ? 24'000 : below(800); edge > 0; --edge) {
        const Edge one{below(vertices), below(vertices)};
        const std::uint32_t weight = below(5);
        list.edges.push_back(one);
        list.weights.push_back(weight);
        wanted.emplace_back(one.source, one.target, weight);
        if (edges.both_directions && one.source != one.target) {
          wanted.emplace_back(one.target, one.source, weight);
        }
      }
    }
    std::ranges::sort(wanted);
    for (const auto& [source, target, weight] : wanted) {
      opposite.emplace_back(target, source, weight);
    }
    std::ranges::sort(opposite);
    EdgeChunks without_weights = edges;
    without_weights.weights = WeightType::none;
    for (const unsigned threads : {1U, 3U}) {
      const Rows rows = build_rows(edges, threads);
      REQUIRE(rows.vertices() == vertices);
      REQUIRE(triples(rows) == wanted);
      REQUIRE(triples(transposed(rows, threads)) == opposite);
      const Rows plain = build_rows(without_weights, threads);
      REQUIRE(pairs(plain) == pairs(rows));
      REQUIRE(pairs(transposed(transposed(plain, threads), threads)) == pairs(rows));
      const auto lightest_first = [](auto list) {
        std::ranges::stable_sort(
            list, {}, [](const auto& triple) { return std::pair(std::get<0>(triple), std::get<2>(triple)); });
        return list;
      };
      REQUIRE(triples(build_rows(edges, threads, RowOrder::lightest_first)) == lightest_first(wanted));
      REQUIRE(triples(transposed(rows, threads, RowOrder::lightest_first)) == lightest_first(opposite));
    }
  }
}

TEST_CASE("bytes are counted beyond 2^32 edges, and beyond 64 bits") {
  constexpr std::uint64_t many = std::uint64_t{1} << 33U;
  CHECK(build_bytes(1000, many, WeightType::none, false) == 8 * many + 8 * 1001 + 4 * many);
  CHECK(build_bytes(1000, many, WeightType::f32, true) == 28 * many + 8 * 1001);
  CHECK(build_bytes(1000, ~std::uint64_t{0}, WeightType::u32, false) == ~std::uint64_t{0});
}
