// The self-test of a device: which memory ordering makes data written by one work-group visible to another of
// the same launch, how many work-groups are resident together, and what barriers, launches and claims cost.
// A persistent launch happens only where one passed.
//
// Nothing here trusts what a driver says of itself: orderings are proved by a litmus test with as many groups
// as are resident, and the number of those is discovered.
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::device {

// Runs the self-test on a device of list_devices(). Takes about a second, or as long as the driver needs
// to compile a few small programs; where waits run out, some seconds for each. opencl_failure when the driver
// refuses what every driver can do; an ordering that fails is a result and no error.
Result<DeviceProfile> probe(const DeviceInfo& device);

} // namespace tidegate::device
