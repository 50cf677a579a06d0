#include <tidegate/traversal/near_far.hpp>

#include <algorithm>
#include <bit>
#include <type_traits>
#include <variant>

namespace tidegate::traversal {
namespace {

double mean_weight(const graphs::Rows& rows) {
  double sum = 0;
  std::visit(
      [&sum](const auto& weights) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(weights)>, std::monostate>) {
          for (const auto weight : weights) {
            sum += static_cast<double>(weight);
          }
        }
      },
      rows.weights);
  return rows.edges() == 0 || rows.weights.index() == 0 ? 1 : sum / static_cast<double>(rows.edges());
}

} // namespace

double near_width(const graphs::Rows& rows, bool wide) {
  constexpr double warp = 32;
  constexpr double wide_warp = 384; // at a degree of 1
  constexpr double least_warp = 24;
  constexpr double most_warp = 96;
  const double degree = std::max(1.0, static_cast<double>(rows.edges()) / std::max(1U, rows.vertices()));
  const double width = wide ? std::clamp(wide_warp / degree, least_warp, most_warp) : warp;
  return std::max(width * mean_weight(rows) / degree, 1e-30);
}

std::uint32_t near_width_bits(const graphs::Rows& rows, bool wide) {
  const double width = near_width(rows, wide);
  if (graphs::weight_type(rows) == graphs::WeightType::f32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(width));
  }
  return static_cast<std::uint32_t>(std::clamp(width, 1.0, 4e9));
}

} // namespace tidegate::traversal
