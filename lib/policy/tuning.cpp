// Chooses the cheapest candidate, and computes natural-gradient steps.
#include "core/prelude.hpp"
#include <tidegate/policy/tuning.hpp>

namespace tidegate::policy {

std::optional<std::uint32_t> choose_cheapest(std::span<const std::uint32_t> candidates,
                                             std::span<const double> costs,
                                             std::optional<std::uint32_t> current) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < std::min(candidates.size(), costs.size()); ++i) {
    if (!std::isnan(costs[i]) && (!best || std::is_lt(std::strong_order(costs[i], costs[*best])))) {
      best = i;
    }
  }
  return best ? candidates[*best] : current;
}

std::vector<double> natural_gradient_step(std::span<const double> matrix, std::span<const double> gradient,
                                          std::uint32_t n, double learning_rate) {
  // The square of a 32-bit n fits 64 bits, so the sizes are checked before any allocation.
  if (gradient.size() < n || matrix.size() < std::uint64_t{n} * n) {
    return {};
  }
  std::vector<double> step(n);
  for (std::size_t row = 0; row < n; ++row) {
    double sum = 0.0;
    for (std::size_t column = 0; column < n; ++column) {
      sum += matrix[row * n + column] * gradient[column];
    }
    step[row] = -learning_rate * sum;
  }
  return step;
}

} // namespace tidegate::policy
