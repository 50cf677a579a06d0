// Two ways timed in pairs, and with what confidence the one is faster. Each round runs both, one right after
// the other and in turn the other way round, so that what slows the machine down slows both: a round says one
// thing, the ratio of its two times.
#pragma once
#include <tidegate/device/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tidegate::tuning {

// Nanoseconds of one run of a candidate; nothing where it did not come to its end.
using Timer = std::function<std::optional<double>(std::size_t candidate)>;
using TimeIsUp = std::function<bool()>;

// What is called faster is so with this confidence at least, and by this much. A program has seven knobs: 99
// % for each leave 93 % and more that none of them was turned by chance.
inline constexpr double required_confidence = 0.99;
inline constexpr double required_ratio = 0.99;      // of the times
inline constexpr double interval_confidence = 0.95; // of the median

struct Duel {
  std::uint64_t rounds = 0;
  double ratio = 1;      // of the challenger's time to the incumbent's: median of the rounds
  double ratio_low = 1;  // an interval that holds the true median with at least 95 % confidence;
  double ratio_high = 1; // of few rounds all that were seen
  double confidence = 0; // that the challenger is faster

  [[nodiscard]] bool won() const { return confidence >= required_confidence && ratio <= required_ratio; }
};

// Of paired ratios, without any assumption about how times are distributed: the sign test for the confidence,
// 1 - P(so many rounds or more are faster by chance), and order statistics for the interval. Source: Conover,
// "Practical Nonparametric Statistics", sections 3.2 and 3.4.
Duel judge(const std::vector<double>& ratios);

// Up to `rounds` rounds; fewer when time is up, none where one of the two does not come to its end.
Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up);

// Successive halving: all candidates run a few times, the better half of them twice as often, until one is
// left. Time goes to those that may still be the best. Source: Jamieson and Talwalkar, "Non-stochastic best
// arm identification and hyperparameter optimization", AISTATS 2016.

struct Contender {
  std::size_t candidate = 0;
  std::vector<double> ratios; // to the incumbent's time in the same round
  bool failed = false;        // a run of it did not come to its end
};

struct Halving {
  std::vector<Contender> contenders;       // as they were given
  std::size_t best = 0;                    // the incumbent, where no contender is left
  std::vector<std::size_t> rounds_by_rung; // that each of those that were left has run in it
};

// Every round times the incumbent and all that are left, each round in another order. The last one is chosen
// as `tidegate tune choose` does, by the medians of the ratios.
Halving halve(std::size_t incumbent, const std::vector<std::size_t>& candidates, const Timer& time,
              const TimeIsUp& time_is_up);

// From what runs took to how far the cost model is off: for each part of its figures the factor by which the
// sums meet the times best.

struct Sample {
  device::CostParts estimated; // nanoseconds
  double measured_ns = 0;
};

// The least squares of relative errors with factors from 1/1000 to 1000, by coordinate descent. What the
// samples do not tell apart, or do not have, stays near 1.
device::CostParts fit_scales(const std::vector<Sample>& samples);

// Part by part.
device::CostParts product(const device::CostParts& a, const device::CostParts& b);

} // namespace tidegate::tuning
