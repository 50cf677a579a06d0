// Requeue accounting with its drain recommendation, the diffusion of priorities between siblings, the choice of the
// cheapest candidate, and natural-gradient steps. Plain counters and pure functions; the order of operations in doubles is
// fixed by the golden vectors, without fused multiply-add.
#pragma once
#include <tidegate/policy/launch_policy.hpp>

#include <span>

namespace tidegate::policy {

struct RequeueAccounting {
  std::uint64_t requeue_count = 0;
  std::uint64_t aged_promotions = 0;
  std::uint32_t max_priority_age = 0; // ticks

  // Count one requeue or aged promotion of an item that waited `age_ticks`; counters saturate at u64 max.
  void record_requeue(std::uint32_t age_ticks) {
    (void)count(&RequeueAccounting::requeue_count, age_ticks, false);
  }
  void record_aged_promotion(std::uint32_t age_ticks) {
    (void)count(&RequeueAccounting::aged_promotions, age_ticks, false);
  }

  // Checked forms. Errors: overflow {requeue_count} or {aged_promotions}, and nothing changes.
  Result<void> try_record_requeue(std::uint32_t age_ticks) {
    return count(&RequeueAccounting::requeue_count, age_ticks, true);
  }
  Result<void> try_record_aged_promotion(std::uint32_t age_ticks) {
    return count(&RequeueAccounting::aged_promotions, age_ticks, true);
  }

  friend bool operator==(const RequeueAccounting&, const RequeueAccounting&) = default;

private:
  Result<void> count(std::uint64_t RequeueAccounting::*counter, std::uint32_t age_ticks, bool checked);
};

enum class DrainReason : std::uint8_t {
  none,
  pending_telemetry,
  aged_promotion_counter_near_limit,
  requeue_counter_near_limit,
  aged_promotion_counter_exhausted,
  requeue_counter_exhausted,
};
inline constexpr auto drain_reason_names = std::to_array<std::string_view>(
    {"none", "pending_telemetry", "aged_promotion_counter_near_limit", "requeue_counter_near_limit",
     "aged_promotion_counter_exhausted", "requeue_counter_exhausted"});

// Counters this close to u64 max should be drained before they overflow.
inline constexpr std::uint64_t near_limit_headroom = 1024;

struct DrainRecommendation {
  bool should_drain = false;
  DrainReason reason = DrainReason::none;
  RequeueAccounting accounting;
  std::uint64_t requeue_counter_headroom = 0; // increments left
  std::uint64_t aged_promotion_counter_headroom = 0;
  std::string fix; // one line

  friend bool operator==(const DrainRecommendation&, const DrainRecommendation&) = default;
};

DrainRecommendation drain_recommendation(const RequeueAccounting& accounting);

// Applies s[i] -= damping * restriction[i] * s[i] `iterations` times. Returns the stalks unchanged if the lengths differ.
std::vector<double> diffuse_priorities(std::span<const double> priority_stalks,
                                       std::span<const double> restriction_diag, double damping,
                                       std::uint32_t iterations);

// Returns the candidate with the lowest cost, the first among equals, by IEEE 754 total order (-0.0 before
// 0.0). The cost of a candidate that failed is NaN. Ignores surplus values of the longer list; returns `current` if no
// candidate has a cost.
std::optional<std::uint32_t> choose_cheapest(std::span<const std::uint32_t> candidates,
                                             std::span<const double> costs,
                                             std::optional<std::uint32_t> current);

// Returns -learning_rate * (M · gradient), M row-major n×n, each sum accumulated left to right from 0.0. Returns
// an empty vector if M has fewer than n² values or the gradient fewer than n. Source: Amari, "Natural gradient works
// efficiently in learning", Neural Computation 10(2), 1998.
std::vector<double> natural_gradient_step(std::span<const double> matrix, std::span<const double> gradient,
                                          std::uint32_t n, double learning_rate);

} // namespace tidegate::policy
