#include "engine/rank_clock.hpp"

#include "core/duration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace tidegate::engine {

RankClock::Clock::time_point RankClock::begin(std::chrono::nanoseconds most, std::uint64_t trace_spans) {
  monitor_.begin(Activity::running);
  monitor_.iterations = 0;
  together([this] { return ranks_.barrier(); });
  trace = RankTrace(trace_spans);
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
  if (status != RunStatus::done) {
    own.rank = static_cast<std::uint32_t>(ranks.rank());
    own.host = ranks::host_name();
    own.waiting_ns = traffic.waiting_ns;
    own.bytes_sent = traffic.bytes_sent;
    own.messages = traffic.messages;
    return RanksReport{.ranks = {std::move(own)},
                       .slowest = static_cast<std::uint32_t>(ranks.rank()),
                       .bytes_sent = traffic.bytes_sent,
                       .messages = traffic.messages};
  }
  constexpr std::uint64_t none = ~std::uint64_t{0};
  const std::array<std::uint64_t, 6> numbers_here{own.dispatch_ns,          traffic.waiting_ns,
                                                  traffic.bytes_sent,       traffic.messages,
                                                  own.edges.value_or(none), own.device_bytes.value_or(none)};
  TIDEGATE_TRY(const auto numbers, ranks.gather(std::as_bytes(std::span(numbers_here))));
  own.host = ranks::host_name();
  TIDEGATE_TRY(const auto hosts, ranks.gather(std::as_bytes(std::span(own.host))));
  TIDEGATE_TRY(const auto devices, ranks.gather(std::as_bytes(std::span(own.device))));
  RanksReport report;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto of = numbers_here;
    std::memcpy(of.data(), numbers[i].data(), sizeof of);
    const auto given = [](std::uint64_t number) {
      return number == none ? std::nullopt : std::optional(number);
    };
    report.ranks.push_back({.rank = static_cast<std::uint32_t>(i),
                            .host = ranks::string_from(hosts[i]),
                            .device = ranks::string_from(devices[i]),
                            .dispatch_ns = of[0],
                            .waiting_ns = of[1],
                            .bytes_sent = of[2],
                            .messages = of[3],
                            .edges = given(of[4]),
                            .device_bytes = given(of[5])});
    report.bytes_sent += of[2];
    report.messages += of[3];
    const auto working = [](const RankReport& rank) {
      return rank.dispatch_ns - std::min(rank.dispatch_ns, rank.waiting_ns);
    };
    if (working(report.ranks.back()) > working(report.ranks[report.slowest])) {
      report.slowest = static_cast<std::uint32_t>(i);
    }
  }
  return report;
}

void RankTrace::mark(Span span) {
  if (most_ == 0) {
    return;
  }
  span.begin_ns = last_ns_;
  span.end_ns = last_ns_ = elapsed_ns(start_);
  if (spans.size() < most_) {
    spans.push_back(span);
  } else {
    ++left_out;
  }
}

void RankTrace::name(std::uint32_t name, std::uint32_t iteration) {
  for (; unnamed_ < spans.size(); ++unnamed_) {
    spans[unnamed_].name = name;
    spans[unnamed_].iteration = iteration;
  }
}

Result<Timeline> timeline_of_ranks(const RankTrace& own, std::vector<std::string> names,
                                   ranks::Ranks& ranks) {
  const std::uint64_t left_out_here = own.left_out;
  TIDEGATE_TRY(const auto all, ranks.gather(std::as_bytes(std::span(own.spans))));
  TIDEGATE_TRY(const auto left_out, ranks.gather(std::as_bytes(std::span(&left_out_here, 1))));
  Timeline timeline;
  const auto exchange = static_cast<std::uint32_t>(names.size());
  names.emplace_back("messages");
  timeline.names = std::move(names);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    std::uint64_t missing = 0;
    std::memcpy(&missing, left_out[rank].data(), sizeof missing);
    timeline.left_out += missing;
    std::vector<RankTrace::Span> spans(all[rank].size() / sizeof(RankTrace::Span));
    std::memcpy(spans.data(), all[rank].data(), all[rank].size());
    Lane work{.name = fmt::format("rank {}", rank), .spans = {}};
    Lane messages{.name = fmt::format("rank {}, sends", rank), .spans = {}};
    Curve sent{.name = fmt::format("bytes sent by rank {}", rank), .points = {}};
    for (const RankTrace::Span& span : spans) {
      const bool sends = span.exchange != 0;
      (sends ? messages : work)
          .spans.push_back({.kind = sends ? SpanKind::slice : SpanKind::work,
                            .begin_ns = span.begin_ns,
                            .end_ns = span.end_ns,
                            .name = sends ? exchange : span.name,
                            .iteration = span.iteration});
      if (sends) {
        sent.points.emplace_back(span.end_ns, span.bytes_sent);
      }
    }
    timeline.lanes.push_back(std::move(work));
    timeline.lanes.push_back(std::move(messages));
    timeline.curves.push_back(std::move(sent));
  }
  return timeline;
}

} // namespace tidegate::engine
