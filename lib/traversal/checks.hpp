// Is the result of a traversal right? Against the serial algorithm, and by the properties that leave one
// answer.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/graphs/frontier_program.hpp>
#include <tidegate/graphs/graph.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::traversal {

struct Verification {
  std::vector<std::string> checks; // that were made, in order
  bool right = false;
  std::optional<Error> error; // of the first rule that is broken: outputs_differ with its name as the field
};

// `values` and `parents` as a traversal leaves them (resident.hpp). The graph has in rows.
Verification verify(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                    const std::vector<std::uint32_t>& values, const std::vector<std::uint32_t>& parents);

// overflow where a way from a source is longer than distances of 32 bits hold: the edge that such a way ends
// with leads from a vertex that is reached to one that is not. Nothing shorter is lost to it, since sums
// saturate: a graph passes that has such ways and shorter ones.
Result<void> check_distances_fit(const graphs::Graph& graph, const std::vector<std::uint32_t>& values);

// Against values that are known to be right: the same, or ranks within their tolerance; and of the parents
// any that are right. outputs_differ with the first difference.
Result<void> compare(const graphs::FrontierProgram& program, const graphs::Graph& graph,
                     const std::vector<std::uint32_t>& right, const std::vector<std::uint32_t>& values,
                     const std::vector<std::uint32_t>& parents);

// Floats from their bits.
std::vector<float> floats_of(const std::vector<std::uint32_t>& bits);

} // namespace tidegate::traversal
