// Predefined macros of a device's compiler. A small program quotes each macro, and its kernel returns the
// text. The answers are cached by device, driver and compiler options.
#pragma once
#include "work/resolved_program.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <filesystem>

namespace tidegate::engine {

// Asks the device; an empty `cache_folder` disables the cache. Errors: opencl_failure, build_failure.
AnswerMacros ask_compiler(const device::DeviceInfo& device, std::filesystem::path cache_folder);

} // namespace tidegate::engine
