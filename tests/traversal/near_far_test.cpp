#include "engine/traversal/resident.hpp"
#include <tidegate/graph/graph.hpp>

using namespace tidegate;

namespace {

// Every vertex has `degree` edges of the same weight.
graphs::Rows regular(std::uint32_t vertices, std::uint32_t degree, graphs::Weights weights) {
  graphs::Rows rows{.offsets = {}, .neighbours = {}, .weights = std::move(weights)};
  for (std::uint32_t v = 0; v <= vertices; ++v) {
    rows.offsets.push_back(std::uint64_t{v} * degree);
  }
  rows.neighbours.assign(std::size_t{vertices} * degree, 0);
  return rows;
}

graphs::Rows whole(std::uint32_t degree, std::uint32_t weight) {
  return regular(10, degree, std::vector<std::uint32_t>(std::size_t{10} * degree, weight));
}

} // namespace

TEST_CASE("the bound moves on by a warp's width times the mean weight over the mean degree") {
  CHECK(traversal::near_width(whole(4, 128), false) == 32.0 * 128 / 4);
  CHECK(traversal::near_width(whole(16, 128), false) == 32.0 * 128 / 16);
}

TEST_CASE("on wide devices the width follows the degree, within bounds") {
  CHECK(traversal::near_width(whole(1, 100), true) == 192.0 * 100);
  CHECK(traversal::near_width(whole(4, 100), true) == 192.0 * 100 / 4);
  CHECK(traversal::near_width(whole(8, 100), true) == 48.0 * 100 / 8);
  CHECK(traversal::near_width(whole(32, 100), true) == 24.0 * 100 / 32);
}

TEST_CASE("small graphs are always pushed, on CPUs only by bfs and sssp along short rows or few edges") {
  using graphs::Algorithm;
  using policy::Topology;
  const traversal::FrontierGeometry gpu{.group_size = 512};
  const traversal::FrontierGeometry cpu{.group_size = 1};
  const graphs::Graph short_rows{.out = regular(16'384, 7, std::monostate())};
  const graphs::Graph long_rows{.out = regular(16'384, 8, std::monostate())};
  const graphs::Graph large{.out = regular(16'385, 7, std::monostate())};
  const auto of = [](Algorithm algorithm, const graphs::Graph& graph,
                     const traversal::FrontierGeometry& device) {
    return traversal::always_pushes(algorithm, graph, device);
  };
  CHECK(of(Algorithm::bfs, short_rows, gpu) == Topology::sparse_frontier);
  CHECK(of(Algorithm::reach, long_rows, gpu) == Topology::hybrid_frontier);
  CHECK(of(Algorithm::bfs, large, gpu) == Topology::sparse_frontier);
  CHECK(of(Algorithm::bfs, {.out = regular(16'385, 8, std::monostate())}, gpu) == Topology::empty);
  CHECK(of(Algorithm::sssp, {.out = regular(131'072, 8, std::monostate())}, gpu) ==
        Topology::hybrid_frontier);
  CHECK(of(Algorithm::sssp, {.out = regular(131'073, 7, std::monostate())}, gpu) == Topology::empty);
  graphs::Graph star = large;
  star.out.offsets[1] = 100;
  CHECK(of(Algorithm::sssp, star, gpu) == Topology::empty);
  CHECK(of(Algorithm::cc, short_rows, gpu) == Topology::empty);
  CHECK(of(Algorithm::pagerank, short_rows, gpu) == Topology::empty);
  CHECK(of(Algorithm::sssp, short_rows, cpu) == Topology::sparse_frontier);
  CHECK(of(Algorithm::sssp, long_rows, cpu) == Topology::empty);
  CHECK(of(Algorithm::bfs, short_rows, cpu) == Topology::sparse_frontier);
  CHECK(of(Algorithm::bfs, {.out = regular(4096, 16, std::monostate())}, cpu) == Topology::sparse_frontier);
  CHECK(of(Algorithm::bfs, long_rows, cpu) == Topology::empty);
  CHECK(of(Algorithm::bfs, large, cpu) == Topology::empty);
  CHECK(of(Algorithm::reach, short_rows, cpu) == Topology::empty);
}

TEST_CASE("kernels take it as whole as the weights are, and never as nothing") {
  CHECK(traversal::near_width_bits(whole(64, 1), true) == 1);
  CHECK(traversal::near_width_bits(whole(4, 0), true) == 1);
  CHECK(traversal::near_width_bits(whole(1, std::numeric_limits<std::uint32_t>::max()), true) == 4000000000U);
  const auto floats = regular(10, 4, std::vector<float>(40, 0.5F));
  CHECK(std::bit_cast<float>(traversal::near_width_bits(floats, false)) == 4.0F);
  const auto none = regular(10, 4, std::vector<float>(40, 0.0F));
  CHECK(std::bit_cast<float>(traversal::near_width_bits(none, false)) > 0);
  CHECK(traversal::near_width_bits(regular(1, 0, std::monostate()), true) >= 1);
}
