// Policies that make a launch take a route.
#include "tune/knobs.hpp"
#include <tidegate/policy/launch_policy.hpp>

using namespace tidegate;
using namespace tidegate::tuning;
using policy::PromotionRoute;

TEST_CASE("the policy takes the route that was measured, wherever its thresholds were") {
  for (const std::uint32_t queue : {1U, 100U, 4096U, 1'000'000U}) {
    for (const std::uint32_t threshold : {1U, 50U, 5'000'000U}) {
      for (std::size_t i = 0; i < policy::promotion_route_names.size(); ++i) {
        policy::LaunchRequest request = policy::LaunchRequest::direct(queue, 8, 256);
        request.hot_opcode_count = 3;
        request.hot_window_count = 2;
        policy::LaunchPolicy given{.hot_opcode_threshold = threshold,
                                   .hot_window_threshold = threshold,
                                   .jit_queue_len_threshold = threshold};
        const auto before = policy::decide(given, request);
        REQUIRE(before);
        const auto evidence = policy::promotion_evidence(given, before->effective, before->recommendation);
        const auto route = static_cast<PromotionRoute>(i);
        const auto after = policy::decide(policy_for(route, evidence, given), request);
        REQUIRE(after);
        CHECK(policy::promotion_route(after->recommendation) == route);
      }
    }
  }
}

TEST_CASE("thresholds that say so already stay") {
  const policy::LaunchPolicy standard;
  const policy::PromotionEvidence evidence{.queue_len = 100'000};
  CHECK(policy_for(PromotionRoute::queue_jit, evidence, standard) == standard);
  CHECK(policy_for(PromotionRoute::interpreter, {.queue_len = 10}, standard) == standard);
}
