// What a device's compiler predefines: asked with a small program that quotes each macro in question and
// whose one kernel hands the text back. Answers are kept in the cache folder by device, driver and compiler
// options.
#pragma once

#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>
#include <tidegate/opencl_c/compiler_options.hpp>
#include <tidegate/opencl_c/predefined_macros.hpp>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tidegate::run {

// Answers all that is unknown in `macros`, for a compiler with these options: afterwards nothing is.
using AnswerMacros =
    std::function<Result<void>(const opencl_c::CompilerOptions& options, opencl_c::PredefinedMacros& macros)>;

// Asks the device. `cache_folder` may be empty: then nothing is kept. The errors are opencl_failure and
// build_failure.
AnswerMacros ask_compiler(const device::DeviceInfo& device, std::filesystem::path cache_folder);

// For planning without a device: what every compiler of OpenCL C 3.0 defines, with doubles and without
// images; other names are taken to be not defined. Names that were asked for are added to `assumed`, which
// must outlive it.
AnswerMacros assume_macros(std::set<std::string>& assumed);

} // namespace tidegate::run
