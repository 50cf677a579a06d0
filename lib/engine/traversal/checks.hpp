// Is the result of a traversal right? Against the serial algorithm, and by the properties that leave one
// answer.
#pragma once
#include "graph/program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::traversal {

// What a traversal leaves: levels, words, distances, labels or ranks as bits, and parents where there are
// some.
struct TraversalResults {
  std::vector<std::uint32_t> values;
  std::vector<std::uint32_t> parents;
  double rank_change = 0; // of pagerank: by the last iteration, of all ranks in sum; above the tolerance if
                          // it did not converge
};

struct Verification {
  std::vector<std::string> checks; // that were made, in order
  bool right = false;
  std::optional<Error> error; // of the first rule that is broken: outputs_differ with its name as the field
  std::optional<double> allowed_change; // of ranks: by one more iteration, in sum
};

// What `verify` takes of the host, estimated from its edges and vertices: an upper bound on the memory, and
// the time of a machine that misses its caches at nearly every edge.
struct VerificationCost {
  std::uint64_t ns = 0;
  std::uint64_t bytes = 0;
};
VerificationCost verification_cost(const graphs::FrontierProgram& program, const graphs::Graph& graph);

// The graph has in rows.
Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const TraversalResults& results);

// overflow where a way from a source is longer than distances of 32 bits hold: the edge that such a way ends
// with leads from a vertex that is reached to one that is not. Nothing shorter is lost to it, since sums
// saturate: a graph passes that has such ways and shorter ones.
Result<void> check_distances_fit(const graphs::Graph& graph, const TraversalResults& results);

// Against values that are known to be right: the same, or ranks within their tolerance; and of the parents
// any that are right. outputs_differ with the first difference.
Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const TraversalResults& right, const TraversalResults& results);

// Floats from their bits.
std::vector<float> floats_of(const std::vector<std::uint32_t>& bits);

} // namespace tidegate::traversal
