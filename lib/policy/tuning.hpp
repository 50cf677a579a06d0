// Choosing from measured costs and the natural-gradient step.
// Pure functions; arithmetic in doubles is in the order that the golden vectors pin, without fused steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidegate::policy {

// The candidate with the lowest cost, the first of equals, by IEEE 754 total order (-0.0 before 0.0).
// Candidates and costs are paired up to the shorter length; with no pair `current` stands.
std::uint32_t choose_cheapest(std::span<const std::uint32_t> candidates, std::span<const double> costs,
                              std::uint32_t current);

// -learning_rate * (M · gradient), M row-major n×n, each sum accumulated left to right from 0.0. Empty when M
// has fewer than n² values or the gradient fewer than n. Source: Amari, "Natural gradient works efficiently
// in learning", Neural Computation 10(2), 1998.
std::vector<double> natural_gradient_step(std::span<const double> matrix, std::span<const double> gradient,
                                          std::uint32_t n, double learning_rate);

} // namespace tidegate::policy
