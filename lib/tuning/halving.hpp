// Successive halving: all candidates run a few times, the better half of them twice as often, until one is
// left. Time goes to those that may still be the best. Source: Jamieson and Talwalkar, "Non-stochastic best
// arm identification and hyperparameter optimization", AISTATS 2016.
#pragma once

#include <tidegate/tuning/duel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tidegate::tuning {

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

} // namespace tidegate::tuning
