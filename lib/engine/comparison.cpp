#include "engine/comparison.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace tidegate::engine {
namespace {

std::pair<double, double> extremes(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {least, most};
}

} // namespace

std::optional<Comparison> compare_ways(std::uint64_t rounds, bool same_launches,
                                       const std::function<std::optional<std::uint64_t>()>& plain,
                                       const std::function<std::optional<std::uint64_t>()>& run) {
  Comparison made;
  std::vector<double> ratios;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const bool plain_first =
        round % 2 == 0; // a side that always came second would find other caches and clocks
    std::optional<std::uint64_t> of_plain = plain_first ? plain() : std::nullopt;
    const std::optional<std::uint64_t> of_run = run();
    of_plain = plain_first ? of_plain : plain();
    if (!of_plain || !of_run) {
      break;
    }
    made.plain_rounds_ns.push_back(static_cast<double>(*of_plain));
    made.run_rounds_ns.push_back(static_cast<double>(*of_run));
    ratios.push_back(made.plain_rounds_ns.back() / std::max(made.run_rounds_ns.back(), 1.0));
  }
  made.rounds = ratios.size();
  if (ratios.empty()) {
    return {};
  }
  made.plain_ns = median(made.plain_rounds_ns);
  made.run_ns = median(made.run_rounds_ns);
  std::tie(made.plain_min_ns, made.plain_max_ns) = extremes(made.plain_rounds_ns);
  std::tie(made.run_min_ns, made.run_max_ns) = extremes(made.run_rounds_ns);
  made.plain_outliers = outliers(made.plain_rounds_ns);
  made.run_outliers = outliers(made.run_rounds_ns);
  const RatioEstimate estimated = paired_ratio(std::move(ratios));
  made.speedup = estimated.ratio;
  made.speedup_low = estimated.low;
  made.speedup_high = estimated.high;
  made.verdict = same_launches ? SpeedVerdict::same_launches : verdict_of(estimated);
  return made;
}

} // namespace tidegate::engine
