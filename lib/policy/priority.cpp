// Saturating counters and the first reason to drain them; priorities, cheapest candidates and steps in doubles.
#include "core/prelude.hpp"
#include <tidegate/policy/priority.hpp>

namespace tidegate::policy {
namespace {

constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

constexpr std::array<std::string_view, drain_reason_names.size()> fixes{
    "nothing to drain",
    "read the counters out, add them to the running totals and reset them to zero",
    "drain now: aged_promotions is about to overflow; add it to the running totals and reset it to zero",
    "drain now: requeue_count is about to overflow; add it to the running totals and reset it to zero",
    "aged_promotions is full and no longer counts: drain and reset it before the next launch",
    "requeue_count is full and no longer counts: drain and reset it before the next launch"}; // by DrainReason

DrainReason drain_reason(const DrainRecommendation& drain) {
  const std::uint64_t requeues = drain.requeue_counter_headroom;
  const std::uint64_t promotions = drain.aged_promotion_counter_headroom;
  return requeues == 0                             ? DrainReason::requeue_counter_exhausted
         : promotions == 0                         ? DrainReason::aged_promotion_counter_exhausted
         : requeues <= near_limit_headroom         ? DrainReason::requeue_counter_near_limit
         : promotions <= near_limit_headroom       ? DrainReason::aged_promotion_counter_near_limit
         : drain.accounting == RequeueAccounting{} ? DrainReason::none
                                                   : DrainReason::pending_telemetry;
}

} // namespace

Result<void> RequeueAccounting::count(std::uint64_t RequeueAccounting::*counter, std::uint32_t age_ticks,
                                      bool checked) {
  const bool full = this->*counter == u64_max;
  if (full && checked) {
    const std::string field =
        counter == &RequeueAccounting::requeue_count ? "requeue_count" : "aged_promotions";
    return tl::unexpected(Error{.code = ErrorCode::overflow,
                                .message = fmt::format("{} does not fit its integer type", field),
                                .fix = "drain the queue and start the counter again from zero",
                                .pointer = "/" + field,
                                .field = field});
  }
  this->*counter += full ? 0 : 1;
  max_priority_age = std::max(max_priority_age, age_ticks);
  return {};
}

DrainRecommendation drain_recommendation(const RequeueAccounting& accounting) {
  DrainRecommendation drain{.accounting = accounting,
                            .requeue_counter_headroom = u64_max - accounting.requeue_count,
                            .aged_promotion_counter_headroom = u64_max - accounting.aged_promotions,
                            .fix = {}};
  drain.reason = drain_reason(drain);
  drain.should_drain = drain.reason != DrainReason::none;
  drain.fix = fixes[static_cast<std::size_t>(drain.reason)];
  return drain;
}

std::vector<double> diffuse_priorities(std::span<const double> priority_stalks,
                                       std::span<const double> restriction_diag, double damping,
                                       std::uint32_t iterations) {
  std::vector<double> stalks(priority_stalks.begin(), priority_stalks.end());
  if (priority_stalks.size() != restriction_diag.size()) {
    return stalks;
  }
  for (std::uint32_t iteration = 0; iteration < iterations; ++iteration) {
    bool changed = false;
    for (std::size_t i = 0; i < stalks.size(); ++i) {
      const double previous = stalks[i];
      stalks[i] = previous - damping * restriction_diag[i] * previous;
      changed = changed || std::bit_cast<std::uint64_t>(stalks[i]) != std::bit_cast<std::uint64_t>(previous);
    }
    // An iteration that changed no bit is a fixed point, so 2^32 iterations over converged stalks end here.
    if (!changed) {
      break;
    }
  }
  return stalks;
}

std::optional<std::uint32_t> choose_cheapest(std::span<const std::uint32_t> candidates,
                                             std::span<const double> costs,
                                             std::optional<std::uint32_t> current) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < std::min(candidates.size(), costs.size()); ++i) {
    if (!std::isnan(costs[i]) && (!best || std::is_lt(std::strong_order(costs[i], costs[*best])))) {
      best = i;
    }
  }
  return best ? candidates[*best] : current;
}

std::vector<double> natural_gradient_step(std::span<const double> matrix, std::span<const double> gradient,
                                          std::uint32_t n, double learning_rate) {
  // The square of a 32-bit n fits 64 bits, so the sizes are checked before any allocation.
  if (gradient.size() < n || matrix.size() < std::uint64_t{n} * n) {
    return {};
  }
  std::vector<double> step(n);
  for (std::size_t row = 0; row < n; ++row) {
    double sum = 0.0;
    for (std::size_t column = 0; column < n; ++column) {
      sum += matrix[row * n + column] * gradient[column];
    }
    step[row] = -learning_rate * sum;
  }
  return step;
}

} // namespace tidegate::policy
