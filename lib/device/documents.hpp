// Descriptions of the documents about devices.
#pragma once
#include <tidegate/core/describe.hpp>
#include <tidegate/device/device_list.hpp>

namespace tidegate::documents {

TIDEGATE_CHOICES(device::DeviceType, device::device_type_names);

TIDEGATE_CHOICES(device::MemoryOrdering, device::ordering_names);
TIDEGATE_CHOICES(device::Strategy, device::strategy_names);
TIDEGATE_CHOICES(device::TileMapping, device::tile_mapping_names);
TIDEGATE_CHOICES(device::TrialVerdict, device::trial_verdict_names);

TIDEGATE_CHOICES(policy::SwitchRule, policy::switch_rule_names);
TIDEGATE_HAS_RECORD(device::CostParts);
TIDEGATE_HAS_RECORD(device::DeviceProfile);

TIDEGATE_HAS_DOCUMENT(device::DeviceProfile);
TIDEGATE_HAS_DOCUMENT(device::DeviceList);

} // namespace tidegate::documents
