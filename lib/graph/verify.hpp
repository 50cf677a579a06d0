// Is a result right? Checks that need no other result: each looks at every vertex and edge for what has to
// hold between them, and together the rules of an algorithm leave one answer (of parents, any right one).
// They share no code with what computes results (serial.hpp), and name the first rule that is broken, and
// where.
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
  std::string_view rule; // its name, such as "parent_not_adjacent"
  std::string message;   // with the values
  std::optional<Vertex> vertex;
  std::optional<Edge> edge;
};

// wrong_length; source_level, source_parent; level_jump: across an edge levels grow by one at most;
// unsupported_level: a reached vertex has a neighbour before it one level up; and where there are parents,
// parent_out_of_range, parent_level, parent_not_adjacent.
std::optional<Violation> check_levels(const Graph& graph, std::span<const Vertex> sources,
                                      std::span<const std::uint32_t> levels);
std::optional<Violation> check_parents(const Graph& graph, std::span<const Vertex> sources,
                                       std::span<const std::uint32_t> levels,
                                       std::span<const Vertex> parents);

// wrong_length; source_bit; bit_not_passed: what reaches a vertex reaches its neighbours; unsupported_bit: a
// source that a vertex names has a way to it.
std::optional<Violation> check_reached(const Graph& graph, std::span<const Vertex> sources,
                                       std::span<const std::uint32_t> words);

// wrong_length; source_distance; triangle: no edge is a shortcut, or leads from what is reached to what is
// not; loose_distance: a reached vertex lies on a way from a source all of whose edges are tight. Distances
// are of the weights' type, floats only of f32.
std::optional<Violation> check_distances(const Graph& graph, std::span<const Vertex> sources,
                                         std::span<const std::uint32_t> distances);
std::optional<Violation> check_distances(const Graph& graph, std::span<const Vertex> sources,
                                         std::span<const float> distances);

// wrong_length; label_differs: the ends of an edge have one label; label_shared: no two components have the
// same one; label_not_smallest: it is the smallest vertex of the component.
std::optional<Violation> check_components(const Graph& graph, std::span<const Vertex> labels);

// wrong_length; rank_range: each is at least what all get evenly, and finite; rank_sum: they add up to 1;
// residual: one more iteration changes them by no more than is allowed. The graph has in rows.
std::optional<Violation> check_ranks(const Graph& graph, std::span<const float> ranks,
                                     const PageRankOptions& options);

// By how much one more iteration in doubles may change ranks that were kept as f32, in sum: by the tolerance,
// and by what rounding costs. An addition to a float costs half a unit in the last place at most, 2^-24 of
// the sum, so a rank may be off by as many of those as edges lead to its vertex, and by a few for the rest of
// its formula.
double allowed_rank_change(const Graph& graph, std::span<const float> ranks, const PageRankOptions& options);

// result_differs: ranks that are off in sum by more than `change`, that of either's next iteration, can add
// up to over all iterations.
std::optional<Violation> check_rank_distance(std::span<const double> expected, std::span<const float> ranks,
                                             double change, double damping);

// result_differs: the first place where two results are not the same, `what` being the name of the values.
// Distances of 64 bits are held against 32, where `unreached` is `far_away`.
std::optional<Violation> first_difference(std::string_view what, std::span<const std::uint32_t> expected,
                                          std::span<const std::uint32_t> got);
std::optional<Violation> first_difference(std::string_view what, std::span<const std::uint64_t> expected,
                                          std::span<const std::uint32_t> got);
std::optional<Violation> first_difference(std::string_view what, std::span<const float> expected,
                                          std::span<const float> got);

// The violation as the answer of a run: outputs_differ.
Error to_error(const Violation& violation);

} // namespace tidegate::graphs
