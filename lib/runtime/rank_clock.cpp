#include "runtime/rank_clock.hpp"

#include <tidegate/core/text.hpp>

namespace tidegate::runtime {

RankClock::Clock::time_point RankClock::begin(std::chrono::nanoseconds most) {
  monitor_.begin(Activity::running);
  monitor_.iterations = 0;
  or_refuse(ranks_.barrier());
  before_ = ranks_.traffic();
  start_ = Clock::now();
  monitor_.deadline = start_ + most;
  return start_ + most;
}

void RankClock::end() {
  dispatch_ns = elapsed_ns(start_);
  const ranks::Traffic& after = ranks_.traffic();
  traffic = {.bytes_sent = after.bytes_sent - before_.bytes_sent,
             .messages = after.messages - before_.messages,
             .waiting_ns = after.waiting_ns - before_.waiting_ns};
}

Result<RanksReport> report_ranks(RunStatus status, const ranks::Traffic& traffic, RankReport own,
                                 ranks::Ranks& ranks) {
  own.rank = static_cast<std::uint32_t>(ranks.rank());
  own.host = ranks::host_name();
  own.waiting_ns = traffic.waiting_ns;
  own.bytes_sent = traffic.bytes_sent;
  own.messages = traffic.messages;
  if (status != RunStatus::done) {
    return RanksReport{.ranks = {std::move(own)}};
  }
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const std::array<std::uint64_t, 6> numbers_here{own.dispatch_ns,          own.waiting_ns,
                                                  own.bytes_sent,           own.messages,
                                                  own.edges.value_or(none), own.device_bytes.value_or(none)};
  TIDEGATE_TRY(const auto numbers, ranks.gather(std::span<const std::uint64_t>(numbers_here)));
  TIDEGATE_TRY(const auto hosts, ranks.gather(own.host));
  TIDEGATE_TRY(const auto devices, ranks.gather(own.device));
  RanksReport report;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::vector<std::uint64_t>& of = numbers[i];
    const auto given = [](std::uint64_t number) {
      return number == none ? std::nullopt : std::optional(number);
    };
    report.ranks.push_back({.rank = static_cast<std::uint32_t>(i),
                            .host = hosts[i],
                            .device = devices[i],
                            .dispatch_ns = of[0],
                            .waiting_ns = of[1],
                            .bytes_sent = of[2],
                            .messages = of[3],
                            .edges = given(of[4]),
                            .device_bytes = given(of[5])});
  }
  return report;
}

} // namespace tidegate::runtime
