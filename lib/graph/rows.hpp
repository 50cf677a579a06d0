// From a list of edges to rows, and from rows to those of the transpose, in parallel.
//
// A radix sort of two levels: edges are first dealt to buckets of neighbouring source vertices, few enough
// that each bucket has a place to write to that stays in the cache; then each bucket, which fits the cache
// too, is counted out into rows, and each row sorted. No atomics, and the result is the same for any number
// of threads.
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

// Work on a few threads: the same function on each, or the numbers below a count shared out among them.

// As many threads as asked for, or with 0 as the machine has.
inline unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? wanted : std::max(std::thread::hardware_concurrency(), 1U);
}

// Calls work(i) for every i below `threads`, each on a thread of its own, and rethrows the first exception.
template <class Work>
void on_threads(unsigned threads, Work work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&](unsigned i) {
    try {
      work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) {
      others.emplace_back(guarded, i);
    }
    guarded(0);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// Calls work(i) for every i below `count`, whichever thread is free.
template <class Work>
void for_each_index(unsigned threads, std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  on_threads(
      static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1U), std::max<std::size_t>(count, 1))),
      [&](unsigned) {
        for (std::size_t i = next++; i < count; i = next++) {
          work(i);
        }
      });
}

Rows build_rows(const EdgeChunks& edges, unsigned threads);

// The rows of the reversed edges.
Rows transposed(const Rows& rows, unsigned threads);

struct BuildOptions {
  bool in_rows = false;         // the transpose too
  unsigned threads = 0;         // 0: as many as the machine has
  std::uint64_t most_bytes = 0; // of memory while the rows are built; 0: what the machine has
};

// The graph of the edges, which are given up on the way. input_too_large where the memory does not hold it.
Result<Graph> build_graph(EdgeChunks edges, const BuildOptions& options);

// Bytes at most that are in use at a time while a graph of so many vertices and edges (both directions
// counted) is built from its list; the greatest number where they leave 64 bits.
std::uint64_t build_bytes(std::uint64_t vertices, std::uint64_t edges, WeightType weights, bool in_rows);

// Bytes of memory that the options allow.
std::uint64_t memory_limit(const BuildOptions& options);

// input_too_large for a graph that takes more than that.
Result<void> check_memory(std::uint64_t vertices, std::uint64_t edges, WeightType weights,
                          const BuildOptions& options);

} // namespace tidegate::graphs
