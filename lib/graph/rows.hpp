// Builds rows from a list of edges, and the transpose from rows, in parallel: the result does not depend on the number of threads.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tidegate::graphs {

// Returns `wanted`, or the number of hardware threads for 0.
inline unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(std::thread::hardware_concurrency(), 1U);
}

// Calls work(i) for every i below `count` on the next free thread; rethrows the first exception.
template <class Work>
void for_each_index(unsigned threads, std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        work(i);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
      others.emplace_back(run);
    }
    run();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// Rows without weights are always in the order of their neighbours.
enum class RowOrder : std::uint8_t {
  by_neighbour,
  lightest_first, // then by neighbour: a search for short paths may stop within a row
};

Rows build_rows(const EdgeChunks& edges, unsigned threads, RowOrder order = RowOrder::by_neighbour);

// Returns the rows of the reversed edges.
Rows transposed(const Rows& rows, unsigned threads, RowOrder order = RowOrder::by_neighbour);

struct BuildOptions {
  bool in_rows = false; // build the transpose too
  RowOrder order = RowOrder::by_neighbour;
  unsigned threads = 0;         // 0: all hardware threads
  std::uint64_t most_bytes = 0; // of memory while the rows are built; 0: all memory of the machine
};

// Cuts the vertices into parts of about equal edges, which begin at multiples of 32.
VertexCut cut_vertices(const Rows& rows, std::uint32_t parts);

// Builds the graph, and frees the edge list on the way. Errors: input_too_large.
Result<Graph> build_graph(EdgeChunks edges, const BuildOptions& options);

// Upper bound on the bytes in use while a graph is built from a list of `edges` edges (both directions
// counted); saturates at 64 bits.
std::uint64_t build_bytes(std::uint64_t vertices, std::uint64_t edges, WeightType weights, bool in_rows);

// Returns the bytes of memory that the options allow.
std::uint64_t memory_limit(const BuildOptions& options);

// Errors: input_too_large if building the graph exceeds memory_limit().
Result<void> check_memory(std::uint64_t vertices, std::uint64_t edges, WeightType weights,
                          const BuildOptions& options);

} // namespace tidegate::graphs
