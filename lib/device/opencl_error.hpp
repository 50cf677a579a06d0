// OpenCL's error codes by name.
#pragma once

#include <tidegate/core/error.hpp>

#include <string>
#include <string_view>

namespace tidegate::device {

// "CL_OUT_OF_RESOURCES" for -5; "error -9999" for a code that the standard does not name.
std::string opencl_error_name(int code);

// Whether it says that the device or this machine has no memory, or no other resource, left.
bool is_lack_of_memory(int code);

// opencl_failure: `what` failed with this code.
Error opencl_failure(std::string_view what, int code);

} // namespace tidegate::device
