// What the run of a frontier program tells, as a document.
#pragma once

#include <tidegate/documents/describe.hpp>
#include <tidegate/documents/graph_documents.hpp>
#include <tidegate/documents/run_documents.hpp>
#include <tidegate/traversal/report.hpp>

namespace tidegate::documents {

inline constexpr std::array<std::string_view, 3> weight_type_names{"none", "u32", "f32"};

template <>
struct Choices<graphs::WeightType> {
  static constexpr std::span<const std::string_view> names = weight_type_names;
};
template <>
struct Choices<policy::TopologyRule> {
  static constexpr std::span<const std::string_view> names = policy::topology_rule_names;
};
template <>
struct Choices<traversal::Trend> {
  static constexpr std::span<const std::string_view> names = traversal::trend_names;
};

template <>
struct DocumentOf<traversal::FrontierReport> {
  static const Document document;
};

} // namespace tidegate::documents
