// Statistics of repeated timings: medians, intervals of ratios without an assumed distribution.
#pragma once
#include "core/prelude.hpp"

namespace tidegate {

// The middle value, or the mean of the two in the middle; 0 of none.
double median(std::vector<double> values);

// Returns P(at least `successes` heads in `trials` throws of a coin).
double at_least(std::uint64_t successes, std::uint64_t trials);

// An estimate of a ratio with its interval of at least 95 % confidence.
struct RatioEstimate {
  double ratio = 1;
  double low = 1;       // the range of all ratios
  double high = 1;      // if `certain` is false
  bool certain = false; // there were enough timings for the interval
};

// Estimates the median of ratios of paired timings: the order statistics that the sign test leaves.
// Source: Conover, "Practical Nonparametric Statistics", section 3.2.
RatioEstimate paired_ratio(std::vector<double> ratios);

// Estimates by which factor the times of `b` are those of `a`, where nothing pairs them: the median and the order
// statistics of all ratios (Hodges and Lehmann; the interval is that of the rank-sum test by its normal approximation).
// Source: Conover, section 5.4.
RatioEstimate unpaired_ratio(const std::vector<double>& a, const std::vector<double>& b);

// Verdict on an estimate of "times as fast".
enum class SpeedVerdict : std::uint8_t { faster, slower, no_difference, same_launches, too_few_rounds };
inline constexpr std::array<std::string_view, 5> speed_verdict_names{"faster", "slower", "no_difference",
                                                                     "same_launches", "too_few_rounds"};
SpeedVerdict verdict_of(const RatioEstimate& times_as_fast);

} // namespace tidegate
