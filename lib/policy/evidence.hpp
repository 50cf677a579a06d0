// Evidence: the values that a launch reports in addition to its recommendation so that a later reader can
// check the choice. It repeats the inputs of the rules under their names in the request and the policy.
#pragma once
#include <tidegate/policy/launch_request.hpp>

namespace tidegate::policy {

inline constexpr std::uint32_t evidence_schema_version = 1;

enum class GraphblasSwitchClass : std::uint8_t { empty, sparse, hybrid, dense, memory_constrained };
inline constexpr std::array<std::string_view, 5> graphblas_switch_class_names{"empty", "sparse", "hybrid",
                                                                              "dense", "memory_constrained"};

enum class PromotionRoute : std::uint8_t {
  interpreter,
  queue_jit,
  opcode_jit,
  window_jit,
  opcode_and_window_jit
};
inline constexpr std::array<std::string_view, 5> promotion_route_names{
    "interpreter", "queue_jit", "opcode_jit", "window_jit", "opcode_and_window_jit"};

GraphblasSwitchClass switch_class(Topology topology);
PromotionRoute promotion_route(const LaunchRecommendation& recommendation);

struct TopologyEvidence {
  std::uint32_t schema_version = evidence_schema_version;
  QueuePressure queue_pressure = QueuePressure::empty;
  std::uint16_t frontier_density_bps = 0;
  std::uint16_t semiring_frontier_density_bps = 0;
  Topology selected_topology = Topology::empty;
  GraphblasSwitchClass graphblas_switch_class = GraphblasSwitchClass::empty;
  std::uint64_t resident_device_bytes = 0;
  std::uint64_t estimated_peak_device_bytes = 0;
  bool output_parity_required = true;

  friend bool operator==(const TopologyEvidence&, const TopologyEvidence&) = default;
};

struct PromotionEvidence {
  std::uint32_t schema_version = evidence_schema_version;
  std::uint32_t queue_len = 0;
  std::uint32_t jit_queue_len_threshold = 0;
  std::uint32_t hot_opcode_count = 0;
  std::uint32_t hot_opcode_threshold = 0;
  std::uint32_t hot_window_count = 0;
  std::uint32_t hot_window_threshold = 0;
  ExecutionMode execution_mode = ExecutionMode::interpreter;
  bool promote_hot_opcodes = false;
  bool promote_hot_windows = false;
  PromotionRoute promotion_route = PromotionRoute::interpreter;
  bool fused_descriptor_window_required = false;
  bool output_parity_required = true;

  friend bool operator==(const PromotionEvidence&, const PromotionEvidence&) = default;
};

// `effective` is the request with inferred signals (infer_missing_signals), `recommendation` its answer.
TopologyEvidence topology_evidence(const LaunchRequest& effective,
                                   const LaunchRecommendation& recommendation);
PromotionEvidence promotion_evidence(const LaunchPolicy& policy, const LaunchRequest& effective,
                                     const LaunchRecommendation& recommendation);

// Returns the field that makes the evidence incomplete, or nothing if it is complete.
std::optional<std::string_view> incomplete_field(const TopologyEvidence& evidence);
std::optional<std::string_view> incomplete_field(const PromotionEvidence& evidence);

// Returns the evidence field that contradicts its recommendation, or nothing.
std::optional<std::string_view> contradicted_field(const TopologyEvidence& evidence,
                                                   const LaunchRecommendation& recommendation);
// `by_thresholds`: the policy decided, and no option of a run.
std::optional<std::string_view> contradicted_field(const PromotionEvidence& evidence,
                                                   const LaunchRecommendation& recommendation,
                                                   bool by_thresholds = true);

} // namespace tidegate::policy
