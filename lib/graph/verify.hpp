// Compares results with those of the serial algorithms (serial.hpp), and checks by rules at vertices and edges what has
// several right values: parents, and ranks. Each check returns the first violated rule and its place.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/graph/graph.hpp>
#include <tidegate/graph/serial.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidegate::graphs {

struct Violation {
  std::string_view rule; // name, for example "parent_not_adjacent"
  std::string message;   // with the values
  std::optional<Vertex> vertex;
  std::optional<Edge> edge;
};

// Any right parents pass, of right levels. Rules: wrong_length, source_parent, parent_out_of_range, parent_level,
// parent_not_adjacent.
std::optional<Violation> check_parents(const Graph& graph, std::span<const Vertex> sources,
                                       std::span<const std::uint32_t> levels,
                                       std::span<const Vertex> parents);

// Rules: wrong_length; rank_range: each rank is finite and at least (1 - damping) / vertices; rank_sum: the
// sum is 1; residual: one more iteration changes the ranks by at most allowed_rank_change(). Requires in
// rows.
std::optional<Violation> check_ranks(const Graph& graph, std::span<const float> ranks,
                                     const PageRankOptions& options);

// Upper bound on the total change of f32 ranks by one more iteration in doubles: the tolerance plus the
// rounding errors. Each float addition costs at most half a unit in the last place, 2^-24 of the sum; a rank
// takes one addition per incoming edge and a few more operations.
double allowed_rank_change(const Graph& graph, std::span<const float> ranks, const PageRankOptions& options);

// result_differs if the ranks differ in total by more than change / (1 - damping), the sum of `change` over
// all further iterations.
std::optional<Violation> check_rank_distance(std::span<const double> expected, std::span<const float> ranks,
                                             double change, double damping);

// result_differs at the first element that differs; `what` names the values. In the comparison of 64 with 32
// bits, `far_away` equals `unreached`.
std::optional<Violation> first_difference(std::string_view what, std::span<const std::uint32_t> expected,
                                          std::span<const std::uint32_t> got);
std::optional<Violation> first_difference(std::string_view what, std::span<const std::uint64_t> expected,
                                          std::span<const std::uint32_t> got);
std::optional<Violation> first_difference(std::string_view what, std::span<const std::uint64_t> expected,
                                          std::span<const std::uint64_t> got);
std::optional<Violation> first_difference(std::string_view what, std::span<const float> expected,
                                          std::span<const float> got);

// Returns the violation as the error of a run: outputs_differ.
Error to_error(const Violation& violation);

} // namespace tidegate::graphs
