// The OpenCL C sources under kernels/, embedded when the library is built.
#pragma once

#include <string_view>

namespace tidegate::device {

std::string_view self_test_source(); // kernels/self_test.cl

} // namespace tidegate::device
