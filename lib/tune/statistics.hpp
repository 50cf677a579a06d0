// Statistics of configurations that are timed in pairs. A round runs both configurations consecutively, in
// alternating order, so that disturbances of the machine affect both; each round yields the ratio of its two
// times.
#pragma once
#include <tidegate/device/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tidegate::tuning {

// Returns the nanoseconds of one run of a configuration; nullopt if it did not finish.
using Timer = std::function<std::optional<double>(std::size_t configuration)>;
using TimeIsUp = std::function<bool()>;

// A configuration counts as faster only with this confidence and by this ratio. A program has seven knobs; 99
// % for each means at least 93 % that none of them changed by chance.
inline constexpr double required_confidence = 0.99;
inline constexpr double required_ratio = 0.99; // of the times

struct Duel {
  std::uint64_t rounds = 0;
  double ratio = 1;      // challenger's time divided by the incumbent's, median of the rounds
  double ratio_low = 1;  // bounds of the true median with at least 95 % confidence;
  double ratio_high = 1; // the range of all ratios if there are few rounds
  double confidence = 0; // that the challenger is faster

  [[nodiscard]] bool won() const { return confidence >= required_confidence && ratio <= required_ratio; }
};

// Judges paired ratios without assuming a distribution: the sign test for the confidence, 1 - P(at least as
// many rounds are faster by chance), and order statistics for the interval. Source: Conover, "Practical
// Nonparametric Statistics", sections 3.2 and 3.4.
Duel judge(const std::vector<double>& ratios);

// Runs up to `rounds` rounds, fewer if time is up; and `more_rounds` if the challenger is ahead then without the
// required confidence. Returns an empty duel if a run does not finish.
Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up, std::uint64_t more_rounds = 0);

// Successive halving: all configurations run a few times, then the better half twice as often, until one is
// left. Source: Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter
// optimization", AISTATS 2016.

struct Contender {
  std::size_t configuration = 0;
  std::vector<double> ratios; // its time divided by the incumbent's in the same round
  bool failed = false;        // a run did not finish
};

struct Halving {
  std::vector<Contender> contenders;       // in the order of the configurations
  std::size_t best = 0;                    // the incumbent, if no contender is left
  std::vector<std::size_t> rounds_by_rung; // rounds that each remaining contender ran in each rung
};

// Each round times the incumbent and all remaining contenders in a rotated order. The last two go on, for up to 24
// rounds more, while it is not clear which is slower. `tidegate tune choose` has the rule that selects the last one:
// the median of the ratios.
Halving halve(std::size_t incumbent, const std::vector<std::size_t>& configurations, const Timer& time,
              const TimeIsUp& time_is_up);

// A measured run and its estimate, from which the errors of the cost model are fitted.
struct Sample {
  device::CostParts estimated; // nanoseconds
  double measured_ns = 0;
};

// Fits a factor for each part of the estimate, from 1/1000 to 1000, by least squares of the relative errors
// and coordinate descent. Parts that the samples lack or cannot separate stay near 1.
device::CostParts fit_scales(const std::vector<Sample>& samples);

// Keeps factors that were multiplied within those bounds.
device::CostParts bounded(device::CostParts scales);

// Multiplies part by part.
device::CostParts product(const device::CostParts& a, const device::CostParts& b);

} // namespace tidegate::tuning
