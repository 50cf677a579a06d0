// The OpenCL C sources under kernels/, embedded when the library is built.
#pragma once
#include "core/prelude.hpp"

namespace tidegate::device {

// Returns kernels/`file` ("wave/persistent.cl") with its #include lines expanded; #line directives make build
// logs name the real files and lines. `file` must exist.
std::string kernel_source(std::string_view file);

// Returns the text of kernels/`file` as it is. `file` must exist.
std::string_view kernel_file(std::string_view file);

// Returns `source` after a #line directive that names it as a file under kernels/.
std::string with_place(std::string_view file, std::string_view source);

} // namespace tidegate::device
