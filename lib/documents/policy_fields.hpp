// The fields of the launch policy, in the document of its own and in others that have more fields beside
// them.
#pragma once

#include <tidegate/documents/launch_documents.hpp>

#include <array>

namespace tidegate::documents {

// `Outer` are the members that lead to the policy.
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
      defaulted<Outer..., &LaunchPolicy::sizing>("sizing",
                                                 "how worker groups are derived from adapter limits"),
  });
}

} // namespace tidegate::documents
