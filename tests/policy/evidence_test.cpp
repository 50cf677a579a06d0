// Evidence: its contents and its completeness.
#include "support.hpp"

namespace tidegate::policy {
namespace {

using namespace test;

// A dense launch whose density and pressure are inferred, with hot windows.
struct Launch {
  LaunchPolicy policy;
  LaunchDecision decision;
  TopologyEvidence topology;
  PromotionEvidence promotion;

  explicit Launch(const LaunchPolicy& launch_policy, const LaunchRequest& request)
      : policy(launch_policy), decision(decide(policy, request).value()),
        topology(topology_evidence(decision.effective, decision.recommendation)),
        promotion(promotion_evidence(policy, decision.effective, decision.recommendation)) {}
};

Launch dense_launch() {
  LaunchRequest request = LaunchRequest::direct(5'000, 64, 64);
  request.hot_opcode_count = 7;
  request.hot_window_count = 4;
  request.graph_node_count = 10'000;
  request.resident_device_bytes = 1'000;
  request.device_memory_budget_bytes = 1'000'000;
  return Launch({}, request);
}

// A change to valid evidence, and the field that a check must name.
template <class Evidence>
struct Change {
  std::string_view field;
  std::function<void(Evidence&)> apply;
};
template <class Evidence>
void check_changes(const Evidence& sound, const auto& fault,
                   std::initializer_list<Change<Evidence>> changes) {
  CHECK(fault(sound).value_or("none") == "none");
  for (const auto& [field, apply] : changes) {
    Evidence evidence = sound;
    apply(evidence);
    CHECK(fault(evidence).value_or("none") == field);
  }
}
constexpr auto incomplete = [](const auto& evidence) { return incomplete_field(evidence); };

TEST_CASE("evidence is complete unless one of its fields says otherwise") {
  const Launch launch = dense_launch();
  check_changes<TopologyEvidence>(
      launch.topology, incomplete,
      {{"none", [](auto& e) { e.frontier_density_bps = e.semiring_frontier_density_bps = 10'000; }},
       {"schema_version", [](auto& e) { e.schema_version = 0; }},
       {"schema_version", [](auto& e) { e.schema_version = 2; }},
       {"frontier_density_bps", [](auto& e) { e.frontier_density_bps = 10'001; }},
       {"semiring_frontier_density_bps", [](auto& e) { e.semiring_frontier_density_bps = 10'001; }},
       {"output_parity_required", [](auto& e) { e.output_parity_required = false; }}});
  check_changes<PromotionEvidence>(
      launch.promotion, incomplete,
      {{"schema_version", [](auto& e) { e.schema_version = 0; }},
       {"jit_queue_len_threshold", [](auto& e) { e.jit_queue_len_threshold = 0; }},
       {"hot_opcode_threshold", [](auto& e) { e.hot_opcode_threshold = 0; }},
       {"hot_window_threshold", [](auto& e) { e.hot_window_threshold = 0; }},
       {"fused_descriptor_window_required", [](auto& e) { e.fused_descriptor_window_required = false; }},
       {"fused_descriptor_window_required", [](auto& e) { e.promote_hot_windows = false; }},
       {"output_parity_required", [](auto& e) { e.output_parity_required = false; }}});
}

TEST_CASE("evidence of a decision is complete for sane densities and thresholds") {
  Random random(seed());
  for (int round = 0; round < 5'000; ++round) {
    CAPTURE(round);
    const LaunchPolicy policy = random.policy();
    const LaunchRequest request = random.request();
    if (!decide(policy, request)) {
      continue;
    }
    const Launch launch(policy, request);
    REQUIRE(incomplete_field(launch.topology).has_value() ==
            (launch.decision.effective.frontier_density_bps > 10'000));
    REQUIRE(incomplete_field(launch.promotion).has_value() ==
            (policy.jit_queue_len_threshold == 0 || policy.hot_opcode_threshold == 0 ||
             policy.hot_window_threshold == 0));
  }
}

} // namespace
} // namespace tidegate::policy
