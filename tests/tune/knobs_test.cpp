// Policies that make a launch take a route; what may be turned of frontier programs, and what may not.
#include "tune/workbench.hpp"
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

namespace tidegate::tuning {
namespace {

std::string values(Knob knob, const TraversalIncumbent& incumbent, bool passed = true) {
  device::DeviceInfo gpu{.type = device::DeviceType::gpu, .profile = {}};
  gpu.compute_units = 132;
  std::string found;
  for (const Alternative& option : values_of(knob, incumbent, gpu, passed).others) {
    found += option.value + " ";
  }
  return found;
}

TraversalIncumbent on_gpu() {
  return {.settings = {},
          .strategy = engine::Strategy::barrier,
          .workers = 132,
          .resident = 264,
          .alone_up_to = 512,
          .most_alone = 1024};
}

} // namespace

TEST_CASE(
    "a small frontier ends at powers of two around the present size, or nothing is worked alone; nothing "
    "persistent without a self-test; no more work-groups than are resident together; no rule that is stated") {
  TraversalIncumbent incumbent = on_gpu();
  CHECK(values_of(Knob::alone_up_to, incumbent, {}, true).value == "512");
  CHECK(values(Knob::alone_up_to, incumbent) == "none 64 128 256 1024 ");
  CHECK(values(Knob::strategy, incumbent) == "launch ");
  CHECK(values(Knob::workers, incumbent) == "33 66 264 ");
  CHECK(values(Knob::switch_rule, incumbent) == "density ");
  incumbent.from_few = false; // all vertices from the beginning
  incumbent.strategy = engine::Strategy::launch;
  incumbent.rule_is_given = true;
  CHECK(values_of(Knob::alone_up_to, incumbent, {}, true).value == "-");
  CHECK(values(Knob::alone_up_to, incumbent).empty());
  CHECK(values(Knob::strategy, incumbent) == "barrier ");
  CHECK(values(Knob::strategy, incumbent, false).empty());
  CHECK(values(Knob::workers, incumbent) == "33 66 264 528 1056 2112 4224 ");
  CHECK(values(Knob::switch_rule, incumbent).empty());
}

} // namespace tidegate::tuning
