#include "runtime/rank_report.hpp"

namespace tidegate::runtime {

std::chrono::steady_clock::time_point begin_together(ranks::Ranks& ranks, Monitor& monitor,
                                                     std::uint64_t most_ns) {
  monitor.begin(Activity::running);
  monitor.iterations = 0;
  or_refuse(ranks.barrier());
  ranks.count_from_here();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(most_ns);
  monitor.deadline = deadline;
  return deadline;
}

Result<RanksReport> report_ranks(const DispatchOutcome& outcome, RankReport own, ranks::Ranks& ranks) {
  own.rank = static_cast<std::uint32_t>(ranks.rank());
  own.host = ranks::host_name();
  own.numbers.dispatch_ns = outcome.dispatch_ns;
  own.numbers.traffic = outcome.traffic;
  RanksReport report;
  if (outcome.status != RunStatus::done) {
    report.ranks = {std::move(own)};
    return report;
  }
  TIDEGATE_TRY(const auto numbers, ranks.gather(std::span<const RankNumbers>(&own.numbers, 1)));
  TIDEGATE_TRY(const auto hosts, ranks.gather(own.host));
  TIDEGATE_TRY(const auto devices, ranks.gather(own.device));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    report.ranks.push_back({.rank = static_cast<std::uint32_t>(i),
                            .host = hosts[i],
                            .device = devices[i],
                            .numbers = numbers[i].front()});
  }
  return report;
}

} // namespace tidegate::runtime
