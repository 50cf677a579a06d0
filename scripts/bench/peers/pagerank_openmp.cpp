// PageRank with OpenMP: each iteration adds up for each vertex what its neighbours pass on. Prints the nanoseconds of each
// round, a line each, and writes the ranks, 32 bits each.
//   pagerank_openmp GRAPH pagerank ITERATIONS ROUNDS RESULTS
#include "rows_file.hpp"

#include <bit>

namespace {

constexpr float damping = 0.85F;

} // namespace

int main(int count, char** arguments) {
  const peers::Question asked = peers::question(count, arguments);
  const peers::Rows rows = peers::read_rows(asked.graph);
  const peers::Rows in = peers::transposed(rows);
  const std::uint32_t n = rows.vertices();
  std::vector<float> ranks(n), passed(n);
  const auto degree = [&](std::uint32_t v) { return rows.offsets[v + std::size_t{1}] - rows.offsets[v]; };
  peers::print_rounds(asked.rounds, [&] {
#pragma omp parallel for schedule(static)
    for (std::uint32_t v = 0; v < n; ++v) {
      ranks[v] = 1.0F / static_cast<float>(n);
    }
    for (std::uint32_t i = 0; i < asked.source; ++i) {
      double idle = 0; // rank of vertices without edges
#pragma omp parallel for schedule(static) reduction(+ : idle)
      for (std::uint32_t v = 0; v < n; ++v) {
        passed[v] = degree(v) == 0 ? 0 : ranks[v] / static_cast<float>(degree(v));
        idle += degree(v) == 0 ? ranks[v] : 0;
      }
      const float base = (1 - damping + damping * static_cast<float>(idle)) / static_cast<float>(n);
#pragma omp parallel for schedule(dynamic, 1024)
      for (std::uint32_t v = 0; v < n; ++v) {
        double received = 0; // a hub adds up more than a float can hold
        for (std::uint64_t e = in.offsets[v]; e < in.offsets[v + std::size_t{1}]; ++e) {
          received += passed[in.neighbours[e]];
        }
        ranks[v] = base + damping * static_cast<float>(received);
      }
    }
  });
  std::vector<std::uint32_t> bits(n);
  std::ranges::transform(ranks, bits.begin(), [](float rank) { return std::bit_cast<std::uint32_t>(rank); });
  peers::write_results(asked.results, bits);
}
