// Device features that a program needs: images, read-write images, sub-groups.
#pragma once
#include "engine/job.hpp"
#include "engine/schedule.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <string_view>

namespace tidegate::engine {

// Returns the extension of a sub-group function: cl_khr_subgroup_shuffle for sub_group_shuffle_xor.
std::string_view sub_group_extension(std::string_view function);

// Returns true if the self-test proved that kernels can contain PTX (NVIDIA), and so have named barriers and
// a clock.
bool takes_ptx(const device::DeviceInfo& device);

// Returns unsupported_kernel with the location that needs a missing feature. Checks nothing if `device` is
// null.
Result<void> check_features(const Job& program, const OutlinedOps& ops, const device::DeviceInfo* device);

} // namespace tidegate::engine
