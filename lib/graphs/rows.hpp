// From a list of edges to rows, and from rows to those of the transpose, in parallel.
//
// A radix sort of two levels: edges are first dealt to buckets of neighbouring source vertices, few enough
// that each bucket has a place to write to that stays in the cache; then each bucket, which fits the cache
// too, is counted out into rows, and each row sorted. No atomics, and the result is the same for any number
// of threads.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/graphs/edges.hpp>
#include <tidegate/graphs/graph.hpp>

#include <cstdint>

namespace tidegate::graphs {

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
