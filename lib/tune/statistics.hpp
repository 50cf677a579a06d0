// Statistics of configurations that are timed in pairs. A round runs both configurations consecutively, in
// alternating order, so that disturbances of the machine affect both; each round yields the ratio of its two
// times.
#pragma once
#include "core/prelude.hpp"

namespace tidegate::tuning {

// Returns the nanoseconds of one run of a configuration; nullopt if it did not finish.
using Timer = std::function<std::optional<double>(std::size_t configuration)>;
using TimeIsUp = std::function<bool()>;

// A configuration counts as faster only with this confidence and by this ratio. A program has seven knobs; 99
// % for each means at least 93 % that none of them changed by chance.
inline constexpr double required_confidence = 0.99;
inline constexpr double required_ratio = 0.99; // of the times

inline constexpr std::uint64_t clear_rounds = 3;

struct Duel {
  std::uint64_t rounds = 0;
  double ratio = 1;      // challenger's time divided by the incumbent's, median of the rounds
  double ratio_low = 1;  // bounds of the true median with at least 95 % confidence;
  double ratio_high = 1; // the range of all ratios if there are few rounds
  double confidence = 0; // that the challenger is faster

  [[nodiscard]] bool won() const { return confidence >= required_confidence && ratio <= required_ratio; }

  // All rounds say so, by more than a tenth: a few are enough.
  [[nodiscard]] bool clearly_faster() const { return rounds >= clear_rounds && ratio_high < 0.9; }
  [[nodiscard]] bool clearly_slower() const { return rounds >= clear_rounds && ratio_low > 1.1; }
};

// Judges paired ratios without assuming a distribution: the sign test for the confidence, 1 - P(at least as
// many rounds are faster by chance), and order statistics for the interval. Source: Conover, "Practical
// Nonparametric Statistics", sections 3.2 and 3.4.
Duel judge(const std::vector<double>& ratios);

// Nanoseconds of each way by round.
using Rounds = std::vector<std::vector<double>>;

// Adds rounds in which these configurations run in turns, each after each, up to `most` or until `ends`. Returns false if a
// run does not finish.
bool time_in_turns(const std::vector<std::size_t>& configurations, std::uint64_t most, const Timer& time,
                   const std::function<bool()>& ends, Rounds& times);

// The times of one way divided by those of another, by round.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

// Runs up to `rounds` rounds, fewer if time is up or the challenger is clearly slower after clear_rounds; and
// `more_rounds` if it is ahead then without the required confidence. Returns an empty duel if a run does not finish.
Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up, std::uint64_t more_rounds = 0);

} // namespace tidegate::tuning
