// Checks the result of a traversal against the serial algorithm.
#pragma once
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>

namespace tidegate::traversal {

// Results of a traversal: levels, words, distances, labels or ranks as bits, and parents if recorded.
struct TraversalResults {
  std::vector<std::uint32_t> values;
  bool wide = false; // two words a value
  std::vector<std::uint32_t> parents;
  double rank_change = 0; // pagerank: total change by the last iteration
  std::uint64_t waves = 0;
};

struct Verification {
  std::vector<std::string> checks; // completed checks, in order
  bool right = false;
  std::optional<Error> error;           // the first broken rule: outputs_differ with the rule as field
  std::optional<double> allowed_change; // of ranks: total change by one more iteration
};

// Estimated cost of `verify` on the host, from edges and vertices: an upper bound on the memory, and the time
// of a machine that misses its caches at nearly every edge.
struct VerificationCost {
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;
};
VerificationCost verification_cost(const graphs::FrontierProgram& program, const graphs::Graph& graph);

// The graph must have incoming rows.
Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const TraversalResults& results);

// Returns overflow if a path from a source exceeds distances of 32 bits; the last edge of such a path leads
// from a reached vertex to an unreached one. Sums saturate, so shorter paths are not lost, and a graph passes
// if a shorter path reaches the same vertex.
Result<void> check_distances_fit(const graphs::Graph& graph, const TraversalResults& results,
                                 const graphs::VertexNumbers& numbers);

// Compares results with correct values: equal, or ranks within their tolerance; any correct parent is
// accepted. Returns outputs_differ with the first difference.
Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const TraversalResults& right, const TraversalResults& results);

// Distances of 64 bits: two words each, the low one first.
std::vector<std::uint64_t> wide_of(const std::vector<std::uint32_t>& words);

// Converts bits to floats.
std::vector<float> floats_of(const std::vector<std::uint32_t>& bits);

} // namespace tidegate::traversal
