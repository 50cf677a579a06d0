#include "tune/statistics.hpp"

#include "core/statistics.hpp"
#include <tidegate/policy/tuning.hpp>

#include <algorithm>
#include <array>
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
    while (ratios.size() < count && !time_is_up()) {
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

namespace {

constexpr std::size_t first_turns = 3; // of which one may be an outlier
constexpr std::size_t last_turns = 24;

// Returns true unless nearly all rounds say that a contender is slower than another in the same round.
bool may_be_as_fast(const Contender& contender, const Contender& other) {
  constexpr double chance = 0.1;
  std::uint64_t slower = 0;
  std::uint64_t rounds = 0;
  for (; rounds < std::min(contender.ratios.size(), other.ratios.size()); ++rounds) {
    slower += contender.ratios[rounds] > other.ratios[rounds] ? 1 : 0;
  }
  return at_least(slower, rounds) > chance;
}

// Runs one round; returns false if the incumbent did not finish. The order rotates from round to round.
bool run_round(std::size_t round, std::size_t incumbent, const std::vector<Contender*>& left,
               const Timer& time) {
  const std::size_t count = left.size() + 1;
  double own = 0;
  std::vector<double> times(left.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t turn = (i + round) % count;
    const auto taken = time(turn == 0 ? incumbent : left[turn - 1]->configuration);
    if (turn == 0) {
      if (!taken) {
        return false;
      }
      own = *taken;
    } else if (taken) {
      times[turn - 1] = *taken;
    } else {
      left[turn - 1]->failed = true;
    }
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!left[i]->failed) {
      left[i]->ratios.push_back(times[i] / own);
    }
  }
  return true;
}

} // namespace

Halving halve(std::size_t incumbent, const std::vector<std::size_t>& configurations, const Timer& time,
              const TimeIsUp& time_is_up) {
  Halving result{.contenders = {}, .best = incumbent, .rounds_by_rung = {}};
  for (const std::size_t configuration : configurations) {
    result.contenders.push_back({.configuration = configuration, .ratios = {}});
  }
  std::vector<Contender*> left;
  for (Contender& contender : result.contenders) {
    left.push_back(&contender);
  }
  std::size_t round = 0;
  for (std::size_t rounds = first_turns; left.size() > 1 && rounds <= last_turns; rounds *= 2) {
    std::size_t ran = 0;
    for (; ran < rounds && !time_is_up() && run_round(round, incumbent, left, time); ++ran) {
      ++round;
      std::erase_if(left, [](const Contender* contender) { return contender->failed; });
    }
    result.rounds_by_rung.push_back(ran);
    std::ranges::stable_sort(left, {}, [](const Contender* contender) { return median(contender->ratios); });
    if (ran < rounds) {
      break;
    }
    // The last two both go on while their times overlap.
    if (left.size() != 2 || !may_be_as_fast(*left[1], *left[0])) {
      left.resize((left.size() + 1) / 2);
    }
  }
  std::erase_if(left, [&](const Contender* contender) {
    return contender->failed || (configurations.size() > 1 && contender->ratios.empty());
  });
  std::vector<std::uint32_t> names;
  std::vector<double> costs;
  for (const Contender* contender : left) {
    names.push_back(static_cast<std::uint32_t>(contender->configuration));
    costs.push_back(median(contender->ratios));
  }
  result.best = *policy::choose_cheapest(names, costs, static_cast<std::uint32_t>(incumbent));
  return result;
}

namespace {

using device::CostParts;

constexpr std::array parts{&CostParts::start, &CostParts::launches, &CostParts::barriers, &CostParts::waits,
                           &CostParts::work};
constexpr double most_factor = 1000;

} // namespace

CostParts fit_scales(const std::vector<Sample>& samples) {
  constexpr int sweeps = 1000;
  constexpr double pull = 0.001; // weight of the pull towards 1, relative to the samples
  CostParts scales{1, 1, 1, 1, 1};
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const auto part : parts) {
      double weight = 0;
      double wanted = 0;
      for (const Sample& sample : samples) {
        double others = 0; // sum of the other parts, relative to the measured time
        for (const auto other : parts) {
          others += other == part ? 0 : scales.*other * sample.estimated.*other / sample.measured_ns;
        }
        const double own = sample.estimated.*part / sample.measured_ns;
        weight += own * own;
        wanted += own * (1 - others);
      }
      if (weight > 0) {
        scales.*part =
            std::clamp((wanted + pull * weight) / (weight + pull * weight), 1 / most_factor, most_factor);
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

CostParts bounded(CostParts scales) {
  for (const auto part : parts) {
    scales.*part = std::clamp(scales.*part, 1 / most_factor, most_factor);
  }
  return scales;
}

} // namespace tidegate::tuning
