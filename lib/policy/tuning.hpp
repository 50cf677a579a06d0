// Chooses the cheapest candidate, and computes natural-gradient steps. Pure functions; the order of
// operations in doubles is fixed by the golden vectors, without fused multiply-add.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tidegate::policy {

// Returns the candidate with the lowest cost, the first among equals, by IEEE 754 total order (-0.0 before
// 0.0). The cost of a candidate that failed is NaN. Ignores surplus values of the longer list; returns `current` if no
// candidate has a cost.
std::optional<std::uint32_t> choose_cheapest(std::span<const std::uint32_t> candidates,
                                             std::span<const double> costs,
                                             std::optional<std::uint32_t> current);

// Returns -learning_rate * (M · gradient), M row-major n×n, each sum accumulated left to right from 0.0. Returns
// an empty vector if M has fewer than n² values or the gradient fewer than n. Source: Amari, "Natural gradient works
// efficiently in learning", Neural Computation 10(2), 1998.
std::vector<double> natural_gradient_step(std::span<const double> matrix, std::span<const double> gradient,
                                          std::uint32_t n, double learning_rate);

} // namespace tidegate::policy
