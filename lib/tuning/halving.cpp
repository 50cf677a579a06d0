#include <tidegate/policy/tuning.hpp>
#include <tidegate/tuning/halving.hpp>

#include <algorithm>

namespace tidegate::tuning {
namespace {

constexpr std::size_t first_rounds = 2;

// One round; false when the incumbent did not come to its end. The order turns by one from round to round.
bool run_round(std::size_t round, std::size_t incumbent, const std::vector<Contender*>& left,
               const Timer& time) {
  const std::size_t count = left.size() + 1;
  double own = 0;
  std::vector<double> times(left.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t turn = (i + round) % count;
    const auto taken = time(turn == 0 ? incumbent : left[turn - 1]->candidate);
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

Halving halve(std::size_t incumbent, const std::vector<std::size_t>& candidates, const Timer& time,
              const TimeIsUp& time_is_up) {
  Halving result{.contenders = {}, .best = incumbent, .rounds_by_rung = {}};
  for (const std::size_t candidate : candidates) {
    result.contenders.push_back({.candidate = candidate, .ratios = {}});
  }
  std::vector<Contender*> left;
  for (Contender& contender : result.contenders) {
    left.push_back(&contender);
  }
  std::size_t round = 0;
  for (std::size_t rounds = first_rounds; left.size() > 1; rounds *= 2) {
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
    left.resize((left.size() + 1) / 2);
  }
  std::erase_if(left, [&](const Contender* contender) {
    return contender->failed || (candidates.size() > 1 && contender->ratios.empty());
  });
  std::vector<std::uint32_t> names;
  std::vector<double> costs;
  for (const Contender* contender : left) {
    names.push_back(static_cast<std::uint32_t>(contender->candidate));
    costs.push_back(median(contender->ratios));
  }
  result.best = policy::choose_cheapest(names, costs, static_cast<std::uint32_t>(incumbent));
  return result;
}

} // namespace tidegate::tuning
