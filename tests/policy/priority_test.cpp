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
  constexpr std::string_view pending =
      "read the counters out, add them to the running totals and reset them to zero";
  constexpr std::string_view requeue_near =
      "drain now: requeue_count is about to overflow; add it to the running totals and reset it to zero";
  constexpr std::string_view aged_near =
      "drain now: aged_promotions is about to overflow; add it to the running totals and reset it to zero";
  constexpr std::string_view requeue_full =
      "requeue_count is full and no longer counts: drain and reset it before the next launch";
  constexpr std::string_view aged_full =
      "aged_promotions is full and no longer counts: drain and reset it before the next launch";
  constexpr std::uint64_t near = u64_max - 1'024;
  struct Case {
    RequeueAccounting accounting;
    std::string_view reason, fix;
  };
  for (const Case& c : {
           Case{{0, 0, 0}, "none", "nothing to drain"},
           Case{{1, 0, 0}, "pending_telemetry", pending},
           Case{{0, 1, 0}, "pending_telemetry", pending},
           Case{{0, 0, 1}, "pending_telemetry", pending},
           Case{{near - 1, near - 1, 1}, "pending_telemetry", pending},
           Case{{near, 0, 0}, "requeue_counter_near_limit", requeue_near},
           Case{{0, near, 0}, "aged_promotion_counter_near_limit", aged_near},
           Case{{near, near, 0}, "requeue_counter_near_limit", requeue_near},
           Case{{u64_max - 1, u64_max - 1, 0}, "requeue_counter_near_limit", requeue_near},
           Case{{0, u64_max, 0}, "aged_promotion_counter_exhausted", aged_full},
           Case{{u64_max - 1, u64_max, 0}, "aged_promotion_counter_exhausted", aged_full},
           Case{{u64_max, 0, 0}, "requeue_counter_exhausted", requeue_full},
           Case{{u64_max, u64_max, u32_max}, "requeue_counter_exhausted", requeue_full},
       }) {
    CAPTURE(c.accounting.requeue_count);
    CAPTURE(c.accounting.aged_promotions);
    CAPTURE(c.accounting.max_priority_age);
    const DrainRecommendation drain = drain_recommendation(c.accounting);
    CHECK(drain_reason_names.at(static_cast<std::size_t>(drain.reason)) == c.reason);
    CHECK(drain.should_drain == (c.reason != "none"));
    CHECK((drain.accounting == c.accounting));
    CHECK(drain.requeue_counter_headroom == u64_max - c.accounting.requeue_count);
    CHECK(drain.aged_promotion_counter_headroom == u64_max - c.accounting.aged_promotions);
    CHECK(drain.fix == c.fix);
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
