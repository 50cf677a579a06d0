#include <tidegate/tuning/duel.hpp>

#include <algorithm>

namespace tidegate::tuning {
namespace {

// P(at least `successes` of `trials` throws of a coin).
double at_least(std::uint64_t successes, std::uint64_t trials) {
  double probability = 1; // of none: 2^-trials
  for (std::uint64_t i = 0; i < trials; ++i) {
    probability /= 2;
  }
  double sum = 0;
  for (std::uint64_t k = 0; k <= trials; ++k) {
    sum += k >= successes ? probability : 0;
    probability *= static_cast<double>(trials - k) / static_cast<double>(k + 1);
  }
  return std::min(sum, 1.0);
}

} // namespace

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Duel judge(const std::vector<double>& ratios) {
  Duel duel{.rounds = ratios.size()};
  if (ratios.empty()) {
    return duel;
  }
  std::vector<double> sorted = ratios;
  std::ranges::sort(sorted);
  duel.ratio = median(sorted);

  const auto faster =
      static_cast<std::uint64_t>(std::ranges::count_if(sorted, [](double r) { return r < 1; }));
  const auto slower =
      static_cast<std::uint64_t>(std::ranges::count_if(sorted, [](double r) { return r > 1; }));
  duel.confidence = faster + slower == 0 ? 0 : 1 - at_least(faster, faster + slower);

  // As many are left out at both ends as 5 % allow: the true median lies below the k-th of n with the
  // probability of fewer than k heads in n throws.
  std::size_t outside = 0;
  while (2 * outside + 2 < sorted.size() &&
         2 * at_least(sorted.size() - outside - 1, sorted.size()) <= 1 - interval_confidence) {
    ++outside;
  }
  duel.ratio_low = sorted[outside];
  duel.ratio_high = sorted[sorted.size() - 1 - outside];
  return duel;
}

Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up) {
  std::vector<double> ratios;
  for (std::uint64_t round = 0; round < rounds && !time_is_up(); ++round) {
    const bool incumbent_first = round % 2 == 0;
    const auto first = time(incumbent_first ? incumbent : challenger);
    const auto second = time(incumbent_first ? challenger : incumbent);
    if (!first || !second) {
      return {};
    }
    ratios.push_back(incumbent_first ? *second / *first : *first / *second);
  }
  return judge(ratios);
}

} // namespace tidegate::tuning
