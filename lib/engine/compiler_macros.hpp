// What a device's compiler predefines: asked with a small program that quotes each macro in question and
// whose one kernel hands the text back. Answers are kept in the cache folder by device, driver and compiler
// options.
#pragma once
#include "work/macro_answers.hpp"
#include <tidegate/core/error.hpp>
#include <tidegate/device/device_list.hpp>

#include <filesystem>

namespace tidegate::engine {

// Asks the device. `cache_folder` may be empty: then nothing is kept. The errors are opencl_failure and
// build_failure.
AnswerMacros ask_compiler(const device::DeviceInfo& device, std::filesystem::path cache_folder);

} // namespace tidegate::engine
