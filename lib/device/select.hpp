// Which device a person means.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <string_view>

namespace tidegate::device {

// The device that `selector` names: an index, "cpu" or "gpu" (the first of that type), a UUID, a whole name
// or a part of one, in any case. An empty selector takes the first GPU, or else the first device. no_device
// when there is none such, ambiguous_device when a part of a name fits several; both list what there is.
Result<const DeviceInfo*> select_device(const DeviceList& list, std::string_view selector);

} // namespace tidegate::device
