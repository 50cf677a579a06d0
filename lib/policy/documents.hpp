// Launch requests, policies and recommendations as documents.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>
#include <tidegate/policy/launch_policy.hpp>
#include <tidegate/policy/priority.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tidegate::documents {

struct LaunchRequestDocument {
  policy::LaunchRequest request; // its 17 fields are flat in the document
  std::optional<policy::Topology> previous_topology;
  policy::LaunchPolicy policy;
};

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
  std::optional<std::vector<policy::TraceStep>> explanation;
  std::optional<std::string> device; // source of the adapter limits
};

template <>
inline constexpr Names Choices<policy::Topology>::names = policy::topology_names;
template <>
inline constexpr Names Choices<policy::QueuePressure>::names = policy::queue_pressure_names;
template <>
inline constexpr Names Choices<policy::ExecutionMode>::names = policy::execution_mode_names;
template <>
inline constexpr Names Choices<policy::GraphblasSwitchClass>::names = policy::graphblas_switch_class_names;
template <>
inline constexpr Names Choices<policy::PromotionRoute>::names = policy::promotion_route_names;

template <>
const Record Description<policy::SizingPolicy>::record;
template <>
const Record Description<policy::LaunchPolicy>::record;
template <>
const Record Description<policy::LaunchRecommendation>::record;
template <>
const Record Description<policy::TopologyEvidence>::record;
template <>
const Record Description<Evidence>::record;

template <>
const Document DocumentOf<LaunchRequestDocument>::document;
template <>
const Document DocumentOf<policy::LaunchPolicy>::document;
template <>
const Document DocumentOf<LaunchRecommendationDocument>::document;

// The fields of the launch policy, for its own document and for documents that add fields to it. `Outer` are
// the members that lead to the policy.
template <auto... Outer>
constexpr auto launch_policy_fields() {
  using policy::LaunchPolicy;
  return std::to_array<Field>({
      defaulted<Outer..., &LaunchPolicy::min_hit_capacity>("min_hit_capacity",
                                                           "smallest derived hit capacity"),
      defaulted<Outer..., &LaunchPolicy::hit_capacity_multiplier>(
          "hit_capacity_multiplier", "room per expected hit; 1 under memory pressure"),
      defaulted<Outer..., &LaunchPolicy::saturated_waves>(
          "saturated_waves", "waves over all lanes from which a queue is saturated"),
      defaulted<Outer..., &LaunchPolicy::hot_opcode_threshold>("hot_opcode_threshold",
                                                               "hot opcodes from which they are promoted"),
      defaulted<Outer..., &LaunchPolicy::hot_window_threshold>("hot_window_threshold",
                                                               "hot windows from which they are promoted"),
      defaulted<Outer..., &LaunchPolicy::jit_queue_len_threshold>(
          "jit_queue_len_threshold", "queue length from which a kernel is compiled for the launch"),
      defaulted<Outer..., &LaunchPolicy::priority_age_threshold>(
          "priority_age_threshold", "ticks of waiting from which priorities age"),
      defaulted<Outer..., &LaunchPolicy::sparse_frontier_threshold_bps>(
          "sparse_frontier_threshold_bps", "frontier density up to which a frontier is sparse"),
      defaulted<Outer..., &LaunchPolicy::dense_frontier_threshold_bps>(
          "dense_frontier_threshold_bps", "frontier density from which a frontier is dense"),
      defaulted<Outer..., &LaunchPolicy::memory_pressure_threshold_bps>(
          "memory_pressure_threshold_bps", "memory pressure from which a launch is memory constrained"),
      defaulted<Outer..., &LaunchPolicy::fusion_edge_threshold>(
          "fusion_edge_threshold", "edges from which a hot dense frontier is fused"),
      defaulted<Outer..., &LaunchPolicy::scratch_bytes_per_hit>("scratch_bytes_per_hit",
                                                                "device scratch of one hit"),
      defaulted<Outer..., &LaunchPolicy::sizing>("sizing", "derivation of worker groups from adapter limits"),
  });
}

// Documents: requeue accounting, drain recommendations, diffused priorities.

struct SiblingDiffusion {
  std::vector<double> priority_stalks;
  std::vector<double> restriction_diag;
  double damping = 0;
  std::uint32_t iterations = 0;
};

struct DiffusedPriorities {
  std::vector<double> output;
  std::optional<std::vector<Diagnostic>> diagnostics;
};

template <>
inline constexpr Names Choices<policy::DrainReason>::names = policy::drain_reason_names;

template <>
const Record Description<policy::DrainRecommendation>::record;

template <>
const Document DocumentOf<policy::RequeueAccounting>::document;
template <>
const Document DocumentOf<policy::DrainRecommendation>::document;
template <>
const Document DocumentOf<SiblingDiffusion>::document;
template <>
const Document DocumentOf<DiffusedPriorities>::document;

// Documents: measured costs, natural-gradient steps and their results.

struct MeasuredCosts {
  std::vector<std::uint32_t> candidates;
  std::vector<NumberOrNull> costs;
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

template <>
const Document DocumentOf<MeasuredCosts>::document;
template <>
const Document DocumentOf<TuningChoice>::document;
template <>
const Document DocumentOf<NaturalGradient>::document;
template <>
const Document DocumentOf<NaturalGradientStep>::document;

} // namespace tidegate::documents
