// The OpenCL C sources under kernels/, embedded when the library is built.
#pragma once
#include <string>
#include <string_view>

namespace tidegate::device {

// The file kernels/`file` ("wave/persistent.cl") with the files that it includes in place of its #include lines. #line
// directives make build logs name the real files and lines. `file` must exist.
std::string kernel_source(std::string_view file);

// `source` after a #line directive that names it as a file under kernels/.
std::string with_place(std::string_view file, std::string_view source);

} // namespace tidegate::device
