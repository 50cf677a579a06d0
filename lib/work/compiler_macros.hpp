// Predefined macros of a device's compiler: asked from the device, or assumed where there is none.
//
// A small program quotes each macro, and its kernel returns the text. The answers are cached by device, driver and
// compiler options.
#pragma once
#include "opencl_c/preprocessor.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

namespace tidegate::engine {

// Answers all unknown names and conditions of `macros`, for a compiler with these options.
using AnswerMacros =
    std::function<Result<void>(const opencl_c::CompilerOptions& options, opencl_c::PredefinedMacros& macros)>;

// Asks the device; an empty `cache_folder` disables the cache. Errors: opencl_failure, build_failure.
AnswerMacros ask_compiler(const device::DeviceInfo& device, std::filesystem::path cache_folder);

// For planning without a device: assumes the macros of every OpenCL C 3.0 compiler with doubles and without
// images, all other names undefined, and clang's results for conditions. Adds each answered name and
// condition to `assumed`, which must outlive the result.
AnswerMacros assume_macros(std::set<std::string>& assumed);

} // namespace tidegate::engine
