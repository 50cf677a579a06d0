// The OpenCL loader of this machine, opened when it is first needed.
#pragma once
#include <tidegate/core/error.hpp>

#include <string>

namespace tidegate::device {

// "NAME VERSION (OpenCL X.Y)" of the loader, its file name when it does not say more, or "none".
std::string loader_version();

// Opens the loader. From then on the functions of opencl.hpp work; before, and without a loader, they fail
// with an error of what they are given. no_opencl.
Result<void> load_opencl();

} // namespace tidegate::device
