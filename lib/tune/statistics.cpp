#include "tune/statistics.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <cstddef>

namespace tidegate::tuning {
Duel judge(const std::vector<double>& ratios) {
  Duel duel{.rounds = ratios.size()};
  if (ratios.empty()) {
    return duel;
  }
  const RatioEstimate estimated = paired_ratio(ratios);
  duel.ratio = estimated.ratio;
  duel.ratio_low = estimated.low;
  duel.ratio_high = estimated.high;
  const auto faster =
      static_cast<std::uint64_t>(std::ranges::count_if(ratios, [](double r) { return r < 1; }));
  const auto slower =
      static_cast<std::uint64_t>(std::ranges::count_if(ratios, [](double r) { return r > 1; }));
  duel.confidence = faster + slower == 0 ? 0 : 1 - at_least(faster, faster + slower);
  return duel;
}

Duel duel(std::size_t challenger, std::size_t incumbent, std::uint64_t rounds, const Timer& time,
          const TimeIsUp& time_is_up, std::uint64_t more_rounds) {
  std::vector<double> ratios;
  const auto run_up_to = [&](std::uint64_t count) {
    while (ratios.size() < count && !time_is_up() &&
           (ratios.size() != clear_rounds || !judge(ratios).clearly_slower())) {
      const bool incumbent_first = ratios.size() % 2 == 0;
      const auto first = time(incumbent_first ? incumbent : challenger);
      const auto second = time(incumbent_first ? challenger : incumbent);
      if (!first || !second) {
        return false;
      }
      ratios.push_back(incumbent_first ? *second / *first : *first / *second);
    }
    return true;
  };
  if (!run_up_to(rounds)) {
    return {};
  }
  Duel found = judge(ratios);
  if (more_rounds == 0 || found.won() || found.ratio > required_ratio) {
    return found;
  }
  if (!run_up_to(rounds + more_rounds)) {
    return {};
  }
  found = judge(ratios);
  found.confidence = std::max(1 - 2 * (1 - found.confidence), 0.0); // chance had two turns
  return found;
}

} // namespace tidegate::tuning
