// Launch requests, policies and recommendations as documents.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/policy/evidence.hpp>
#include <tidegate/policy/explain.hpp>
#include <tidegate/policy/launch_policy.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tidegate::documents {

struct LaunchRequestDocument {
  policy::LaunchRequest request; // its 17 fields lie flat in the document
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
  std::optional<std::string> device; // that the adapter limits come from
};

template <>
struct Choices<policy::Topology> {
  static constexpr std::span<const std::string_view> names = policy::topology_names;
};
template <>
struct Choices<policy::QueuePressure> {
  static constexpr std::span<const std::string_view> names = policy::queue_pressure_names;
};
template <>
struct Choices<policy::ExecutionMode> {
  static constexpr std::span<const std::string_view> names = policy::execution_mode_names;
};
template <>
struct Choices<policy::GraphblasSwitchClass> {
  static constexpr std::span<const std::string_view> names = policy::graphblas_switch_class_names;
};
template <>
struct Choices<policy::PromotionRoute> {
  static constexpr std::span<const std::string_view> names = policy::promotion_route_names;
};

template <>
struct Description<policy::SizingPolicy> {
  static const Record record;
};
template <>
struct Description<policy::LaunchPolicy> {
  static const Record record;
};
template <>
struct Description<policy::LaunchRecommendation> {
  static const Record record;
};
template <>
struct Description<policy::TopologyEvidence> {
  static const Record record;
};
template <>
struct Description<Evidence> {
  static const Record record;
};

template <>
struct DocumentOf<LaunchRequestDocument> {
  static const Document document;
};
template <>
struct DocumentOf<policy::LaunchPolicy> {
  static const Document document;
};
template <>
struct DocumentOf<LaunchRecommendationDocument> {
  static const Document document;
};

} // namespace tidegate::documents
