// Two ways timed in pairs, and with what confidence the one is faster. Each round runs both, one right after
// the other and in turn the other way round, so that what slows the machine down slows both: a round says one
// thing, the ratio of its two times.
#pragma once

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

double median(std::vector<double> values);

// Of paired ratios, without any assumption about how times are distributed: the sign test for the confidence,
// 1 - P(so many rounds or more are faster by chance), and order statistics for the interval. Source: Conover,
// "Practical Nonparametric Statistics", sections 3.2 and 3.4.
Duel judge(const std::vector<double>& ratios);

// Up to `rounds` rounds; fewer when time is up, none where one of the two does not come to its end.
Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up);

} // namespace tidegate::tuning
