// Checks the result of a traversal against the serial algorithm (graph/serial.hpp), and by rules at vertices and edges what has
// several right values: parents, and ranks.
#pragma once
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>

namespace tidegate::traversal {

// Results of a traversal: levels, words, distances, labels or ranks as bits, and parents if recorded.
struct TraversalResults {
  std::vector<std::uint32_t> values;
  bool wide = false; // two words a value, the low one first
  std::vector<std::uint32_t> parents;
  double rank_change = 0; // pagerank: total change by the last iteration
  std::uint64_t waves = 0;
};

struct Verification {
  std::vector<std::string> checks; // completed checks, in order
  bool right = false;
  std::optional<Error>
      error; // outputs_differ with the first broken rule as field, and at the front of the message
  std::optional<double> allowed_change; // of ranks: total change by one more iteration
};

// Any right parents pass; ranks pass that one more iteration, and the serial algorithm, change by no more than their rounding. The
// graph must have incoming rows.
Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const TraversalResults& results);

// Compares results with others that are right, in the same way. Errors: outputs_differ with the first difference.
Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const TraversalResults& right, const TraversalResults& results);

// Returns overflow if a path from a source exceeds distances of 32 bits; the last edge of such a path leads
// from a reached vertex to an unreached one. Sums saturate, so shorter paths are not lost, and a graph passes
// if a shorter path reaches the same vertex.
Result<void> check_distances_fit(const graphs::Graph& graph, const TraversalResults& results,
                                 const graphs::VertexNumbers& numbers);

// Distances of integers, with 64 bits: those of vertices that are not reached are graphs::far_away.
std::vector<std::uint64_t> wide_of(const TraversalResults& results);

std::vector<float> floats_of(const std::vector<std::uint32_t>& bits);

} // namespace tidegate::traversal
