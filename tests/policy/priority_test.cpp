// Requeue accounting at the limits of its counters, the drain recommendation, and sibling diffusion.
#include "support.hpp"
#include <tidegate/policy/priority.hpp>

namespace tidegate::policy {
namespace {

using namespace test;

TEST_CASE("the checked forms reach u64 max, then fail and change nothing") {
  RequeueAccounting accounting{u64_max - 1, u64_max - 1, 7};
  CHECK(error_of(accounting.try_record_requeue(0)) == "none");
  CHECK(error_of(accounting.try_record_aged_promotion(0)) == "none");
  const RequeueAccounting full{u64_max, u64_max, 7};
  CHECK((accounting == full));
  CHECK(error_of(accounting.try_record_requeue(8)) == "overflow {requeue_count}");
  CHECK((accounting == full));
  CHECK(error_of(accounting.try_record_aged_promotion(8)) == "overflow {aged_promotions}");
  CHECK((accounting == full));
}

TEST_CASE("drain: the first reason wins, and each has its fix") {
  constexpr std::uint64_t near = u64_max - 1'024;
  struct Case {
    RequeueAccounting accounting;
    std::string_view reason, fix; // how it begins
  };
  for (const auto& [accounting, reason, fix] : {
           Case{{0, 0, 0}, "none", "nothing to drain"},
           Case{{1, 0, 0}, "pending_telemetry", "read the counters out"},
           Case{{0, 1, 0}, "pending_telemetry", "read the counters out"},
           Case{{0, 0, 1}, "pending_telemetry", "read the counters out"},
           Case{{near - 1, near - 1, 1}, "pending_telemetry", "read the counters out"},
           Case{{near, 0, 0}, "requeue_counter_near_limit", "drain now: requeue_count"},
           Case{{0, near, 0}, "aged_promotion_counter_near_limit", "drain now: aged_promotions"},
           Case{{near, near, 0}, "requeue_counter_near_limit", "drain now: requeue_count"},
           Case{{u64_max - 1, u64_max - 1, 0}, "requeue_counter_near_limit", "drain now: requeue_count"},
           Case{{0, u64_max, 0}, "aged_promotion_counter_exhausted", "aged_promotions is full"},
           Case{{u64_max - 1, u64_max, 0}, "aged_promotion_counter_exhausted", "aged_promotions is full"},
           Case{{u64_max, 0, 0}, "requeue_counter_exhausted", "requeue_count is full"},
           Case{{u64_max, u64_max, u32_max}, "requeue_counter_exhausted", "requeue_count is full"},
       }) {
    const DrainRecommendation drain = drain_recommendation(accounting);
    CHECK(drain_reason_names.at(static_cast<std::size_t>(drain.reason)) == reason);
    CHECK(drain.fix.starts_with(fix));
    CHECK(
        (drain == DrainRecommendation{.should_drain = reason != "none",
                                      .reason = drain.reason,
                                      .accounting = accounting,
                                      .requeue_counter_headroom = u64_max - accounting.requeue_count,
                                      .aged_promotion_counter_headroom = u64_max - accounting.aged_promotions,
                                      .fix = drain.fix}));
  }
}

using Values = std::vector<double>;

bool same_bits(const Values& a, const Values& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

TEST_CASE("diffusion stops early once it has converged") {
  CHECK(same_bits(diffuse_priorities(Values{1.0, 5.0}, Values{1.0, 0.0}, 1.0, u32_max), {0.0, 5.0}));
  const Values stuck =
      diffuse_priorities(Values{std::numeric_limits<double>::quiet_NaN()}, Values{1.0}, 0.5, u32_max);
  CHECK(stuck.front() != stuck.front());
}

} // namespace
} // namespace tidegate::policy
