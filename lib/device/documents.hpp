// Descriptions of the documents about devices.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/device/device_list.hpp>

namespace tidegate::documents {

template <>
inline constexpr Names Choices<device::DeviceType>::names = device::device_type_names;

template <>
inline constexpr Names Choices<device::MemoryOrdering>::names = device::ordering_names;
template <>
inline constexpr Names Choices<device::PreferredStrategy>::names = device::preferred_strategy_names;
template <>
inline constexpr Names Choices<device::PreferredMapping>::names = device::preferred_mapping_names;
template <>
inline constexpr Names Choices<device::TrialVerdict>::names = device::trial_verdict_names;

template <>
inline constexpr Names Choices<device::TraversalStrategy>::names = device::traversal_strategy_names;

template <>
inline constexpr Names Choices<policy::SwitchRule>::names = policy::switch_rule_names;
template <>
const Record Description<device::CostParts>::record;
template <>
const Record Description<device::DeviceProfile>::record;

template <>
const Document DocumentOf<device::DeviceProfile>::document;
template <>
const Document DocumentOf<device::DeviceList>::document;

} // namespace tidegate::documents
