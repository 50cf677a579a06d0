// The self-test of a device. It finds a memory ordering that makes writes of one work-group visible to others
// of the same launch, the number of work-groups that run concurrently, and the cost of barriers, launches and
// claims. Persistent launches need an ordering that passed.
//
// The test does not rely on what drivers report: a litmus test with all resident groups proves each ordering,
// and the number of resident groups is discovered (on a CPU it is the number of compute units).
#pragma once
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/device/profile.hpp>

namespace tidegate::device {

// Runs the self-test on a device of list_devices(). Takes about a second, plus the time the driver needs to
// compile several small programs; each wait that times out adds some seconds. Returns opencl_failure if the
// driver refuses a basic operation; an ordering that fails is a result, not an error.
Result<DeviceProfile> probe(const DeviceInfo& device);

} // namespace tidegate::device
