// What a program needs of a device beside memory: images, images to read and write at once, sub-groups.
#pragma once
#include "engine/schedule.hpp"
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <string_view>

namespace tidegate::engine {

// The extension that a sub-group function belongs to: cl_khr_subgroup_shuffle for sub_group_shuffle_xor.
std::string_view sub_group_extension(std::string_view function);

// NVIDIA's, by what the self-test found: PTX can stand in kernels, so that they have named barriers and a
// clock.
bool takes_ptx(const device::DeviceInfo& device);

// unsupported_kernel, with the place in the program that asks for it. `device` may be null: then nothing is
// known.
Result<void> check_features(const ResolvedProgram& program, const OutlinedOps& ops,
                            const device::DeviceInfo* device);

} // namespace tidegate::engine
