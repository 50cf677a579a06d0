// Launch requests, policies and recommendations as documents.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/policy/priority.hpp>

namespace tidegate::documents {

using LaunchRequestDocument = policy::LaunchQuestion; // the 17 fields of its request are flat in the document

struct EvidenceComplete {
  std::optional<bool> topology;
  std::optional<bool> promotion;
};

struct Evidence {
  std::optional<policy::TopologyEvidence> topology;
  std::optional<policy::PromotionEvidence> promotion;
  EvidenceComplete complete;
};

struct LaunchRecommendationDocument {
  policy::LaunchRecommendation recommendation;
  std::optional<Evidence> evidence;
  std::optional<std::vector<policy::ExplanationStep>> explanation;
  std::optional<std::string> device; // source of the adapter limits
};

TIDEGATE_CHOICES(policy::Topology, policy::topology_names);
TIDEGATE_CHOICES(policy::TopologyRule, policy::topology_rule_names);
TIDEGATE_CHOICES(policy::QueuePressure, policy::queue_pressure_names);
TIDEGATE_CHOICES(policy::ExecutionMode, policy::execution_mode_names);
TIDEGATE_CHOICES(policy::GraphblasSwitchClass, policy::graphblas_switch_class_names);
TIDEGATE_CHOICES(policy::PromotionRoute, policy::promotion_route_names);

TIDEGATE_HAS_RECORD(policy::SizingPolicy);
TIDEGATE_HAS_RECORD(policy::LaunchPolicy);
TIDEGATE_HAS_RECORD(policy::LaunchRecommendation);
TIDEGATE_HAS_RECORD(policy::TopologyEvidence);
TIDEGATE_HAS_RECORD(policy::PromotionEvidence);
TIDEGATE_HAS_RECORD(Evidence);

TIDEGATE_HAS_DOCUMENT(LaunchRequestDocument);
TIDEGATE_HAS_DOCUMENT(policy::LaunchPolicy);
TIDEGATE_HAS_DOCUMENT(LaunchRecommendationDocument);

// The fields of the launch policy, for its own document and for documents that add fields to it. `Outer` are
// the members that lead to the policy.
template <auto... Outer>
constexpr auto launch_policy_fields() {
  using policy::LaunchPolicy;
  return std::to_array<Field>({
      defaulted<Outer..., &LaunchPolicy::min_hit_capacity>("smallest derived hit capacity"),
      defaulted<Outer..., &LaunchPolicy::hit_capacity_multiplier>(
          "room per expected hit; 1 under memory pressure"),
      defaulted<Outer..., &LaunchPolicy::saturated_waves>(
          "waves over all lanes from which a queue is saturated"),
      defaulted<Outer..., &LaunchPolicy::hot_opcode_threshold>("hot opcodes from which they are promoted"),
      defaulted<Outer..., &LaunchPolicy::hot_window_threshold>("hot windows from which they are promoted"),
      defaulted<Outer..., &LaunchPolicy::jit_queue_len_threshold>(
          "queue length from which a kernel is compiled for the launch"),
      defaulted<Outer..., &LaunchPolicy::priority_age_threshold>(
          "ticks of waiting from which priorities age"),
      defaulted<Outer..., &LaunchPolicy::sparse_frontier_threshold_bps>(
          "frontier density up to which a frontier is sparse"),
      defaulted<Outer..., &LaunchPolicy::dense_frontier_threshold_bps>(
          "frontier density from which a frontier is dense"),
      defaulted<Outer..., &LaunchPolicy::memory_pressure_threshold_bps>(
          "memory pressure from which a launch is memory constrained"),
      defaulted<Outer..., &LaunchPolicy::fusion_edge_threshold>(
          "edges from which a hot dense frontier is fused"),
      defaulted<Outer..., &LaunchPolicy::scratch_bytes_per_hit>("device scratch of one hit"),
      defaulted<Outer..., &LaunchPolicy::sizing>("derivation of worker groups from adapter limits"),
  });
}

// Documents: requeue accounting, drain recommendations, diffused priorities.

struct SiblingDiffusion {
  std::vector<double> priority_stalks;
  std::vector<double> restriction_diag;
  double damping = 0;
  std::uint32_t iterations = 0;
};

// JSON has no infinities and no NaN: they are null, and a diagnostic has the value.
struct Diagnostic {
  std::string code;    // "non_finite"
  std::string pointer; // RFC 6901, into the same document
  std::string message;
};

// Returns one diagnostic per non-finite value, or nothing if all are finite. `pointer` is that of the list.
std::optional<std::vector<Diagnostic>> non_finite_diagnostics(std::string_view pointer,
                                                              std::span<const double> values);

struct DiffusedPriorities {
  std::vector<double> output;
  std::optional<std::vector<Diagnostic>> diagnostics;
};

TIDEGATE_CHOICES(policy::DrainReason, policy::drain_reason_names);

TIDEGATE_HAS_RECORD(policy::DrainRecommendation);
TIDEGATE_HAS_RECORD(Diagnostic);

TIDEGATE_HAS_DOCUMENT(policy::RequeueAccounting);
TIDEGATE_HAS_DOCUMENT(policy::DrainRecommendation);
TIDEGATE_HAS_DOCUMENT(SiblingDiffusion);
TIDEGATE_HAS_DOCUMENT(DiffusedPriorities);

// Documents: measured costs, natural-gradient steps and their results.

struct MeasuredCosts {
  std::vector<std::uint32_t> candidates;
  std::vector<double> costs; // NaN: none
  std::optional<std::uint32_t> current;
};

struct TuningChoice {
  std::uint32_t value = 0;
};

struct NaturalGradient {
  std::vector<double> m_inv_sqrt; // row-major
  std::vector<double> grad;
  std::uint32_t n = 0;
  double learning_rate = 0;
};

struct NaturalGradientStep {
  std::vector<double> output;
  std::optional<std::vector<Diagnostic>> diagnostics;
};

TIDEGATE_HAS_DOCUMENT(MeasuredCosts);
TIDEGATE_HAS_DOCUMENT(TuningChoice);
TIDEGATE_HAS_DOCUMENT(NaturalGradient);
TIDEGATE_HAS_DOCUMENT(NaturalGradientStep);

} // namespace tidegate::documents
