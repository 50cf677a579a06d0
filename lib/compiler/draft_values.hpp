// What a draft gives a kernel: values, and images of a format that its body reads.
#pragma once

#include <tidegate/compiler/draft_sizes.hpp>
#include <tidegate/compiler/program.hpp>

#include <cstddef>
#include <cstdint>

namespace tidegate::compiler {

// For a parameter by value: the extent for what counts something, else 1; zeros in structures.
ArgumentSpec draft_value(const DraftKernel& kernel, std::size_t index, std::uint64_t extent);

// For a parameter that takes an image; without contents.
ImageSpec draft_image(const opencl_c::Parameter& parameter, const DraftKernel& kernel, std::uint64_t extent);

} // namespace tidegate::compiler
