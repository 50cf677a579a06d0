// The structs of the policy library in the format of the golden vectors: read_*() from JSON, to_json() back.
#pragma once

#include "policy/sizing.hpp"
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/launch_policy.hpp>
#include <tidegate/policy/priority.hpp>
#include <tidegate/policy/recommendation_cache.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace tidegate::policy::test {

using Json = nlohmann::json;

template <class T>
void read(const Json& object, const char* key, T& value) {
  const Json& number = object.at(key);
  REQUIRE_MESSAGE(number.is_number_unsigned(), key);
  const auto wide = number.get<std::uint64_t>();
  value = static_cast<T>(wide);
  REQUIRE_MESSAGE(value == wide, key);
}

template <class T = std::uint32_t>
T read(const Json& object, const char* key) {
  T value = 0;
  read(object, key, value);
  return value;
}

inline LaunchRequest read_request(const Json& object) {
  LaunchRequest request;
  read(object, "queue_len", request.queue_len);
  read(object, "requested_worker_groups", request.requested_worker_groups);
  read(object, "max_workgroup_size_x", request.max_workgroup_size_x);
  read(object, "max_compute_workgroups_per_dimension", request.max_compute_workgroups_per_dimension);
  read(object, "max_compute_invocations_per_workgroup", request.max_compute_invocations_per_workgroup);
  read(object, "requested_hit_capacity", request.requested_hit_capacity);
  read(object, "expected_hits_per_item", request.expected_hits_per_item);
  read(object, "hot_opcode_count", request.hot_opcode_count);
  read(object, "hot_window_count", request.hot_window_count);
  read(object, "requeue_count", request.requeue_count);
  read(object, "max_priority_age", request.max_priority_age);
  read(object, "graph_node_count", request.graph_node_count);
  read(object, "graph_edge_count", request.graph_edge_count);
  read(object, "frontier_density_bps", request.frontier_density_bps);
  read(object, "memory_pressure_bps", request.memory_pressure_bps);
  read(object, "resident_device_bytes", request.resident_device_bytes);
  read(object, "device_memory_budget_bytes", request.device_memory_budget_bytes);
  return request;
}

inline LaunchPolicy read_policy(const Json& object) {
  LaunchPolicy policy;
  if (object.is_null()) {
    return policy;
  }
  read(object, "min_hit_capacity", policy.min_hit_capacity);
  read(object, "hit_capacity_multiplier", policy.hit_capacity_multiplier);
  read(object, "saturated_waves", policy.saturated_waves);
  read(object, "hot_opcode_threshold", policy.hot_opcode_threshold);
  read(object, "hot_window_threshold", policy.hot_window_threshold);
  read(object, "jit_queue_len_threshold", policy.jit_queue_len_threshold);
  read(object, "priority_age_threshold", policy.priority_age_threshold);
  read(object, "sparse_frontier_threshold_bps", policy.sparse_frontier_threshold_bps);
  read(object, "dense_frontier_threshold_bps", policy.dense_frontier_threshold_bps);
  read(object, "memory_pressure_threshold_bps", policy.memory_pressure_threshold_bps);
  read(object, "fusion_edge_threshold", policy.fusion_edge_threshold);
  read(object, "scratch_bytes_per_hit", policy.scratch_bytes_per_hit);
  return policy;
}

inline std::optional<Topology> read_topology(const Json& value) {
  if (value.is_null()) {
    return {};
  }
  const auto* const found = std::find(topology_names.begin(), topology_names.end(), value.get<std::string>());
  REQUIRE(found != topology_names.end());
  return static_cast<Topology>(found - topology_names.begin());
}

inline RequeueAccounting read_accounting(const Json& object) {
  RequeueAccounting accounting;
  read(object, "requeue_count", accounting.requeue_count);
  read(object, "aged_promotions", accounting.aged_promotions);
  read(object, "max_priority_age", accounting.max_priority_age);
  return accounting;
}

template <class Names, class Value>
std::string name_in(const Names& names, Value value) {
  return std::string(names.at(static_cast<std::size_t>(value)));
}

inline Json to_json(const Error& error) {
  if (error.code == ErrorCode::device_out_of_memory) {
    return {{"code", name(error.code)}, {"requested", *error.requested}, {"available", *error.available}};
  }
  return {{"code", name(error.code)}, {"field", *error.field}};
}

inline Json to_json(const LaunchGeometry& geometry) {
  return {{"workgroup_size_x", geometry.workgroup_size_x},
          {"slot_count", geometry.slot_count},
          {"dispatch_grid", geometry.dispatch_grid}};
}

inline Json to_json(const Grid& grid) {
  return {{"geometry", to_json(grid.geometry)}, {"worker_groups", grid.worker_groups}};
}

inline Json to_json(const LaunchRecommendation& made) {
  return {{"geometry", to_json(made.geometry)},
          {"worker_groups", made.worker_groups},
          {"hit_capacity", made.hit_capacity},
          {"pressure", name(made.pressure)},
          {"execution_mode", name(made.execution_mode)},
          {"topology", name(made.topology)},
          {"promote_hot_opcodes", made.promote_hot_opcodes},
          {"promote_hot_windows", made.promote_hot_windows},
          {"age_priority_work", made.age_priority_work},
          {"estimated_peak_device_bytes", made.estimated_peak_device_bytes},
          {"device_memory_budget_bytes", made.device_memory_budget_bytes}};
}

inline Json to_json(const TopologyEvidence& evidence) {
  return {{"schema_version", evidence.schema_version},
          {"queue_pressure", name(evidence.queue_pressure)},
          {"frontier_density_bps", evidence.frontier_density_bps},
          {"semiring_frontier_density_bps", evidence.semiring_frontier_density_bps},
          {"selected_topology", name(evidence.selected_topology)},
          {"graphblas_switch_class", name_in(graphblas_switch_class_names, evidence.graphblas_switch_class)},
          {"resident_device_bytes", evidence.resident_device_bytes},
          {"estimated_peak_device_bytes", evidence.estimated_peak_device_bytes},
          {"output_parity_required", evidence.output_parity_required}};
}

inline Json to_json(const PromotionEvidence& evidence) {
  return {{"schema_version", evidence.schema_version},
          {"queue_len", evidence.queue_len},
          {"jit_queue_len_threshold", evidence.jit_queue_len_threshold},
          {"hot_opcode_count", evidence.hot_opcode_count},
          {"hot_opcode_threshold", evidence.hot_opcode_threshold},
          {"hot_window_count", evidence.hot_window_count},
          {"hot_window_threshold", evidence.hot_window_threshold},
          {"execution_mode", name(evidence.execution_mode)},
          {"promote_hot_opcodes", evidence.promote_hot_opcodes},
          {"promote_hot_windows", evidence.promote_hot_windows},
          {"promotion_route", name_in(promotion_route_names, evidence.promotion_route)},
          {"fused_descriptor_window_required", evidence.fused_descriptor_window_required},
          {"output_parity_required", evidence.output_parity_required}};
}

inline Json to_json(const RequeueAccounting& accounting) {
  return {{"requeue_count", accounting.requeue_count},
          {"aged_promotions", accounting.aged_promotions},
          {"max_priority_age", accounting.max_priority_age}};
}

inline Json to_json(const CacheStatistics& statistics) {
  return {{"entries", statistics.entries}, {"hits", statistics.hits}, {"misses", statistics.misses}};
}

} // namespace tidegate::policy::test
