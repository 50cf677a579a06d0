// Descriptions of the documents about devices.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/device/device_list.hpp>

namespace tidegate::documents {

template <>
struct Choices<device::DeviceType> {
  static constexpr std::span<const std::string_view> names = device::device_type_names;
};

template <>
struct Choices<device::Ordering> {
  static constexpr std::span<const std::string_view> names = device::ordering_names;
};
template <>
struct Choices<device::PreferredStrategy> {
  static constexpr std::span<const std::string_view> names = device::preferred_strategy_names;
};
template <>
struct Choices<device::PreferredOrder> {
  static constexpr std::span<const std::string_view> names = device::preferred_order_names;
};
template <>
struct Choices<device::TrialVerdict> {
  static constexpr std::span<const std::string_view> names = device::trial_verdict_names;
};

template <>
struct Choices<device::TraversalStrategy> {
  static constexpr std::span<const std::string_view> names = device::traversal_strategy_names;
};

template <>
struct Choices<policy::SwitchRule> {
  static constexpr std::span<const std::string_view> names = policy::switch_rule_names;
};
template <>
struct Description<device::CostParts> {
  static const Record record;
};
template <>
struct Description<device::DeviceProfile> {
  static const Record record;
};

template <>
struct DocumentOf<device::DeviceProfile> {
  static const Document document;
};
template <>
struct DocumentOf<device::DeviceList> {
  static const Document document;
};

} // namespace tidegate::documents
