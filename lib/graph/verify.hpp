// Compares results with those of the serial algorithms (serial.hpp), and checks by rules at vertices and edges what has
// several right values: parents, and ranks. Each check returns the first violated rule: outputs_differ,
// with the rule's name as field and at the front of the message.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/serial.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tidegate::graphs {

// Any right parents pass, of right levels. Rules: wrong_length, source_parent, parent_out_of_range, parent_level,
// parent_not_adjacent.
std::optional<Error> check_parents(const Graph& graph, std::span<const Vertex> sources,
                                   std::span<const std::uint32_t> levels, std::span<const Vertex> parents);

// Rules: wrong_length; rank_range: each rank is finite and at least (1 - damping) / vertices; rank_sum: the
// sum is 1; residual: one more iteration changes the ranks by at most allowed_rank_change(). Requires in
// rows.
std::optional<Error> check_ranks(const Graph& graph, std::span<const float> ranks,
                                 const PageRankOptions& options);

// Upper bound on the total change of f32 ranks by one more iteration in doubles: the tolerance plus the
// rounding errors. Each float addition costs at most half a unit in the last place, 2^-24 of the sum; a rank
// takes one addition per incoming edge and a few more operations.
double allowed_rank_change(const Graph& graph, std::span<const float> ranks, const PageRankOptions& options);

// result_differs if the ranks differ in total by more than change / (1 - damping), the sum of `change` over
// all further iterations.
std::optional<Error> check_rank_distance(std::span<const double> expected, std::span<const float> ranks,
                                         double change, double damping);

// result_differs at the first element that differs; `what` names the values.
template <class Value>
std::optional<Error> first_difference(std::string_view what, const std::vector<Value>& expected,
                                      const std::vector<Value>& got);

// Returns distances of 32 bits as ones of 64, in which `unreached` is `far_away`.
std::vector<std::uint64_t> widened(std::span<const std::uint32_t> distances);

} // namespace tidegate::graphs
