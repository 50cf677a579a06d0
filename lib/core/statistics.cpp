#include "core/statistics.hpp"

namespace tidegate {
namespace {

// `outside` of the sorted ratios are dropped at either end.
RatioEstimate estimate(const std::vector<double>& sorted, std::size_t outside, bool certain) {
  return {.ratio = median(sorted),
          .low = sorted[outside],
          .high = sorted[sorted.size() - 1 - outside],
          .certain = certain};
}

constexpr double left_out = 0.05; // at both ends together

} // namespace

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

double at_least(std::uint64_t successes, std::uint64_t trials) {
  double probability = 1; // P(no heads) = 2^-trials
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

RatioEstimate paired_ratio(std::vector<double> ratios) {
  if (ratios.empty()) {
    return {};
  }
  std::ranges::sort(ratios);
  // The true median is below the k-th of n values with the probability of fewer than k heads in n throws.
  const std::size_t count = ratios.size();
  const auto missed = [count](std::size_t outside) { return 2 * at_least(count - outside, count); };
  std::size_t outside = 0;
  while (2 * outside + 2 < count && missed(outside + 1) <= left_out) {
    ++outside;
  }
  return estimate(ratios, outside, missed(outside) <= left_out);
}

RatioEstimate unpaired_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (const double before : a) {
    for (const double after : b) {
      ratios.push_back(after / before);
    }
  }
  if (ratios.empty()) {
    return {};
  }
  std::ranges::sort(ratios);
  constexpr double deviations = 1.96; // of a normal distribution, for 95 %
  const auto count = static_cast<double>(ratios.size());
  const double scatter = std::sqrt(count * static_cast<double>(a.size() + b.size() + 1) / 12);
  const double missed = std::floor(count / 2 - deviations * scatter);
  return estimate(ratios, missed < 1 ? 0 : static_cast<std::size_t>(missed) - 1, missed >= 1);
}

SpeedVerdict verdict_of(const RatioEstimate& times_as_fast) {
  return !times_as_fast.certain   ? SpeedVerdict::too_few_rounds
         : times_as_fast.low > 1  ? SpeedVerdict::faster
         : times_as_fast.high < 1 ? SpeedVerdict::slower
                                  : SpeedVerdict::no_difference;
}

} // namespace tidegate
