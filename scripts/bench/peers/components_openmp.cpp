// Connected components with OpenMP, as in the GAP benchmark suite: links the first two neighbours of each vertex, samples which
// component is the largest, and links the other edges only of vertices outside of it. Prints a line with the nanoseconds of each
// round, and writes for each vertex the smallest vertex of its component.
//   components_openmp GRAPH cc 0 ROUNDS RESULTS
//
// Source: Sutton, Ben-Nun, Barak, Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling (IPDPS 2018).
#include "rows_file.hpp"

#include <atomic>
#include <unordered_map>

namespace {

using peers::Rows;
using Labels = std::vector<std::uint32_t>;

constexpr std::uint32_t first_neighbours = 2;
constexpr std::uint32_t samples = 1024;

std::uint32_t load(std::uint32_t& label) {
  return std::atomic_ref(label).load(std::memory_order_relaxed);
}

void link(std::uint32_t u, std::uint32_t v, Labels& labels) {
  std::uint32_t a = load(labels[u]);
  std::uint32_t b = load(labels[v]);
  while (a != b) {
    const std::uint32_t high = std::max(a, b);
    const std::uint32_t low = std::min(a, b);
    std::uint32_t seen = load(labels[high]);
    if (seen == low || (seen == high && std::atomic_ref(labels[high]).compare_exchange_strong(seen, low))) {
      break;
    }
    a = load(labels[load(labels[high])]);
    b = load(labels[low]);
  }
}

void compress(Labels& labels) {
#pragma omp parallel for schedule(static, 2048)
  for (std::size_t v = 0; v < labels.size(); ++v) {
    while (load(labels[v]) != load(labels[load(labels[v])])) {
      std::atomic_ref(labels[v]).store(load(labels[load(labels[v])]), std::memory_order_relaxed);
    }
  }
}

std::uint32_t most_frequent(const Labels& labels) {
  std::unordered_map<std::uint32_t, int> counts;
  for (std::uint64_t i = 0; i < samples; ++i) {
    ++counts[labels[i * labels.size() / samples]];
  }
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

void find_components(const Rows& rows, Labels& labels) {
  const std::uint32_t n = rows.vertices();
#pragma omp parallel for schedule(static)
  for (std::uint32_t v = 0; v < n; ++v) {
    labels[v] = v;
  }
  for (std::uint32_t i = 0; i < first_neighbours; ++i) {
#pragma omp parallel for schedule(dynamic, 4096)
    for (std::uint32_t v = 0; v < n; ++v) {
      if (rows.offsets[v] + i < rows.offsets[v + std::size_t{1}]) {
        link(v, rows.neighbours[rows.offsets[v] + i], labels);
      }
    }
    compress(labels);
  }
  const std::uint32_t giant = most_frequent(labels);
#pragma omp parallel for schedule(dynamic, 4096)
  for (std::uint32_t v = 0; v < n; ++v) {
    if (load(labels[v]) != giant) {
      for (std::uint64_t e = rows.offsets[v] + first_neighbours; e < rows.offsets[v + std::size_t{1}]; ++e) {
        link(v, rows.neighbours[e], labels);
      }
    }
  }
  compress(labels);
}

} // namespace

int main(int count, char** arguments) {
  const peers::Question asked = peers::question(count, arguments);
  const Rows rows = peers::read_rows(asked.graph);
  Labels labels(rows.vertices());
  peers::print_rounds(asked.rounds, [&] { find_components(rows, labels); });
  peers::write_results(asked.results, labels);
}
