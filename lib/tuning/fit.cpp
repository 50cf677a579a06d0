#include <tidegate/tuning/fit.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace tidegate::tuning {
namespace {

using device::CostParts;

constexpr std::array parts{&CostParts::start, &CostParts::launches, &CostParts::barriers, &CostParts::waits,
                           &CostParts::work};

} // namespace

CostParts fit_scales(const std::vector<Sample>& samples) {
  constexpr int sweeps = 1000;
  constexpr double pull = 0.001; // towards 1, of what the samples weigh
  constexpr double most = 1000;
  CostParts scales{1, 1, 1, 1, 1};
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const auto part : parts) {
      double weight = 0;
      double wanted = 0;
      for (const Sample& sample : samples) {
        double others = 0; // of the time, what the other parts make up
        for (const auto other : parts) {
          others += other == part ? 0 : scales.*other * sample.estimated.*other / sample.measured_ns;
        }
        const double own = sample.estimated.*part / sample.measured_ns;
        weight += own * own;
        wanted += own * (1 - others);
      }
      if (weight > 0) {
        scales.*part = std::clamp((wanted + pull * weight) / (weight + pull * weight), 1 / most, most);
      }
    }
  }
  return scales;
}

CostParts product(const CostParts& a, const CostParts& b) {
  CostParts result;
  for (const auto part : parts) {
    result.*part = a.*part * b.*part;
  }
  return result;
}

} // namespace tidegate::tuning
