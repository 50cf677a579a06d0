// Requeue accounting with its drain recommendation, and the diffusion of priorities between siblings. Plain
// counters and pure functions.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/policy/launch_request.hpp>

#include <span>

namespace tidegate::policy {

struct RequeueAccounting {
  std::uint64_t requeue_count = 0;
  std::uint64_t aged_promotions = 0;
  std::uint32_t max_priority_age = 0; // ticks

  // Counts one requeue or aged promotion of an item that waited `age_ticks`; counters saturate at u64 max.
  void record_requeue(std::uint32_t age_ticks);
  void record_aged_promotion(std::uint32_t age_ticks);

  // Checked forms. Errors: overflow {requeue_count} or {aged_promotions}, and nothing changes.
  Result<void> try_record_requeue(std::uint32_t age_ticks);
  Result<void> try_record_aged_promotion(std::uint32_t age_ticks);

  friend bool operator==(const RequeueAccounting&, const RequeueAccounting&) = default;
};

enum class DrainReason : std::uint8_t {
  none,
  pending_telemetry,
  aged_promotion_counter_near_limit,
  requeue_counter_near_limit,
  aged_promotion_counter_exhausted,
  requeue_counter_exhausted,
};
inline constexpr std::array<std::string_view, 6> drain_reason_names{"none",
                                                                    "pending_telemetry",
                                                                    "aged_promotion_counter_near_limit",
                                                                    "requeue_counter_near_limit",
                                                                    "aged_promotion_counter_exhausted",
                                                                    "requeue_counter_exhausted"};

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

// Applies s[i] -= damping * restriction[i] * s[i] `iterations` times, in doubles, in that order of
// operations. Returns the stalks unchanged if the lengths differ.
std::vector<double> diffuse_priorities(std::span<const double> priority_stalks,
                                       std::span<const double> restriction_diag, double damping,
                                       std::uint32_t iterations);

} // namespace tidegate::policy
