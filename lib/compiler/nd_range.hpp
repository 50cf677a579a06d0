// The NDRange of a wave, from what its program says.
#pragma once

#include <tidegate/compiler/program.hpp>
#include <tidegate/compiler/resolved_program.hpp>
#include <tidegate/core/error.hpp>
#include <tidegate/opencl_c/translation_unit.hpp>

#include <cstdint>
#include <string>

namespace tidegate::compiler {

// A local size that is left out is the kernel's reqd_work_group_size, or else the largest divisor of the
// global size up to `open_size` in x and 1 in the other dimensions. invalid_program, out_of_range and
// unsupported_kernel, with the place behind `pointer`.
Result<NdRange> nd_range(const WaveSpec& spec, const opencl_c::Function& kernel, const std::string& pointer,
                         std::uint32_t open_size);

} // namespace tidegate::compiler
