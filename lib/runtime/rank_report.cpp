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
  own.dispatch_ns = outcome.dispatch_ns;
  own.waiting_ns = outcome.traffic.waiting_ns;
  own.bytes_sent = outcome.traffic.bytes_sent;
  own.messages = outcome.traffic.messages;
  RanksReport report;
  if (outcome.status != RunStatus::done) {
    report.ranks = {std::move(own)};
    return report;
  }
  const std::array<std::uint64_t, 6> numbers{own.dispatch_ns,       own.waiting_ns,
                                             own.bytes_sent,        own.messages,
                                             own.edges.value_or(0), own.device_bytes.value_or(0)};
  TIDEGATE_TRY(const auto all, ranks.gather(std::span<const std::uint64_t>(numbers)));
  TIDEGATE_TRY(const auto hosts, ranks.gather(own.host));
  TIDEGATE_TRY(const auto devices, ranks.gather(own.device));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::uint64_t>& of = all[i];
    report.ranks.push_back({.rank = static_cast<std::uint32_t>(i),
                            .host = hosts[i],
                            .device = devices[i],
                            .dispatch_ns = of[0],
                            .waiting_ns = of[1],
                            .bytes_sent = of[2],
                            .messages = of[3],
                            .edges = own.edges ? std::optional(of[4]) : std::nullopt,
                            .device_bytes = own.device_bytes ? std::optional(of[5]) : std::nullopt});
  }
  return report;
}

} // namespace tidegate::runtime
