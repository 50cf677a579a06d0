// Checks a job before it is compiled: for what a device cannot do, and for likely mistakes.
#pragma once
#include "engine/job.hpp"
#include "engine/outlined_ops.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

namespace tidegate::engine {

// Returns the error for waves that need more local memory than the device has.
Error too_much_local_memory(std::uint64_t bytes, const device::DeviceInfo& device);

// Returns out_of_range for work-groups and local arguments that the device cannot have. Checks nothing if `device` is
// null.
Result<void> check_device_limits(const Job& program, const device::DeviceInfo* device);

// Returns the extension of a sub-group function: cl_khr_subgroup_shuffle for sub_group_shuffle_xor.
std::string_view sub_group_extension(std::string_view function);

// Returns unsupported_kernel with the location that needs a missing feature. Checks nothing if `device` is
// null.
Result<void> check_features(const Job& program, const OutlinedOps& ops, const device::DeviceInfo* device);

// Warns of waves that access the same buffer in an order that the listed dependencies leave open, of
// transient buffers that are read before any wave can write them, and of programs without a result. Accesses
// follow from the kernels' signatures; a stated "access" overrides them. The dependencies must be acyclic.
std::vector<Warning> find_hazards(const Job& program);

} // namespace tidegate::engine
